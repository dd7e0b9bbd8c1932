mod churn;
mod closing;
mod paragraph;

pub use churn::WarnAbove;
pub use closing::{Closing, NextCommands, closing};
pub use paragraph::{left_behind, paragraph, place, skipped_by_reason};

use crate::model::{Action, LockHolder, Outcome, Target, Timestamp, Verified, age};
use crate::output::columns::{self, Columns, column, names, right};
use crate::output::diagnosis::MOST;
use crate::output::document::{Document, List};
use crate::output::findings::Wording;
use crate::output::format::{Cell, Format, Page, Screen, Times, Tone, count, first_few, grouped};
use crate::output::listing::one_a_line;
use crate::output::{Causes, Diagnosis, Filter, LongList, Row, SkippedJob, StepJob, diagnoses};
use crate::policy::{self, Override, SkipReason};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Ids named in one line.
const SHOWN: usize = 10;

/// `jobdoctor.reclaim/v1`, `jobdoctor.sweep/v1` and `jobdoctor.undo/v1`: the plan, and what became of it.
#[derive(Serialize, JsonSchema)]
pub struct Reclaim {
    /// All but the counts and the lists.
    #[serde(flatten)]
    pub head: ReclaimHead,
    /// The counts.
    pub summary: ReclaimSummary,
    /// What is likely to have happened to the jobs of the steps, most jobs first; none where jobs were named, and for a
    /// restart sweep, whose scope says who is dead.
    pub diagnoses: Vec<Diagnosis>,
    /// What is done, longest silent first; after an apply with what was not moved before the rest.
    #[schemars(with = "Vec<StepJob>")]
    pub steps: LongList<StepJob>,
    /// The first thousand of what was examined and is skipped.
    #[serde(serialize_with = "one_a_line")]
    pub skipped: Vec<SkippedJob>,
    /// How many steps of all passes ended how, for metrics; a wake-up moves no job.
    #[serde(skip)]
    pub by_queue: BTreeMap<(Option<String>, Action, Outcome), u64>,
    /// Jobs of all passes that workers had lost and that were moved.
    #[serde(skip)]
    pub lost: u64,
}

/// The head of a [`Reclaim`].
#[derive(Serialize, JsonSchema)]
pub struct ReclaimHead {
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
    /// True where the database carried the plan out and rolled it back, for `--dry-run=server`: the outcomes and errors
    /// are what it answered, and `moved` means that it would have moved the job.
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
    /// How long before this snapshot another one saw exactly the same steps; null if that was not asked, or nothing was
    /// to be confirmed.
    pub confirmed_after_seconds: Option<f64>,
    /// The file with the journal of this run; null where there is none.
    pub journal: Option<String>,
    /// True if `undo` could revert every job that was moved, or would be, while it is unchanged.
    pub undoable: bool,
    /// Why the plan was not applied although that was asked for.
    pub refused: Option<String>,
    /// What is left to do for jobs whose requeue a unique key refuses; empty where they are failed instead.
    #[serde(skip)]
    pub unique_key: &'static str,
    /// What an operator should know before applying this.
    pub warnings: Vec<String>,
    /// Ids that were named and name no job.
    pub not_found: Vec<String>,
    /// What became of the jobs afterwards; null if that was not asked, or could not be seen.
    pub verified: Option<Verified>,
}

/// The run that a plan reverts. `state` and `attempts` of its jobs are those that this run left them with, and `action`
/// is what it did.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Undoes {
    /// The run.
    pub run_id: String,
    /// Where it is recorded: `journal` or `ledger`.
    pub recorded_in: String,
    /// Jobs that it moved and that no record names, so that they cannot be reverted; null where the record has no end,
    /// so that their number is not known.
    pub unrecorded: Option<u64>,
}

/// What the brake makes of a plan, in a dry run too.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Brake {
    /// True if the plan is not applied because a large share of the queue looks dead.
    pub pulled: bool,
    /// The evidence, as sentences; also if the operator has overridden the brake. Empty without evidence.
    pub why: Vec<String>,
    /// What overrides it, or has done so; null on a standby, and without evidence.
    #[serde(rename = "override")]
    pub overridden_by: Option<String>,
}

impl From<policy::Brake> for Brake {
    fn from(brake: policy::Brake) -> Self {
        let in_words = |by| match by {
            Override::MaxJobs(jobs) => format!("--max-jobs {jobs}"),
            Override::Target => "brake = false".to_owned(),
        };
        Brake { pulled: brake.pulled, why: brake.why, overridden_by: brake.overridden_by.map(in_words) }
    }
}

