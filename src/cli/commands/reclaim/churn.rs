//! That more jobs than usual had to be moved, and whose they were.

use super::Reclaiming;
use crate::output::format::{count, grouped};
use crate::output::{Reason, Reclaim, StepJob};
use crate::policy::Rule;
use std::collections::BTreeMap;

/// Owners named.
const SHOWN: usize = 3;

impl Reclaiming<'_> {
    /// What to say where more jobs were moved, or would be, than the operator calls usual.
    pub(super) fn churn(&self, document: &Reclaim) -> Option<String> {
        let of_target = self.settings.target.warn_above;
        let flag = self.unattended.as_ref().and_then(|said| said.args.warn_above);
        let above = flag.or(of_target)?;
        let moved = document.steps.iter().flatten().filter(is_lost).count() as u64;
        if moved <= above {
            return None;
        }
        let by = match flag {
            Some(_) => "--warn-above".to_owned(),
            None => format!("warn_above of target {}", document.target.name.as_deref().unwrap_or("(none)")),
        };
        Some(format!("that is more than {above}: workers die often here ({by}): {}", owners(document, moved)))
    }
}

/// Whether a worker lost it. Jobs that waited, and that nobody held, say nothing about workers.
fn is_lost(step: &StepJob) -> bool {
    let too_long = |reason: &Reason| reason.rule == Rule::TooLong.name();
    let waited = step.job.owner.is_none() && step.job.reasons.iter().all(too_long);
    !waited && (step.outcome.is_none() || step.was_moved())
}

/// Who lost most of them: hosts, where the preset knows them.
fn owners(document: &Reclaim, moved: u64) -> String {
    let mut lost: BTreeMap<String, u64> = BTreeMap::new();
    for step in document.steps.iter().flatten() {
        if is_lost(&step) {
            let named = |name: &String| !name.trim().is_empty();
            let owner = step.job.host.filter(named).or(step.job.owner.filter(named));
            *lost.entry(owner.unwrap_or_else(|| "(no owner)".to_owned())).or_default() += 1;
        }
    }
    let mut lost: Vec<(String, u64)> = lost.into_iter().collect();
    lost.sort_by_key(|(owner, jobs)| (std::cmp::Reverse(*jobs), owner.clone()));
    let shown = lost.iter().take(SHOWN).map(|(owner, jobs)| format!("{owner} lost {}", grouped(*jobs)));
    let shown = shown.collect::<Vec<_>>().join(", ");
    let others = lost.len().saturating_sub(SHOWN) as u64;
    if others == 0 {
        return shown;
    }
    let named: u64 = lost.iter().take(SHOWN).map(|(_, jobs)| jobs).sum();
    format!("{shown}, {} {}", count(others, "other", "others"), grouped(moved.saturating_sub(named)))
}
