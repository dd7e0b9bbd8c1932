use super::columns::{self, Columns, column, names, right};
use super::document::{Document, List};
use super::format::{Cell, Facts, Format, Screen, Times, Tone, count, grouped};
use super::{Diagnosis, HistoryRun, StaleSummary, Target, Waiting, diagnosis};
use crate::model::{Timestamp, age};
use crate::policy::DiagnosisKind;
use schemars::JsonSchema;
use serde::Serialize;

/// Causes in a table, so that the whole fits on a screen of 24 lines.
const CAUSES: usize = 10;

/// `jobdoctor.status/v1`: the situation of a queue.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Status {
    /// All but the counts and the causes.
    #[serde(flatten)]
    pub head: StatusHead,
    /// The counts.
    pub summary: StatusSummary,
    /// What is likely to have happened: first to due jobs, then to claims, most jobs first.
    pub causes: Vec<Diagnosis>,
}

/// The head of a [`Status`].
#[derive(Debug, Serialize, JsonSchema)]
pub struct StatusHead {
    /// `jobdoctor.status/v1`.
    pub schema: &'static str,
    /// The store's own time of this snapshot.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// Which queue.
    pub target: Target,
    /// What could not be read, or says less than it seems to.
    pub warnings: Vec<String>,
}

/// The counts of a [`Status`].
#[derive(Debug, Serialize, JsonSchema)]
pub struct StatusSummary {
    /// Both sides of the queue.
    #[serde(flatten)]
    pub counts: StaleSummary,
    /// Jobs that their library failed in the last 24 hours because their worker died; null where the queue does not tell.
    pub interrupted: Option<u64>,
    /// True if the interrupted jobs could not be read.
    #[serde(skip)]
    pub interrupted_unread: bool,
    /// Jobs that ended well in the last five minutes; null where no index leads to them.
    pub done_5m: Option<u64>,
    /// True if there are more.
    pub done_5m_is_more: bool,
    /// The newest recorded run on this database.
    pub last_run: Option<HistoryRun>,
    /// The command to type next; null if there is nothing to do.
    pub next: Option<String>,
}

impl Document for Status {
    fn head_and_summary(&self) -> (impl Serialize, impl Serialize) {
        (&self.head, &self.summary)
    }

    fn lists(&self, format: Format, times: Times) -> Vec<List<'_>> {
        let columns = match format {
            // A cause has no name but its kind.
            Format::Name => Columns::new().add(column("cause", 0, None), "diagnosis", Diagnosis::headline),
            _ => causes(self.head.store_time, times),
        };
        vec![List::of("cause", &self.causes, columns)]
    }

    fn above(&self, screen: &Screen) -> String {
        let mut facts = Facts::new();
        let Target { engine, database, table, preset, name, .. } = &self.head.target;
        let name = name.as_ref().map_or_else(String::new, |name| format!("{name}: "));
        let queue = format!("{name}{engine} {database}, table {table}, preset {preset}");
        facts.add("queue", Cell::new(queue, Tone::Strong));
        facts.add("in flight", self.in_flight());
        facts.add("due", self.due());
        facts.add("owners", self.owners());
        facts.add("last run", self.last_run());
        facts.render(screen)
    }

    fn below(&self, screen: &Screen) -> String {
        let more = self.summary.counts.diagnoses.saturating_sub(self.causes.len().min(CAUSES) as u64);
        let more =
            (more > 0).then(|| Cell::new(format!("and {}", count(more, "more cause", "more causes")), Tone::Dim));
        let more = more.map(|more| screen.paragraph(&more)).unwrap_or_default();
        more + &diagnosis::alone(self.summary.counts.alone, screen)
    }

    fn rows(&self, _: Format) -> usize {
        CAUSES
    }
}

impl Status {
    pub fn titles() -> Vec<&'static str> {
        causes(Timestamp::EPOCH, Times::default()).titles()
    }

    /// True if anything was found that an operator should look at; what could not be read counts.
    pub fn has_cause(&self) -> bool {
        let counts = &self.summary.counts;
        let is_in_doubt = self.is_waiting_in_doubt() || self.summary.interrupted_unread;
        !self.causes.is_empty() || counts.stuck + counts.unknown > 0 || is_in_doubt
    }

    fn is_waiting_in_doubt(&self) -> bool {
        self.summary.counts.waiting.as_ref().is_some_and(Waiting::is_in_doubt)
    }

    fn in_flight(&self) -> Cell {
        let counts = &self.summary.counts;
        let tone = if counts.stuck > 0 { Tone::Bad } else { Tone::Plain };
        let (stuck, unknown) = (grouped(counts.stuck), grouped(counts.unknown));
        Cell::new(format!("{}: {stuck} stuck, {unknown} unknown", count(counts.in_flight, "job", "jobs")), tone)
    }

    fn due(&self) -> Cell {
        let Some(waiting) = &self.summary.counts.waiting else { return columns::text(None) };
        let tone = if self.is_waiting_in_doubt() { Tone::Bad } else { Tone::Plain };
        if waiting.due.is_none() {
            return Cell::new(format!("UNKNOWN: {}", waiting.why_unknown()), tone);
        }
        let more = if self.summary.done_5m_is_more { "+" } else { "" };
        let done = self.summary.done_5m.map(|done| format!("; {}{more} done in 5m", grouped(done)));
        Cell::new(format!("{}{}", waiting.sentence(), done.unwrap_or_default()), tone)
    }

    fn owners(&self) -> Cell {
        let counts = &self.summary.counts;
        let owners = counts.owners.map(|owners| {
            let holds = if owners == 1 { "holds" } else { "hold" };
            format!("{} {holds} claims, {} without a sign of life", grouped(owners), grouped(counts.silent_owners))
        });
        let workers = counts.waiting.as_ref().and_then(|waiting| waiting.workers);
        let workers = workers.map(|workers| count(workers, "living worker", "living workers"));
        let all: Vec<String> = owners.into_iter().chain(workers).collect();
        if all.is_empty() { columns::text(None) } else { all.join("; ").into() }
    }

    fn last_run(&self) -> Cell {
        let Some(run) = &self.summary.last_run else { return "none recorded".into() };
        let who = run.head.actor.user.as_ref().map_or_else(String::new, |user| format!(" by {user}"));
        let moved = run.moved.map_or_else(|| format!("at least {}", run.moved_at_least), grouped);
        let ago = age(self.head.store_time.since(run.head.store_time));
        format!("{} {ago} ago: {}{who}, {moved} moved", run.head.run_id, run.head.command).into()
    }
}

fn causes<'a>(now: Timestamp, times: Times) -> Columns<'a, Diagnosis> {
    Columns::<Diagnosis>::new()
        .add(right("jobs", 0), "jobs", |cause| grouped(cause.of.jobs).into())
        .add(column("since", 1, None), "since_at", move |cause| {
            let times = if times == Times::default() { Times::Relative } else { times };
            columns::time(cause.of.since, now, times)
        })
        .add(names("cause", 0, 30), "diagnosis text", |cause| cause.headline())
        .add(column("a reclaim would", 0, Some(12)), "", |cause| match &cause.of.would {
            None => columns::text(None),
            Some(would) => {
                let with = if cause.of.what == DiagnosisKind::Interrupted { " --interrupted" } else { "" };
                (diagnosis::in_words(would, false, "skip") + with).into()
            }
        })
}
