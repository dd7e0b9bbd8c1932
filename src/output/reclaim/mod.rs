mod churn;
mod closing;
mod paragraph;

pub use churn::WarnAbove;
pub use closing::{Closing, NextCommands, closing};
pub use paragraph::{left_behind, paragraph, place, skipped_by_reason};

use crate::model::{Action, Outcome, Target, Timestamp};
use crate::output::document::{Document, ROWS, csv_of, head, line, list};
use crate::output::format::{Cell, Column, Format, Page, Screen, Table, Times, Tone};
use crate::output::instant::in_text;
use crate::output::{Brake, Diagnosis, Filter, Job, SkippedJob, Spool, StepJob, Verified, columns, diagnoses};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// `jobdoctor.reclaim/v1`, `jobdoctor.sweep/v1` and `jobdoctor.undo/v1`: the plan, and what became of it.
#[derive(Serialize, JsonSchema)]
pub struct Reclaim {
    /// `jobdoctor.reclaim/v1`, `jobdoctor.sweep/v1` or `jobdoctor.undo/v1`.
    pub schema: &'static str,
    /// The store's own time of the snapshot that the plan rests on.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// Which queue.
    pub target: Target,
    /// What was asked for.
    pub filter: Filter,
    /// False for a dry run, and for a plan that was refused.
    pub applied: bool,
    /// True where the database carried the plan out and rolled it back, for `--dry-run=server`: the outcomes and errors are what
    /// it answered, and `moved` means that it would have moved the job.
    pub rolled_back: bool,
    /// The run, for the reason that is written with each job; null where none was moved, as in a dry run.
    pub run_id: Option<String>,
    /// The run that is reverted; null but for `undo`.
    pub undoes: Option<Undoes>,
    /// The fingerprint of the plan.
    pub digest: String,
    /// What the brake makes of the plan.
    pub brake: Brake,
    /// How much later than the apply jobs that go back may run; null is at once.
    pub delay_seconds: Option<f64>,
    /// The window over which they are spread after that; null is none.
    pub jitter_seconds: Option<f64>,
    /// How long before this snapshot another one saw exactly the same steps; null if that was not asked, or nothing was to be
    /// confirmed.
    pub confirmed_after_seconds: Option<f64>,
    /// The file with the journal of this run; null where there is none.
    pub journal: Option<String>,
    /// True if `undo` could revert every job that was moved, or would be, while it is unchanged.
    pub undoable: bool,
    /// The counts.
    pub summary: ReclaimSummary,
    /// Why the plan was not applied although that was asked for.
    pub refused: Option<String>,
    /// What is left to do for jobs whose requeue a unique key refuses; empty where they are failed instead.
    #[serde(skip)]
    pub unique_key: &'static str,
    /// What an operator should know before applying this.
    pub warnings: Vec<String>,
    /// What is likely to have happened to the jobs of the steps, most jobs first; none where jobs were named, and for a restart
    /// sweep, which is told who is dead.
    pub diagnoses: Vec<Diagnosis>,
    /// What is done, longest silent first.
    pub steps: Spool<StepJob>,
    /// What was examined and is skipped.
    pub skipped: Spool<SkippedJob>,
    /// Ids that were named and name no job.
    pub not_found: Vec<String>,
    /// What became of the jobs afterwards; null if that was not asked, or could not be seen.
    pub verified: Option<Verified>,
}

/// The run that a plan reverts. `state` and `attempts` of its jobs are those that this run left them with, and `action` is what it did.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Undoes {
    /// The run.
    pub run_id: String,
    /// Where it is recorded: `journal` or `ledger`.
    pub recorded_in: String,
    /// Jobs that it moved and that no record names, so that they cannot be reverted; null where the record has no end, so that their
    /// number is not known.
    pub unrecorded: Option<u64>,
}

