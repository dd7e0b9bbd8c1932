//! The warning that a run moved more jobs than usual, and whose they were.

use super::Reclaim;
use crate::model::is_blank;
use crate::output::StepJob;
use crate::output::format::{count, grouped};
use std::collections::BTreeMap;

const SHOWN: usize = 3;

/// How many jobs a run usually moves at most.
pub struct WarnAbove {
    pub jobs: u64,
    /// The flag or setting that gives this number.
    pub origin: String,
}

/// The warning, if more jobs were moved, or would be.
pub(super) fn churn(document: &Reclaim, usual: Option<&WarnAbove>) -> Option<String> {
    let WarnAbove { jobs, origin } = usual?;
    let listed = document.steps.items.iter().filter(|step| step.is_lost()).count() as u64;
    let moved = document.lost.max(listed);
    (moved > *jobs)
        .then(|| format!("that is more than {jobs}: workers die often here ({origin}): {}", owners(document, moved)))
}

/// The owners that lost most of them; their hosts, where the preset knows them.
fn owners(document: &Reclaim, moved: u64) -> String {
    let mut lost: BTreeMap<&str, u64> = BTreeMap::new();
    for StepJob { job, .. } in document.steps.items.iter().filter(|step| step.is_lost()) {
        let mut named = [&job.host, &job.owner].into_iter().flatten().filter(|name| !is_blank(name));
        *lost.entry(named.next().map_or("(no owner)", String::as_str)).or_default() += 1;
    }
    let mut lost: Vec<(&str, u64)> = lost.into_iter().collect();
    lost.sort_by_key(|(owner, jobs)| (std::cmp::Reverse(*jobs), *owner));
    let shown = lost.iter().take(SHOWN).map(|(owner, jobs)| format!("{owner} lost {}", grouped(*jobs)));
    let shown = shown.collect::<Vec<_>>().join(", ");
    let others = lost.len().saturating_sub(SHOWN) as u64;
    if others == 0 {
        return shown;
    }
    let named: u64 = lost.iter().take(SHOWN).map(|(_, jobs)| jobs).sum();
    format!("{shown}, {} {}", count(others, "other", "others"), grouped(moved.saturating_sub(named)))
}
