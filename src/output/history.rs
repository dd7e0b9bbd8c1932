use super::columns::{self, Columns, column, names, right};
use super::document::{Document, List, Shape};
use super::format::{Cell, Facts, Format, Screen, Times, Tone, grouped};
use super::listing::LISTED;
use super::{ActionCount, Collector, Listing, Outcomes, Target};
use crate::model::{End, Outcome, RunHead, Step, Timestamp, Verified, overridden};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// `jobdoctor.history/v1`: the runs that are recorded, newest first.
#[derive(Serialize, JsonSchema)]
pub struct History {
    /// All but the counts and the runs.
    #[serde(flatten)]
    pub head: HistoryHead,
    /// The counts.
    pub summary: HistorySummary,
    /// The runs.
    pub runs: Vec<HistoryRun>,
    /// When the record was read; people see how long ago a run was.
    #[serde(skip)]
    pub read_at: Option<Timestamp>,
}

/// The head of a [`History`].
#[derive(Serialize, JsonSchema)]
pub struct HistoryHead {
    /// `jobdoctor.history/v1`.
    pub schema: &'static str,
    /// The directory with the journals of this host; null where no environment variable says where.
    pub journal: Option<String>,
    /// The ledger that was read too; null where no database was at hand, or it has none.
    pub ledger: Option<String>,
    /// Journals that could not be read, whose runs are not in the list.
    pub warnings: Vec<String>,
}

/// The counts of a [`History`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HistorySummary {
    /// Runs that are recorded, of the databases that were asked for.
    pub runs: u64,
    /// Runs in `runs`.
    pub returned: u64,
    /// True if the limit left some out.
    pub truncated: bool,
    /// Runs on other databases, which are left out where one database was asked for.
    pub other_databases: u64,
}

/// One run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HistoryRun {
    /// Which run, and what its record says of it.
    #[serde(flatten)]
    pub head: RunHead,
    /// Jobs that it moved; null where that is not known, because its journal has no end and no ledger has the run.
    pub moved: Option<u64>,
    /// Jobs that are recorded as moved.
    pub moved_at_least: u64,
    /// How all its steps ended; null where the journal has no end, or only the ledger knows the run.
    pub outcomes: Option<Outcomes>,
    /// Jobs whose rows are recorded, so that `undo` could revert them while they are unchanged.
    pub undoable: u64,
    /// Jobs that it moved and that no record names, so that `undo` cannot revert them; null where their number is not
    /// known.
    pub unrecorded: Option<u64>,
    /// The runs that reverted this one.
    pub undone_by: Vec<String>,
    /// False if its journal has no end: it was stopped, could not write the journal, or is still at work. Null where
    /// only the ledger knows it.
    pub complete: Option<bool>,
    /// Why it stopped early.
    pub stop: Option<String>,
    /// What became of the requeued jobs, where `--verify` watched them; the journal alone knows.
    pub verified: Option<Verified>,
    /// `journal`, `ledger` or both.
    pub recorded_in: Vec<String>,
    /// True if another file has taken the place of the one that it was on.
    pub of_earlier_file: bool,
}

impl Document for History {
    fn head_and_summary(&self) -> (impl Serialize, impl Serialize) {
        (&self.head, &self.summary)
    }

    fn lists(&self, format: Format, times: Times) -> Vec<List<'_>> {
        let first = self.runs.first().map(|run| &run.head.target.database);
        let is_one = self.runs.iter().all(|run| Some(&run.head.target.database) == first);
        vec![List::of("run", &self.runs, runs(!is_one, format, self.read_at, times))]
    }
}

impl History {
    /// The titles of its table, on one database or on several.
    pub fn titles(format: Format) -> Vec<&'static str> {
        runs(true, format, None, Times::default()).titles()
    }
}

fn runs<'a>(several: bool, format: Format, now: Option<Timestamp>, times: Times) -> Columns<'a, HistoryRun> {
    let wide = format == Format::Wide;
    let when =
        move |run: &HistoryRun| columns::time(Some(run.head.store_time), now.unwrap_or(run.head.store_time), times);
    Columns::<HistoryRun>::new()
        .add(column("run", 0, None), "run_id", |run| run.head.run_id.as_str().into())
        .add(column("when", 0, None), "store_time", when)
        .add(column("command", 3, None), "command undoes", |run| command(run).into())
        .add(names("table", 5, 12), "table=/target/table", |run| run.head.target.table.as_str().into())
        .add(names("who", 4, 10), "actor=/actor/user host", |run| columns::text(who(run).as_deref()))
        .add(right("moved", 1), "moved moved_at_least", |run| moved(run).into())
        .add(right("others", 5), "", others)
        .add(column("undo", 4, None), "undoable undone_by", undo)
        .add(column("reason", 0, Some(12)), "reason", |run| columns::text(run.head.reason.as_deref()))
        .add_if(several || wide, names("database", 3, 12), "database=/target/database", |run| {
            run.head.target.database.as_str().into()
        })
        .add_if(wide, column("preset", 9, Some(8)), "preset=/target/preset", |run| {
            run.head.target.preset.as_str().into()
        })
        .add_if(wide, column("recorded in", 9, Some(8)), "recorded_in", |run| run.recorded_in.join(", ").into())
}

