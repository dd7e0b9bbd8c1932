//! Rows that wait equally long are written together: the action's statements run once for each instant at which some of the
//! batch may run again, all in the batch's one transaction.

use super::execute::{ActionContext, act};
use crate::model::{Batch, Key};
use crate::preset::{ActionSpec, QueueSpec};
use crate::store::StoreError;
use crate::store::session::Session;
use std::collections::BTreeMap;
use std::time::Duration;

/// Rows that are given back for the same instant.
pub(super) struct Slice<'a> {
    /// Which.
    pub(super) keys: Vec<&'a Key>,
    /// How long after the transaction's now.
    pub(super) wait: Duration,
}

/// Acts on some rows of a batch, each slice with its own instant.
pub(super) fn act_on<S: Session>(
    session: &mut S,
    spec: &QueueSpec,
    moved: &ActionSpec,
    batch: &Batch<'_>,
    rows: &[usize],
    context: &ActionContext<'_>,
) -> Result<(), StoreError> {
    let keys: Vec<&Key> = rows.iter().filter_map(|n| batch.steps.get(*n)).map(|step| &step.key).collect();
    act(session, spec, moved, &keys, &slices(batch, rows), context)
}

/// The rows by how long they wait, the shortest wait first.
fn slices<'a>(batch: &Batch<'a>, rows: &[usize]) -> Vec<Slice<'a>> {
    let mut by_wait: BTreeMap<Duration, Vec<&Key>> = BTreeMap::new();
    for n in rows {
        if let Some(step) = batch.steps.get(*n) {
            by_wait.entry(wait(batch, *n)).or_default().push(&step.key);
        }
    }
    by_wait.into_iter().map(|(wait, keys)| Slice { keys, wait }).collect()
}

/// How long the job of that row waits.
pub(super) fn wait(batch: &Batch<'_>, n: usize) -> Duration {
    batch.waits.get(n).copied().unwrap_or_default()
}
