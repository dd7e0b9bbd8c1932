//! Step four of a batch, after its commit: wakes the workers.

use super::slices::wait;
use crate::model::{Action, Batch, Outcome, StepResult};
use crate::preset::QueueSpec;
use crate::store::StoreError;
use crate::store::session::{Commit, Session};
use crate::store::sql::{self, Statement};
use std::collections::BTreeMap;

/// Wakes the workers of each queue that got jobs back to run now; they would look in vain for those that wait. The commit
/// stands, whatever happens here.
pub(super) fn wake<S: Session>(
    session: &mut S,
    spec: &QueueSpec,
    batch: &Batch<'_>,
    results: &[StepResult],
) -> Vec<String> {
    if !matches!(batch.action, Action::Requeue | Action::Wake) {
        return Vec::new();
    }
    let mut queues: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    for (n, (step, result)) in batch.steps.iter().zip(results).enumerate() {
        if result.outcome == Outcome::Moved && wait(batch, n).is_zero() {
            *queues.entry(step.queue.as_deref()).or_default() += 1;
        }
    }
    let statements =
        queues.iter().flat_map(|(queue, moved)| sql::notifications(spec, session.dialect(), *queue, *moved));
    let statements: Vec<Statement> = statements.collect();
    if statements.is_empty() {
        return Vec::new();
    }
    match send(session, spec, &statements) {
        Ok(()) => Vec::new(),
        Err(error) => vec![format!("waking the workers failed, they will poll: {error}")],
    }
}

/// In a transaction of its own, whose settings are those of every other one.
fn send<S: Session>(session: &mut S, spec: &QueueSpec, statements: &[Statement]) -> Result<(), StoreError> {
    session.begin(&spec.schema)?;
    for statement in statements {
        if let Err(error) = session.query(statement) {
            session.rollback();
            return Err(error);
        }
    }
    match session.commit() {
        Commit::Done => Ok(()),
        Commit::Failed(error) | Commit::Unknown(error) => Err(error),
    }
}