pub(super) fn command(run: &HistoryRun) -> String {
    run.head.undoes.as_ref().map_or_else(|| run.head.command.clone(), |undoes| format!("{} {undoes}", run.head.command))
}

pub(super) fn who(run: &HistoryRun) -> Option<String> {
    match (&run.head.actor.name(), &run.head.host) {
        (Some(actor), Some(host)) => Some(format!("{actor}@{host}")),
        (actor, host) => actor.clone().or_else(|| host.as_ref().map(|host| format!("@{host}"))),
    }
}

impl HistoryRun {
    /// When it was, who made it, and how many jobs it moved.
    pub fn sentence(&self) -> String {
        let (at, by) = (Times::Utc.show(self.head.store_time, self.head.store_time), who(self).unwrap_or_default());
        format!("{} at {at} by {by}, moved {}", command(self), moved(self))
    }
}

fn moved(run: &HistoryRun) -> String {
    run.moved.map_or_else(|| format!("at least {}", run.moved_at_least), |moved| moved.to_string())
}

fn others(run: &HistoryRun) -> Cell {
    let Some(outcomes) = &run.outcomes else { return Cell::new("?", Tone::Dim) };
    let tone = if outcomes.unknown > 0 { Tone::Warn } else { Tone::Plain };
    Cell::new((outcomes.total() - outcomes.moved).to_string(), tone)
}

fn undo(run: &HistoryRun) -> Cell {
    match (run.undone_by.as_slice(), run.undoable) {
        ([.., by], _) => Cell::new(format!("reverted by {by}"), Tone::Dim),
        _ if run.of_earlier_file => Cell::new("of an earlier file", Tone::Warn),
        ([], 0) => Cell::new("no", Tone::Dim),
        ([], _) if run.moved.is_none() => Cell::new("what is recorded", Tone::Warn),
        ([], n) if Some(n) < run.moved => Cell::new("in part", Tone::Warn),
        ([], _) => "yes".into(),
    }
}

/// What is said in the place of a run's end.
pub(super) const NO_END: &str = "not recorded: the run was stopped, could not write its journal, or is still running";

/// `jobdoctor.history-run/v1`: one run with its steps.
#[derive(Serialize, JsonSchema)]
pub struct HistoryOne {
    /// All but the counts and the steps.
    #[serde(flatten)]
    pub head: HistoryOneHead,
    /// The counts.
    pub summary: HistoryOneSummary,
    /// The steps, as far as they are recorded.
    #[schemars(with = "Vec<HistoryStep>")]
    pub steps: Listing<HistoryStep>,
    /// When the record was read; people see how long ago the run was.
    #[serde(skip)]
    pub read_at: Option<Timestamp>,
}

/// The head of a [`HistoryOne`].
#[derive(Serialize, JsonSchema)]
pub struct HistoryOneHead {
    /// `jobdoctor.history-run/v1`.
    pub schema: &'static str,
    /// The run.
    pub run: HistoryRun,
}

/// The counts of a [`HistoryOne`].
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct HistoryOneSummary {
    /// Steps in `steps`.
    pub steps: u64,
    /// The steps by action, the most frequent first.
    pub by_action: Vec<ActionCount>,
    /// The steps by the owner who held the job, of at most 1,000 owners.
    pub by_owner: BTreeMap<String, u64>,
    /// What became of the jobs whose outcome the record does not know.
    pub unsure: HistoryUnsure,
}

/// Jobs whose outcome the record does not know, because it ends before it says so or the answer to a commit was lost,
/// by what the database says of them now.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct HistoryUnsure {
    /// Not compared: no database was at hand, or no row is recorded.
    pub open: u64,
    /// Moved.
    pub moved: u64,
    /// Not moved.
    pub not_moved: u64,
    /// Changed or gone since, so that it cannot be told any more.
    pub changed: u64,
}

/// One step of a run, as it is recorded.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HistoryStep {
    /// The step and its end; the outcome is `unknown` where the record does not say.
    #[serde(flatten)]
    pub step: Step<End>,
    /// Where the outcome is unknown and the row could be compared: `moved`, `not_moved`, `changed` or `gone`.
    pub compared: Option<String>,
}

impl Document for HistoryOne {
    fn head_and_summary(&self) -> (impl Serialize, impl Serialize) {
        (&self.head, &self.summary)
    }