/// The counts of a [`Reclaim`].
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct ReclaimSummary {
    /// Claims in the whole queue.
    pub in_flight: u64,
    /// Steps in the plan.
    pub planned: u64,
    /// How many of them are of jobs that wait without an owner.
    pub waiting: u64,
    /// Jobs skipped.
    pub skipped: u64,
    /// Stuck jobs beyond `--limit`.
    pub beyond_limit: u64,
    /// How many diagnoses there are; `diagnoses` holds the first thousand.
    pub diagnoses: u64,
    /// The steps by action, the most frequent first.
    pub by_action: Vec<ActionCount>,
    /// How the steps ended; null if the plan was only printed. All seven, and they add up to the steps.
    pub outcomes: Option<Outcomes>,
}

/// How many steps have an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ActionCount {
    /// The action.
    pub action: Action,
    /// Steps in the plan.
    pub planned: u64,
    /// Jobs that were moved; null if the plan was only printed.
    pub moved: Option<u64>,
}

/// How many steps ended how.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Outcomes {
    /// The database committed it.
    pub moved: u64,
    /// The row was no longer what had been judged.
    pub changed: u64,
    /// The row was no longer there.
    pub gone: u64,
    /// Another session held it.
    pub locked: u64,
    /// The database refused it.
    pub refused: u64,
    /// It was not reached.
    pub not_tried: u64,
    /// The answer to the commit was lost.
    pub unknown: u64,
}

impl Outcomes {
    /// All steps.
    pub fn total(&self) -> u64 {
        self.moved + self.changed + self.gone + self.locked + self.refused + self.not_tried + self.unknown
    }

    /// The counts.
    pub fn of(counts: &BTreeMap<Outcome, u64>) -> Outcomes {
        let count = |outcome| counts.get(&outcome).copied().unwrap_or(0);
        Outcomes {
            moved: count(Outcome::Moved),
            changed: count(Outcome::Changed),
            gone: count(Outcome::Gone),
            locked: count(Outcome::Locked),
            refused: count(Outcome::Refused),
            not_tried: count(Outcome::NotTried),
            unknown: count(Outcome::Unknown),
        }
    }
}

impl Document for Reclaim {
    fn table(&self, screen: &Screen, format: Format) -> io::Result<Page> {
        let rows = if format == Format::Wide { usize::MAX } else { ROWS };
        let mut page = Page::default();
        if !self.applied {
            page.push(&diagnoses(&self.diagnoses, self.summary.diagnoses, screen));
        }
        if !self.steps.is_empty() {
            page.table("", &steps(self, rows, screen.times)?, screen);
        }
        if !self.skipped.is_empty() {
            page.table(
                if self.undoes.is_some() { "Not reverted:\n" } else { "Skipped:\n" },
                &skipped(self, rows, screen.times)?,
                screen,
            );
        }
        Ok(page)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = [Job::COLUMNS, StepJob::FURTHER_COLUMNS].join(" ");
        csv_of(&columns, self.steps.json(), out)
    }

    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        self.steps.iter().try_for_each(|step| writeln!(out, "{}", step?.job.id))
    }

    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let more = [
            ("filter", serde_json::to_value(&self.filter)?),
            ("applied", self.applied.into()),
            ("rolled_back", self.rolled_back.into()),
            ("run_id", serde_json::to_value(&self.run_id)?),
            ("undoes", serde_json::to_value(&self.undoes)?),
            ("digest", self.digest.clone().into()),
            ("brake", serde_json::to_value(&self.brake)?),
            ("delay_seconds", serde_json::to_value(self.delay_seconds)?),
            ("jitter_seconds", serde_json::to_value(self.jitter_seconds)?),
            ("confirmed_after_seconds", self.confirmed_after_seconds.into()),
            ("journal", serde_json::to_value(&self.journal)?),
            ("undoable", self.undoable.into()),
            ("refused", serde_json::to_value(&self.refused)?),
            ("warnings", serde_json::to_value(&self.warnings)?),
            ("not_found", serde_json::to_value(&self.not_found)?),
            ("verified", serde_json::to_value(&self.verified)?),
        ];
        head(out, self.schema, self.store_time, &self.target, &more)?;
        self.diagnoses.iter().try_for_each(|diagnosis| line(out, "diagnosis", diagnosis))?;
        list(out, "step", &self.steps)?;
        list(out, "skipped", &self.skipped)?;
        line(out, "summary", &self.summary)
    }
}