impl Verified {
    /// The counts in a sentence.
    pub fn sentence(&self) -> String {
        let parts = [
            (self.finished, "finished"),
            (self.picked_up, "picked up"),
            (self.waiting, "still waiting"),
            (self.not_in_flight, "not in flight, waiting or ended"),
            (self.gone, "gone: finished or deleted"),
            (self.failed, "failed"),
            (self.stuck_again, "stuck again"),
        ];
        let parts = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", grouped(*n)));
        let parts = parts.collect::<Vec<_>>().join(", ");
        let waited = age(Duration::try_from_secs_f64(self.waited_seconds).unwrap_or_default());
        format!("of {} requeued, after {waited}: {parts}", grouped(self.watched))
    }

    /// The warning about jobs that are stuck again; `None` if there are none.
    pub fn warning(&self) -> Option<String> {
        let shown = first_few(&self.stuck_again_ids, SHOWN, self.stuck_again);
        (self.stuck_again > 0).then(|| format!("stuck again: {shown}; the workers that claimed them died too"))
    }
}

/// The counts of a [`Reclaim`].
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct ReclaimSummary {
    /// Claims in the whole queue; with --interrupted the jobs that failed since.
    pub in_flight: u64,
    /// Interrupted jobs that failed before `--since`; null where none are asked for, and where jobs were named by id.
    pub older: Option<u64>,
    /// Steps in the plan.
    pub planned: u64,
    /// How many of them are of jobs that wait without an owner.
    pub waiting: u64,
    /// How many of them nothing but age condemns: they may be slow.
    pub by_age: u64,
    /// Jobs skipped.
    pub skipped: u64,
    /// How many of them for which reason.
    pub skipped_by_reason: BTreeMap<SkipReason, u64>,
    /// How many of them are unknown because the zone of their times is, and for nothing else.
    pub unknown_zone: u64,
    /// Jobs that are due and not in `steps`: beyond `--limit`, or beyond the 5,000 of a plan that is saved,
    /// confirmed, refused or tried on the server.
    pub beyond_limit: u64,
    /// How many diagnoses there are; `diagnoses` holds the first thousand.
    pub diagnoses: u64,
    /// The steps by action, the most frequent first.
    pub by_action: Vec<ActionCount>,
    /// How the steps ended; null if the plan was only printed. All seven, and they add up to the steps.
    pub outcomes: Option<Outcomes>,
    /// Who holds the rows that were locked, of the first ten; empty where the database does not tell.
    pub locked_by: Vec<LockHolder>,
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
    pub fn total(&self) -> u64 {
        self.moved + self.changed + self.gone + self.locked + self.refused + self.not_tried + self.unknown
    }

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
    fn head_and_summary(&self) -> (impl Serialize, impl Serialize) {
        (&self.head, &self.summary)
    }

    fn lists(&self, _: Format, times: Times) -> Vec<List<'_>> {
        let heading = if self.head.undoes.is_some() { "Not reverted:\n" } else { "Skipped:\n" };
        vec![
            List::of("diagnosis", &self.diagnoses, Columns::new()),
            List::of("step", &self.steps.items, steps(self.shown(times))).and(self.steps.rest.iter()),
            List::of("skipped", &self.skipped, skipped(self.head.store_time, times)).under(heading),
        ]
    }

    fn by_cause(&self, screen: &Screen) -> Option<Page> {
        let is_whole = self.head.filter.limit.is_none() && !self.diagnoses.is_empty();
        (screen.by_cause && is_whole).then(|| match self.summary.outcomes {
            Some(_) => self.result(screen),
            None => self.plan(screen),
        })
    }

    fn rows(&self, _: Format) -> usize {
        usize::MAX
    }

    fn above(&self, screen: &Screen) -> String {
        if self.head.applied { String::new() } else { diagnoses(&self.diagnoses, self.summary.diagnoses, screen) }
    }
}

