use super::document::{Document, ROWS, csv_of, head, line, list};
use super::format::{Cell, Column, Format, Page, Screen, Table, Tone, count, grouped};
use super::reclaim::{lost_commit, not_moved};
use super::recorded::{RecordedJob, RowNow, outcome};
use super::{Message, Outcomes, Spool, StepDocument, Target, columns};
use crate::model::{Action, Outcome, RecordedStep, RowError, StepResult, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};

/// `jobdoctor.undo/v1`: the plan that reverts a run, and what became of it.
#[derive(Serialize, JsonSchema)]
pub struct Undo {
    /// `jobdoctor.undo/v1`.
    pub schema: &'static str,
    /// The store's own time of this snapshot.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// Which queue.
    pub target: Target,
    /// The run that is reverted.
    pub undoes: String,
    /// Where that run is recorded: `journal` or `ledger`.
    pub recorded_in: String,
    /// False for a dry run, and for one that was refused.
    pub applied: bool,
    /// This run, which can be reverted in turn; null where it reverted nothing, as in a dry run.
    pub run_id: Option<String>,
    /// The file with the journal of this run; null where there is none.
    pub journal: Option<String>,
    /// True if `undo` could revert this run in turn.
    pub undoable: bool,
    /// The counts.
    pub summary: UndoSummary,
    /// Why it was not applied although that was asked for, or could not be.
    pub refused: Option<String>,
    /// What an operator should know.
    pub warnings: Vec<String>,
    /// The jobs that the run moved and that are recorded.
    pub steps: Spool<UndoStep>,
    /// The jobs that the run moved and that cannot be reverted, whatever they are now.
    pub left: Spool<UndoLeft>,
}

/// The counts of an [`Undo`].
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct UndoSummary {
    /// Steps.
    pub planned: u64,
    /// Of them: as the run left them at the time of the snapshot.
    pub untouched: u64,
    /// Of them: changed since.
    pub changed: u64,
    /// Of them: no longer there.
    pub gone: u64,
    /// Jobs in `left`, which cannot be reverted.
    pub left: u64,
    /// Jobs that the run moved and that no record names, so that they cannot be reverted either; null where the record has no
    /// end, so that their number is not known.
    pub unrecorded: Option<u64>,
    /// How the steps ended; null in a dry run. All seven, and they add up to the steps.
    pub outcomes: Option<Outcomes>,
}

/// A job that is to be reverted, or was. `state` and `attempts` are those that the run left it with.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct UndoStep {
    /// The job, and what is done to it.
    #[serde(flatten)]
    pub job: RecordedJob,
    /// What its row was at the snapshot; `as_before` is what it was before the run, so there is nothing to revert.
    pub seen: RowNow,
    /// The state it was in at the snapshot; null where the state is no column.
    pub state_seen: Option<String>,
    /// How it ended; null in a dry run.
    pub outcome: Option<Outcome>,
    /// Why the database refused it.
    pub error: Option<RowError>,
}

/// A job that cannot be reverted.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct UndoLeft {
    /// The job.
    pub id: String,
    /// The parts of its key as they are; null where only its id is recorded.
    pub key: Option<Vec<String>>,
    /// The action that stays; null where it is not recorded.
    pub action: Option<Action>,
    /// The state that the run left it in; null where it is not recorded.
    pub state: Option<String>,
    /// Why.
    pub detail: String,
}

impl UndoStep {
    /// The columns of `csv` that come after those of the job.
    const FURTHER_COLUMNS: &'static str = "seen state_seen outcome error=/error/message";

    fn why(&self) -> String {
        match (self.seen, &self.state_seen) {
            (RowNow::Untouched, _) => "unchanged since that run".to_owned(),
            (RowNow::AsBefore, _) => "already what it was before that run".to_owned(),
            (RowNow::Gone, _) => "its row no longer exists".to_owned(),
            (RowNow::Changed, Some(state)) if self.job.state.as_ref() != Some(state) => {
                format!("changed since that run: it is {state} now")
            }
            (RowNow::Changed, _) => "changed since that run".to_owned(),
        }
    }
}

impl StepDocument for UndoStep {
    fn set_end(&mut self, _: &RecordedStep, result: StepResult) {
        (self.outcome, self.error) = (Some(result.outcome), result.error);
    }
}

impl Document for Undo {
    fn table(&self, screen: &Screen, format: Format) -> io::Result<Page> {
        let rows = if format == Format::Wide { usize::MAX } else { ROWS };
        let mut page = Page::default();
        if !self.steps.is_empty() {
            page.table("", &steps(&self.steps, rows, self.applied)?, screen);
        }
        if !self.left.is_empty() {
            page.table("Cannot be reverted:\n", &left(&self.left, rows)?, screen);
        }
        Ok(page)
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = [RecordedJob::COLUMNS, UndoStep::FURTHER_COLUMNS].join(" ");
        csv_of(&columns, self.steps.json(), out)
    }