    fn lists(&self, _: Format, _: Times) -> Vec<List<'_>> {
        vec![List::listing("step", &self.steps, steps())]
    }

    fn above(&self, screen: &Screen) -> String {
        let run = &self.head.run;
        let mut facts = Facts::new();
        facts.add("run", Cell::new(run.head.run_id.as_str(), Tone::Strong));
        let began = run.head.store_time;
        facts.add("when", columns::time(Some(began), self.read_at.unwrap_or(began), screen.times));
        facts.add("command", command(run));
        facts.add("by", columns::text(who(run).as_deref()));
        facts.add("reason", columns::text(run.head.reason.as_deref()));
        facts.add_some("your id", run.head.external_id.as_deref());
        let Target { engine, database, table, preset, variants, .. } = &run.head.target;
        let overrides = overridden(variants).map_or_else(String::new, |what| format!(", which {what}"));
        facts.add("queue", format!("{engine} {database}, table {table}, preset {preset}{overrides}"));
        let actions = self.moved_by_action();
        let actions = if actions.is_empty() { actions } else { format!(": {actions}") };
        let planned = run.head.planned.map_or("?".to_owned(), |n| n.to_string());
        facts.add("moved", format!("{} of {planned}{actions}", moved(run)));
        for (n, cause) in run.head.causes.iter().enumerate() {
            let since = cause.since_at.map(|at| format!(", since {}", Times::Utc.show(at, at)));
            let name = if n == 0 { "causes" } else { "" };
            facts.add(name, format!("{}{}", cause.text, since.unwrap_or_default()));
        }
        let warn = |words: String| Cell::new(words, Tone::Warn);
        let unrecorded = run.unrecorded.filter(|jobs| *jobs > 0);
        let unrecorded = unrecorded.map(|jobs| format!("{jobs} of them: the journal could not be written then"));
        facts.add_some("not recorded", unrecorded.map(warn));
        facts.add_some("verified", run.verified.as_ref().map(Verified::sentence));
        facts.add("undo", undo(run));
        facts.add("recorded in", run.recorded_in.join(", "));
        facts.add_some("end", (run.complete == Some(false)).then(|| warn(NO_END.to_owned())));
        facts.add_some("stopped", run.stop.clone().map(warn));
        facts.render(screen)
    }
}

impl HistoryOne {
    /// Collects the steps of a document that is printed in this format.
    pub fn collector(format: Format) -> Collector<HistoryStep> {
        Collector::of(Shape::of("step", &steps()), format, (format == Format::Markdown).then_some(LISTED))
    }

    pub fn titles() -> Vec<&'static str> {
        steps().titles()
    }

    /// `requeued 56, failed 1`; empty if no job was moved.
    pub(super) fn moved_by_action(&self) -> String {
        let actions = self.summary.by_action.iter().filter_map(|count| Some((count.moved?, count.action.past())));
        let actions = actions.filter(|(jobs, _)| *jobs > 0);
        if self.head.run.head.undoes.is_some() {
            let jobs: u64 = actions.map(|(jobs, _)| jobs).sum();
            return if jobs > 0 { format!("reverted {}", grouped(jobs)) } else { String::new() };
        }
        let actions = actions.map(|(jobs, did)| format!("{did} {}", grouped(jobs)));
        actions.collect::<Vec<_>>().join(", ")
    }
}

/// The constraint or the code with which the database refused a step.
pub(super) fn refused(step: &Step<End>) -> Option<&String> {
    step.stage.error.as_ref().and_then(|error| error.constraint.as_ref().or(error.sqlstate.as_ref()))
}

fn steps<'a>() -> Columns<'a, HistoryStep> {
    let number = |n: Option<i64>| n.map_or("-".to_owned(), |n| n.to_string());
    let tries = move |HistoryStep { step, .. }: &HistoryStep| match (step.attempts, step.attempts_after) {
        (None, None) => "-".into(),
        (before, after) => format!("{} to {}", number(before), number(after)).into(),
    };
    let outcome = |shown: &HistoryStep| match (shown.step.stage.outcome, &shown.compared) {
        (Outcome::Unknown, Some(now)) => Cell::new(format!("unknown: {}", now.replace('_', " ")), Tone::Warn),
        (Outcome::Unknown, None) => Cell::new("unknown", Tone::Warn),
        (ended, _) => columns::outcome(Some(ended)),
    };
    let why =
        |HistoryStep { step, .. }: &HistoryStep| columns::text(Some(refused(step).unwrap_or(&step.rules.join(", "))));
    Columns::<HistoryStep>::new()
        .add(column("id", 0, None), "id", |shown| shown.step.id.as_str().into())
        .add(names("queue", 6, 8), "queue", |shown| columns::text(shown.step.queue.as_deref()))
        .add(names("kind", 5, 16), "kind", |shown| columns::text(shown.step.kind.as_deref()))
        .add(names("owner", 2, 10), "owner", |shown| columns::text(shown.step.owner.as_deref()))
        .add(column("action", 1, None), "action", |shown| shown.step.action.name().into())
        .add(column("from", 3, Some(7)), "state", |shown| shown.step.state.as_str().into())
        .add(column("to", 3, Some(7)), "state_after", |shown| shown.step.state_after.as_str().into())
        .add(column("tries", 4, None), "attempts attempts_after", tries)
        .add(column("outcome", 0, None), "rules outcome compared", outcome)
        .add(column("why", 2, Some(12)), "", why)
}
