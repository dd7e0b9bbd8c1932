use super::Records;
use super::load::{load, placed, tells_nothing};
use crate::history::{self, Counts, RunEnd};
use crate::model::{Outcome, RunHead, Target, Timestamp};
use crate::ops::OpsError;
use crate::output::advice;
use crate::output::{History, HistoryHead, HistoryRun, HistorySummary, MovedBy, Outcomes};
use crate::store::{StoreError, StoreErrorKind};
use std::collections::{BTreeMap, BTreeSet};

/// Runs listed from a ledger where no limit is asked for.
const LEDGER_RUNS: u64 = 10_000;

/// Lists the runs since then, newest first; with `here_only` those on the database at hand.
pub fn history(
    records: &mut Records<'_>,
    limit: Option<usize>,
    since: Option<Timestamp>,
    here_only: bool,
) -> Result<History, OpsError> {
    let mut runs: BTreeMap<String, HistoryRun> = BTreeMap::new();
    let at_hand = records.snapshot.as_mut().map(|snapshot| snapshot.identified()).transpose()?;
    let here = at_hand.as_ref().filter(|_| here_only);
    let mut elsewhere = BTreeSet::new();
    let mut warnings = Vec::new();
    if let Some(journals) = records.journals {
        for run in journals.runs()? {
            let summary = match history::summary(journals, &run) {
                Ok(Some(summary)) => summary,
                // One file that cannot be read must not take the whole list away.
                unreadable => {
                    let why = unreadable.err().map(|error| error.to_string());
                    let why = why.unwrap_or_else(|| tells_nothing(journals, &run));
                    warnings.push(format!("run {run} is not listed: {why}"));
                    continue;
                }
            };
            if !here.is_none_or(|here| summary.head.target.is_on_database_of(here)) {
                elsewhere.insert(run.clone());
            }
            let of_earlier_file = at_hand.as_ref().is_some_and(|here| summary.head.target.is_of_earlier_file(here));
            let mut listed = HistoryRun { of_earlier_file, ..HistoryRun::of(summary.head, "journal") };
            listed.set_record(&summary.recorded, summary.end);
            listed.undoable = summary.undoable;
            runs.insert(run, listed);
        }
    }
    let ledger = records.ledger()?;
    if let (Some(ledger), Some(snapshot)) = (&ledger, records.snapshot.as_mut()) {
        for run in snapshot.reader.ledger_runs(ledger, LEDGER_RUNS)? {
            match runs.get_mut(&run.head.run_id) {
                Some(known) => {
                    elsewhere.remove(&known.head.run_id);
                    known.recorded_in.push("ledger".to_owned());
                    if known.unrecorded != Some(0) && run.moved >= known.moved_at_least {
                        known.set_ledger(run.moved);
                        known.undoable = run.undoable;
                    }
                }
                None => {
                    let mut listed = HistoryRun::of(placed(run.head, snapshot)?, "ledger");
                    listed.set_ledger(run.moved);
                    listed.undoable = run.undoable;
                    runs.insert(listed.head.run_id.clone(), listed);
                }
            }
        }
    }
    link(&mut runs);
    let is_late = |run: &HistoryRun| since.is_none_or(|since| run.head.store_time.micros() >= since.micros());
    runs.retain(|run, listed| !elsewhere.contains(run) && is_late(listed));
    let all = runs.len();
    let mut runs: Vec<HistoryRun> = runs.into_values().collect();
    let age = |run: &HistoryRun| std::cmp::Reverse((run.head.store_time.micros(), run.head.run_id.clone()));
    runs.sort_by_cached_key(age);
    runs.truncate(limit.unwrap_or(usize::MAX));
    let ledger = ledger.map(|ledger| format!("{}.{}", ledger.table.schema, ledger.table.name));
    Ok(History {
        head: HistoryHead {
            schema: "jobdoctor.history/v1",
            journal: records.journals.map(|journals| journals.path().display().to_string()),
            ledger,
            warnings,
        },
        summary: HistorySummary {
            runs: all as u64,
            returned: runs.len() as u64,
            truncated: runs.len() < all,
            other_databases: elsewhere.len() as u64,
        },
        runs,
        read_at: records.snapshot.as_ref().map(|snapshot| snapshot.now()),
    })
}

/// Journals that are read to find the newest of this database.
const NEWEST: usize = 50;

/// The newest recorded run on the database at hand.
pub(in crate::ops) fn last_run(records: &mut Records<'_>) -> Result<Option<HistoryRun>, OpsError> {
    let Some(here) = records.snapshot.as_mut().map(|snapshot| snapshot.identified()).transpose()? else {
        return Ok(None);
    };
    newest(records, false, &|run| run.head.target.is_recorded_of(&here))
}