impl Reclaim {
    /// The titles of its table, of a plan or of what became of it.
    pub fn titles(have_ended: bool, times: Times) -> Vec<&'static str> {
        columns(have_ended, times).into_iter().map(|column| column.title).collect()
    }

    /// The titles of the table of an undo.
    pub fn undo_titles(have_ended: bool) -> Vec<&'static str> {
        undo_columns(have_ended).into_iter().map(|column| column.title).collect()
    }
}

fn columns(have_ended: bool, times: Times) -> Vec<Column> {
    let mut columns = vec![
        columns::column("id", 0, None),
        columns::names("queue", 6, 8),
        columns::names("kind", 3, 12),
        columns::names("owner", 0, 10),
        columns::silent(times, 2),
        columns::column("action", 0, None),
        columns::column("becomes", 4, None),
        columns::right("tries", 4),
    ];
    if have_ended {
        columns.push(columns::column("outcome", 0, None));
    }
    columns.push(columns::column("why", 1, Some(12)));
    columns
}

/// An undo judges no silence: its rows are what the run left.
fn undo_columns(have_ended: bool) -> Vec<Column> {
    let mut columns = vec![
        columns::column("id", 0, None),
        columns::names("queue", 6, 8),
        columns::names("kind", 5, 16),
        columns::names("owner", 2, 10),
        columns::column("was moved by", 4, None),
        columns::column("back to", 1, None),
        columns::right("tries", 4),
    ];
    if have_ended {
        columns.push(columns::column("outcome", 0, None));
    }
    columns.push(columns::column("why", 1, Some(12)));
    columns
}

fn steps(document: &Reclaim, rows: usize, times: Times) -> io::Result<Table> {
    let (have_ended, is_undo) = (document.summary.outcomes.is_some(), document.undoes.is_some());
    let columns = if is_undo { undo_columns(have_ended) } else { columns(have_ended, times) };
    let mut table = Table { columns, rows: Vec::new() };
    for step in document.steps.iter().take(rows) {
        let step = step?;
        let job = &step.job;
        let mut row = vec![
            job.id.as_str().into(),
            columns::text(job.queue.as_deref()),
            columns::text(job.kind.as_deref()),
            columns::text(job.owner.as_deref()),
        ];
        if is_undo {
            row.push(columns::text(job.action.map(Action::name)));
        } else {
            row.extend([columns::job_silence(job, times), columns::action(job.action)]);
        }
        row.push(step.state_after.as_str().into());
        row.push(columns::attempts(step.attempts_after, job.max_attempts).into());
        if have_ended {
            row.push(match step.outcome {
                Some(Outcome::Moved) if document.rolled_back => Cell::new("accepted", Tone::Plain),
                ended => columns::outcome(ended),
            });
        }
        row.push(match &step.error {
            Some(error) => Cell::new(error.message.as_str(), Tone::Bad),
            None if is_undo => "unchanged since that run".into(),
            None => columns::reasons(job, document.store_time, times),
        });
        table.rows.push(row);
    }
    columns::shade(&mut table);
    Ok(table)
}

fn skipped(document: &Reclaim, rows: usize, times: Times) -> io::Result<Table> {
    let columns = vec![
        columns::column("id", 0, None),
        columns::names("kind", 4, 12),
        columns::names("owner", 0, 10),
        columns::column("state", 3, Some(7)),
        columns::column("reason", 1, None),
        columns::column("why", 0, Some(20)),
    ];
    let mut table = Table { columns, rows: Vec::new() };
    for skipped in document.skipped.iter().take(rows) {
        let SkippedJob { job, skipped } = skipped?;
        table.rows.push(vec![
            job.id.as_str().into(),
            columns::text(job.kind.as_deref()),
            columns::text(job.owner.as_deref()),
            job.state.as_str().into(),
            skipped.reason.name().into(),
            in_text(columns::without_instant(&skipped.detail), document.store_time, times).into(),
        ]);
    }
    Ok(table)
}
