//! Every statement about a queue, in one list, for the tests that compare them with snapshots.

use super::{
    Dialect, Occasion, Statement, acts, count, count_by_owner, count_by_state, finished, guard, listing, notifications,
    question, verify,
};
use crate::model::{Action, Key, Timestamp};
use crate::preset::Jobs;
use crate::store::{Cutoffs, Detail, Wanted, WantedRuns};
use std::time::Duration;

/// Each statement with a name. `keys` are the jobs of an imagined batch.
pub fn statements(
    jobs: &Jobs,
    dialect: &'static dyn Dialect,
    cutoffs: &Cutoffs,
    keys: &[Key],
    now: Timestamp,
) -> Vec<(String, Statement)> {
    let listed = |name: &str, wanted: &Wanted, detail| {
        listing(jobs, dialect, wanted, detail, None).map(|listing| (name.to_owned(), listing.statement))
    };
    let mut list: Vec<(String, Statement)> = Vec::new();
    list.extend(listed("suspects", &Wanted::Suspects(*cutoffs), Detail::ForAction));
    list.extend(listed("all", &Wanted::All, Detail::ForListing));
    list.extend([
        ("count".to_owned(), count(jobs, dialect)),
        ("count by owner".to_owned(), count_by_owner(jobs, dialect)),
    ]);
    let rows: Vec<(&Key, &str)> = keys.iter().map(|key| (key, "(precondition)")).collect();
    let keys: Vec<&Key> = keys.iter().collect();
    for action in Action::ALL {
        let Some(moved) = jobs.actions.get(&action).filter(|moved| moved.refused.is_none()) else { continue };
        let (kind, recorded) = ((action, moved.locks_for_update), jobs.recorded(action));
        list.push((format!("verify for {action}"), verify(jobs, dialect, kind, recorded.as_deref(), &rows)));
        if let Some(asked) = &jobs.claim.guard {
            list.push((format!("guard for {action}"), guard(jobs, dialect, asked, &rows)));
        }
        for (n, act) in acts(jobs, dialect, moved, &keys, Occasion::at(now, "reason")).into_iter().enumerate() {
            list.push((format!("{action} {}", n + 1), act.statement));
        }
    }
    for (n, statement) in notifications(jobs, dialect, Some("mail"), keys.len()).into_iter().enumerate() {
        list.push((format!("wake-up {}", n + 1), statement));
    }
    for check in &jobs.queue.checks {
        list.push((format!("check {}", check.name), question(jobs, dialect, &check.sql)));
    }
    list.extend(count_by_state(jobs, dialect, true).map(|counts| ("count by state".to_owned(), counts)));
    if let Some(runs) = jobs.finished.kept() {
        for (name, wanted) in [
            ("finished since", WantedRuns::Since(now)),
            ("finished last", WantedRuns::Newest(1000, Duration::from_secs(1))),
        ] {
            list.push((name.to_owned(), finished(jobs, dialect, runs, &wanted)));
        }
    }
    list
}