impl Reclaim {
    /// The causes with what is to be done about their jobs.
    fn plan(&self, screen: &Screen) -> Page {
        let now = self.head.store_time;
        let step = |step: &'_ StepJob| match &step.error {
            Some(error) => Cell::new(error.message.as_str(), Tone::Bad),
            None => columns::reasons(&step.job, now, screen.times),
        };
        let steps = self.steps.items.iter().map(|one| Row { job: &one.job, why: step(one), mark: "" });
        let wording = Wording { times: Some((now, screen.times)), is_short: true, silence: None };
        let skipped = self.skipped.iter().map(|SkippedJob { job, skipped }| {
            let why = wording.skipped(skipped.reason, &skipped.findings);
            Row { job, why: why.into(), mark: "" }
        });
        let rows = steps.chain(skipped).collect();
        let mut page = Page::default();
        Causes { list: &self.diagnoses, count: self.summary.diagnoses, rows, alone: 0 }.fill(&mut page, screen);
        page
    }

    /// What was not moved, then how much was done about each cause.
    fn result(&self, screen: &Screen) -> Page {
        let is_left = |step: &&StepJob| step.outcome != Some(Outcome::Moved);
        let mut page = Page::default();
        let left = steps(self.shown(screen.times)).table(self.steps.items.iter().filter(is_left));
        if !left.rows.is_empty() {
            page.table("Not moved:\n", &left, screen);
            page.push("\n");
        }
        let done: Vec<Cell> = self.diagnoses.iter().filter_map(|cause| cause.done(!self.head.rolled_back)).collect();
        done.iter().take(MOST).for_each(|cell| page.push(&screen.paragraph(cell)));
        let more = done.len().saturating_sub(MOST) as u64;
        if more > 0 {
            page.push(&screen.paragraph(&format!("and {}", count(more, "more cause", "more causes")).into()));
        }
        page
    }

    fn shown(&self, times: Times) -> Shown {
        let (is_undo, ended) = (self.head.undoes.is_some(), self.summary.outcomes.is_some());
        Shown { is_undo, ended, rolled_back: self.head.rolled_back, now: self.head.store_time, times }
    }

    /// Steps that are planned and not in the list, which is for people or was not executed.
    fn unlisted(&self) -> u64 {
        self.summary.planned.saturating_sub(self.steps.count() as u64)
    }

    /// Jobs that are left to another run.
    fn beyond(&self) -> u64 {
        self.summary.beyond_limit.saturating_sub(self.unlisted())
    }

    /// True if `--limit` leaves jobs to another run.
    fn is_limited(&self) -> bool {
        self.head.filter.limit.is_some_and(|limit| limit <= self.summary.planned)
    }

    /// The titles of its table, of a plan or of what became of it.
    pub fn titles(ended: bool, is_undo: bool, times: Times) -> Vec<&'static str> {
        steps(Shown { is_undo, ended, rolled_back: false, now: Timestamp::EPOCH, times }).titles()
    }
}

/// What the table of the steps depends on.
#[derive(Clone, Copy)]
struct Shown {
    /// An undo judges no silence: its rows are what the run left.
    is_undo: bool,
    ended: bool,
    rolled_back: bool,
    now: Timestamp,
    times: Times,
}

fn steps<'a>(shown: Shown) -> Columns<'a, StepJob> {
    let Shown { is_undo, ended, rolled_back, now, times } = shown;
    let outcome = move |step: &StepJob| match step.outcome {
        Some(Outcome::Moved) if rolled_back => Cell::new("accepted", Tone::Plain),
        ended => columns::outcome(ended),
    };
    let why = move |step: &StepJob| match &step.error {
        Some(error) => Cell::new(error.message.as_str(), Tone::Bad),
        None if is_undo => "unchanged since that run".into(),
        None => columns::reasons(&step.job, now, times),
    };
    let state_after = if is_undo { column("back to", 1, None) } else { column("becomes", 4, None) };
    Columns::<StepJob>::new()
        .add(column("id", 0, None), "id", |step| step.job.id.as_str().into())
        .add(names("queue", 6, 8), "queue", |step| columns::text(step.job.queue.as_deref()))
        .add(names("kind", 3, 12), "kind state", |step| columns::text(step.job.kind.as_deref()))
        .add(names("owner", 0, 10), "owner host claimed_at", |step| columns::text(step.job.owner.as_deref()))
        .add_if(!is_undo, columns::silent(times, 2), "last_seen_at silence_seconds lease_expires_at", move |step| {
            columns::job_silence(&step.job, times)
        })
        .only_csv("attempts max_attempts verdict liveness rule=/reasons/0/rule detail=/reasons/0/detail")
        .add_if(!is_undo, column("action", 0, None), "action stalls", |step| columns::action(step.job.action))
        .add_if(is_undo, column("was moved by", 4, None), "", |step| columns::text(step.job.action.map(Action::name)))
        .add(state_after, "state_after", |step| step.state_after.as_str().into())
        .add(right("tries after", 4), "attempts_after", |step| {
            columns::attempts(step.attempts_after, step.job.max_attempts).into()
        })
        .add_if(ended, column("outcome", 0, None), "outcome", outcome)
        .add(column("why", 1, Some(12)), "error=/error/message", why)
}

fn skipped<'a>(now: Timestamp, times: Times) -> Columns<'a, SkippedJob> {
    let wording = Wording { times: Some((now, times)), is_short: true, silence: None };
    Columns::<SkippedJob>::new()
        .add(column("id", 0, None), "id", |skipped| skipped.job.id.as_str().into())
        .add(names("kind", 4, 12), "kind", |skipped| columns::text(skipped.job.kind.as_deref()))
        .add(names("owner", 0, 10), "owner", |skipped| columns::text(skipped.job.owner.as_deref()))
        .add(column("state", 3, Some(7)), "state", |skipped| skipped.job.state.as_str().into())
        .add(column("reason", 1, None), "reason", |skipped| skipped.skipped.reason.to_string().into())
        .add(column("why", 0, Some(20)), "detail", move |SkippedJob { skipped, .. }| {
            wording.skipped(skipped.reason, &skipped.findings).into()
        })
}
