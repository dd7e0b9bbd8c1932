//! Concludes what the waiting side of a snapshot shows.

use super::selection::Selection;
use super::session::Snapshot;
use crate::model::{Claim, QueueRows, Reading, WaitingSide};
use crate::output::{self, LISTED};
use crate::policy::{Flows, Judgement, Policy, QueueFlow, Verdict};
use std::collections::BTreeMap;

/// Stuck claims by queue.
pub(super) type StuckByQueue = BTreeMap<Option<String>, u64>;

/// Counts a claim that is stuck.
pub(super) fn count(stuck: &mut StuckByQueue, claim: &Claim, judgement: &Judgement) {
    if matches!(judgement.verdict, Verdict::Stuck(_)) {
        match stuck.get_mut(&claim.queue) {
            Some(jobs) => *jobs += 1,
            None => _ = stuck.insert(claim.queue.clone(), 1),
        }
    }
}

/// True if the waiting side belongs to what is asked for: it has queues, and no kinds, owners, hosts or ids.
pub(super) fn is_asked_for(selection: &Selection) -> bool {
    let by_others = [&selection.kinds, &selection.owners].iter().any(|globs| !globs.patterns().is_empty());
    !by_others && selection.hosts.is_empty() && selection.states.is_empty() && !selection.is_by_name()
}

/// The waiting side of the selected queues, and what is likely to have happened there.
pub(super) fn concluded(
    snapshot: &Snapshot,
    mut side: WaitingSide,
    stuck: &StuckByQueue,
    selection: &Selection,
    policy: &Policy,
) -> (output::Waiting, Flows) {
    let told = match &snapshot.views.waiting {
        Ok(told) => told,
        Err(why) => {
            return (output::Waiting { unknown: vec![why.clone()], ..output::Waiting::default() }, Flows::default());
        }
    };
    // A queue in which no job is due in any zone has none.
    let has_due = [&side.due, &side.staged].into_iter().flatten().any(|queues| !queues.is_empty());
    if let Some(time) = snapshot.views.claims.unknown_zone_of_due(told).filter(|_| has_due) {
        side.unread.push(output::advice::due_in_doubt(&time.column.to_string()));
        (side.due, side.staged) = (None, None);
    }
    let flows = Flows::of(told, &side, stuck, &selection.queues, policy.oldest_due, snapshot.now());
    let more = side.is_cut();
    if more && (!told.due.is_ordered || flows.queues.is_empty()) {
        side.unread.push(output::advice::more_due());
        // Of queues that are asked for and not among those that were read nothing is known.
        side.due = side.due.filter(|_| !flows.queues.is_empty());
    }
    let is_unfit =
        |rows: &&QueueRows| selection.queues.admits(rows.queue.as_deref()) && matches!(rows.at, Reading::Unfit { .. });
    let unfit = [&side.due, &side.staged].into_iter().flatten().flatten().filter(is_unfit);
    let unfit: u64 = unfit.map(|rows| rows.rows).sum();
    side.unread.extend((unfit > 0).then(|| output::advice::unfit_due(unfit)));
    let sum = |of: &dyn Fn(&QueueFlow) -> u64| flows.queues.iter().map(of).sum::<u64>();
    let oldest = flows.queues.iter().filter_map(|queue| queue.oldest_due).min_by_key(|at| at.micros());
    let waiting = output::Waiting {
        due: side.due.as_ref().map(|_| sum(&|queue| queue.due)),
        more,
        oldest_due_at: oldest,
        oldest_due_seconds: oldest.map(|at| snapshot.now().since(at).as_secs_f64()),
        unknown: side.unread,
        workers: flows.workers,
        is_told: true,
        queues: flows.queues.iter().take(LISTED).cloned().collect(),
    };
    (waiting, flows)
}