/// Finds the newest recorded run that is meant: of `all` runs, or of this host's newest journals and the newest run in
/// the ledger. Of all, a journal that cannot be read is an error: it may be that of the newest.
fn newest(
    records: &mut Records<'_>,
    all: bool,
    is_meant: &dyn Fn(&HistoryRun) -> bool,
) -> Result<Option<HistoryRun>, OpsError> {
    let (of_journals, of_ledger) = if all { (usize::MAX, LEDGER_RUNS) } else { (NEWEST, 1) };
    let mut newest: Option<HistoryRun> = None;
    if let Some(journals) = records.journals {
        for run in journals.runs()?.iter().take(of_journals) {
            let summary = match history::summary(journals, run) {
                Ok(Some(summary)) => summary,
                Err(error) if all => return Err(error.into()),
                _ => continue,
            };
            let mut run = HistoryRun::of(summary.head, "journal");
            run.set_record(&summary.recorded, summary.end);
            if is_meant(&run) {
                newest = Some(run);
                break;
            }
        }
    }
    if let (Some(ledger), Some(snapshot)) = (records.ledger()?, records.snapshot.as_mut()) {
        for run in snapshot.reader.ledger_runs(&ledger, of_ledger)? {
            let mut listed = HistoryRun::of(placed(run.head, snapshot)?, "ledger");
            listed.set_ledger(run.moved);
            let is_newer =
                newest.as_ref().is_none_or(|known| known.head.store_time.micros() < listed.head.store_time.micros());
            newest = if is_newer && is_meant(&listed) { Some(listed) } else { newest };
        }
    }
    Ok(newest)
}

impl Records<'_> {
    /// The latest run that moved a job, or may have, and was made by this user, on a queue that `is_meant`.
    pub fn latest(&mut self, by: &str, is_meant: &dyn Fn(&Target) -> bool) -> Result<HistoryRun, OpsError> {
        let is_by = |run: &HistoryRun| run.head.actor.name().as_deref() == Some(by);
        let found = newest(self, true, &|run| {
            let may_have_moved = run.moved_at_least > 0 || run.complete == Some(false);
            may_have_moved && is_by(run) && is_meant(&run.head.target)
        });
        found?.ok_or_else(|| {
            let why = format!("no run of {by} is recorded that moved a job of this queue");
            StoreError::new(StoreErrorKind::Missing, why).hint(advice::WHOSE_RUNS).into()
        })
    }
}

/// The newest recorded run that acted on each of these jobs, by id: of this host's newest journals and of the ledger. A
/// record that cannot be read says nothing.
pub(in crate::ops) fn last_moved(records: &mut Records<'_>, ids: &[String]) -> BTreeMap<String, MovedBy> {
    let mut moved: BTreeMap<String, MovedBy> = BTreeMap::new();
    let runs = records.journals.and_then(|journals| journals.runs().ok()).unwrap_or_default();
    let mut runs: BTreeSet<String> = runs.into_iter().collect();
    let ledger = records.ledger().ok().flatten();
    if let (Some(ledger), Some(snapshot)) = (ledger, records.snapshot.as_mut()) {
        let newest = snapshot.reader.ledger_runs(&ledger, NEWEST as u64).unwrap_or_default();
        runs.extend(newest.into_iter().map(|run| run.head.run_id));
    }
    let Some(Ok(here)) = records.snapshot.as_mut().map(|snapshot| snapshot.identified()) else { return moved };
    // The oldest first, so that the newest counts.
    for run_id in runs.iter().rev().take(NEWEST).collect::<Vec<_>>().into_iter().rev() {
        let Some(run) = load(records, run_id).ok().filter(|run| run.head.target.is_recorded_of(&here)) else {
            continue;
        };
        let _ = run.each(records, &mut |step| {
            if ids.contains(&step.id) {
                let (action, outcome) = (step.action, step.stage.outcome);
                let by = MovedBy { run_id: run_id.clone(), store_time: run.head.store_time, action, outcome };
                moved.insert(step.id, by);
            }
        });
    }
    moved
}

/// Names with each run the runs that reverted it.
fn link(runs: &mut BTreeMap<String, HistoryRun>) {
    let undone: Vec<(String, String)> =
        runs.values().filter_map(|run| Some((run.head.undoes.clone()?, run.head.run_id.clone()))).collect();
    for (run, by) in undone {
        if let Some(run) = runs.get_mut(&run) {
            run.undone_by.push(by);
        }
    }
}

impl HistoryRun {
    /// A run, without what became of its jobs.
    pub(super) fn of(head: RunHead, source: &str) -> HistoryRun {
        HistoryRun {
            head,
            moved: None,
            moved_at_least: 0,
            outcomes: None,
            undoable: 0,
            unrecorded: None,
            undone_by: Vec::new(),
            complete: None,
            stop: None,
            verified: None,
            recorded_in: vec![source.to_owned()],
            of_earlier_file: false,
        }
    }

    /// Takes over what a journal says: how the steps ended that it names, and its end.
    pub(super) fn set_record(&mut self, recorded: &Counts, end: Option<RunEnd>) {
        let moved = |counts: &Counts| counts.get(&Outcome::Moved).copied().unwrap_or(0);
        self.moved_at_least = moved(recorded);
        self.complete = Some(end.is_some());
        if let Some(end) = end {
            self.moved_at_least = moved(&end.outcomes);
            self.moved = Some(self.moved_at_least);
            self.outcomes = Some(Outcomes::of(&end.outcomes));
            self.unrecorded = Some(end.unrecorded);
            self.stop = end.stop;
            self.verified = end.verified;
        }
    }

    /// Takes over how many jobs a ledger says were moved: its rows are committed with them, so it names all of them.
    pub(super) fn set_ledger(&mut self, moved: u64) {
        self.moved_at_least = self.moved_at_least.max(moved);
        self.moved.get_or_insert(moved);
        self.unrecorded = Some(0);
    }
}