    fn names(&self, out: &mut dyn Write) -> io::Result<()> {
        self.steps.iter().try_for_each(|step| writeln!(out, "{}", step?.job.id))
    }

    fn lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let more = [
            ("undoes", self.undoes.clone().into()),
            ("recorded_in", self.recorded_in.clone().into()),
            ("applied", self.applied.into()),
            ("run_id", serde_json::to_value(&self.run_id)?),
            ("journal", serde_json::to_value(&self.journal)?),
            ("undoable", self.undoable.into()),
            ("refused", serde_json::to_value(&self.refused)?),
            ("warnings", serde_json::to_value(&self.warnings)?),
        ];
        head(out, self.schema, self.store_time, &self.target, &more)?;
        list(out, "step", &self.steps)?;
        list(out, "left", &self.left)?;
        line(out, "summary", &self.summary)
    }
}

impl Undo {
    /// The titles of its table, of a plan or of what became of it.
    pub fn titles(applied: bool) -> Vec<&'static str> {
        columns(applied).into_iter().map(|column| column.title).collect()
    }
}

fn columns(applied: bool) -> Vec<Column> {
    let mut columns = vec![
        columns::column("id", 0, None),
        columns::names("queue", 6, 8),
        columns::names("kind", 5, 16),
        columns::names("owner", 2, 10),
        columns::column("was moved by", 4, None),
        columns::column("back to", 1, None),
        columns::right("tries", 4),
        columns::column("now", 0, None),
    ];
    if applied {
        columns.push(columns::column("outcome", 0, None));
    }
    columns.push(columns::column("why", 1, Some(12)));
    columns
}

fn steps(list: &Spool<UndoStep>, rows: usize, applied: bool) -> io::Result<Table> {
    let mut table = Table { columns: columns(applied), rows: Vec::new() };
    for step in list.iter().take(rows) {
        let step = step?;
        let mut row = step.job.cells();
        row.push(columns::text(step.job.state_after.as_deref()));
        row.push(columns::attempts(step.job.attempts_after, None).into());
        let seen = if step.seen == RowNow::Untouched { Tone::Plain } else { Tone::Warn };
        row.push(Cell::new(step.seen.name().replace('_', " "), seen));
        if applied {
            row.push(outcome(step.outcome, Tone::Warn));
        }
        row.push(match &step.error {
            Some(error) => Cell::new(error.message.as_str(), Tone::Bad),
            None => step.why().into(),
        });
        table.rows.push(row);
    }
    Ok(table)
}

fn left(list: &Spool<UndoLeft>, rows: usize) -> io::Result<Table> {
    let columns = vec![
        columns::column("id", 0, None),
        columns::column("action", 1, None),
        columns::column("state", 2, Some(7)),
        columns::column("why", 0, Some(20)),
    ];
    let mut table = Table { columns, rows: Vec::new() };
    for left in list.iter().take(rows) {
        let left = left?;
        table.rows.push(vec![
            left.id.as_str().into(),
            columns::text(left.action.map(Action::name)),
            columns::text(left.state.as_deref()),
            left.detail.into(),
        ]);
    }
    Ok(table)
}

/// The sentences that follow the plan of an undo, or what became of it. `after` is what went wrong after a commit, `next` the
/// command line that applies the plan.
pub fn undo_closing(
    document: &Undo,
    is_machine: bool,
    after: &[String],
    stop: Option<String>,
    next: &dyn Fn() -> String,
) -> Vec<Message> {
    let summary = &document.summary;
    let mut messages: Vec<Message> = document.warnings.iter().chain(after).cloned().map(Message::Warn).collect();
    if summary.left > 0 && summary.planned > 0 {
        let jobs = count(summary.left, "job", "jobs");
        messages.push(Message::Warn(format!("{jobs} of that run cannot be reverted at all")));
    }
    let refused = document.refused.iter().map(|why| format!("refused: {why}; nothing was written"));
    messages.extend(refused.chain(stop.map(|stop| format!("stopped early: {stop}"))).map(Message::Warn));
    match &summary.outcomes {
        Some(outcomes) => {
            let others = not_moved(outcomes, "since").into_iter();
            let others: String = others.map(|(what, n)| format!(", {} {what}", grouped(n))).collect();
            messages.push(Message::Note(format!("reverted {}{others}", count(outcomes.moved, "job", "jobs"))));
            messages.extend(lost_commit(outcomes).map(Message::Warn));
        }
        None if document.refused.is_none() && !is_machine => {
            messages.push(Message::Note(format!(
                "{} to revert, {} changed since, {} gone; nothing was written",
                count(summary.untouched, "job", "jobs"),
                grouped(summary.changed),
                grouped(summary.gone)
            )));
            if summary.untouched > 0 {
                messages.push(Message::Hint(format!("to do it: {}", next())));
            }
        }
        None => {}
    }
    messages
}
