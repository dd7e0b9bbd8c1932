use super::Outcomes;
use super::columns::{self, Columns};
use super::document::{Document, List};
use super::format::{Cell, Format, Times, Tone};
use crate::model::{RunHead, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

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
    /// `journal`, `ledger` or both.
    pub recorded_in: Vec<String>,
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
        .add(columns::column("run", 0, None), "run_id", |run| run.head.run_id.as_str().into())
        .add(columns::column("when", 0, None), "store_time", when)
        .add(columns::column("command", 3, None), "command undoes", |run| command(run).into())
        .add(columns::names("table", 5, 12), "table=/target/table", |run| run.head.target.table.as_str().into())
        .add(columns::names("who", 4, 10), "actor=/actor/user host", |run| columns::text(who(run).as_deref()))
        .add(columns::right("moved", 1), "moved moved_at_least", |run| moved(run).into())
        .add(columns::right("others", 5), "", others)
        .add(columns::column("undo", 4, None), "undoable undone_by", undo)
        .add(columns::column("reason", 0, Some(12)), "reason", |run| columns::text(run.head.reason.as_deref()))
        .add_if(several || wide, columns::names("database", 3, 12), "database=/target/database", |run| {
            run.head.target.database.as_str().into()
        })
        .add_if(wide, columns::column("preset", 9, Some(8)), "preset=/target/preset", |run| {
            run.head.target.preset.as_str().into()
        })
        .add_if(wide, columns::column("recorded in", 9, Some(8)), "recorded_in", |run| {
            run.recorded_in.join(", ").into()
        })
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

pub(super) fn moved(run: &HistoryRun) -> String {
    run.moved.map_or_else(|| format!("at least {}", run.moved_at_least), |moved| moved.to_string())
}

fn others(run: &HistoryRun) -> Cell {
    let Some(outcomes) = &run.outcomes else { return Cell::new("?", Tone::Dim) };
    let others =
        outcomes.changed + outcomes.gone + outcomes.locked + outcomes.refused + outcomes.not_tried + outcomes.unknown;
    let tone = if outcomes.unknown > 0 { Tone::Warn } else { Tone::Plain };
    Cell::new(others.to_string(), tone)
}

pub(super) fn undo(run: &HistoryRun) -> Cell {
    match (run.undone_by.as_slice(), run.undoable) {
        ([.., by], _) => Cell::new(format!("reverted by {by}"), Tone::Dim),
        ([], 0) => Cell::new("no", Tone::Dim),
        ([], _) if run.moved.is_none() => Cell::new("what is recorded", Tone::Warn),
        ([], n) if Some(n) < run.moved => Cell::new("in part", Tone::Warn),
        ([], _) => "yes".into(),
    }
}
