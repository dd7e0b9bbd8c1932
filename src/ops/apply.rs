//! Executes a plan in batches.

use super::OpsError;
use super::batches::{BatchRunner, Ended, Planned, Waiting};
use super::delay::Waits;
use super::plan::{Part, Plan};
use super::progress::{UnderWay, Work};
use super::reclaim::ApplyOptions;
use super::record::Cause;
use super::sweep_lock::apply_with_lock;
use crate::history::Recording;
use crate::model::{Action, Batch, Cell, End, EvidenceRow, Key, Outcome, RowError, Step};
use crate::output::StepJob;
use crate::policy::Policy;
use crate::preset::QueueSpec;
use crate::store::{Limits, Store};
use std::io;
use std::time::Instant;

/// Executes a plan batch by batch, each a short transaction of its own. Killing it at any point leaves whole batches,
/// and running it again is safe, because every step carries its precondition.
///
/// # Errors
/// When the store cannot be opened for writing. Nothing was written then.
pub(super) fn apply(
    store: &dyn Store,
    limits: &Limits,
    plan: &Plan,
    order: &ApplyOptions<'_>,
    recording: &mut Recording,
) -> Result<Ended, OpsError> {
    let mut runner = BatchRunner::begin(store, limits, recording, order.mode, order.fast)?;
    if let Some(sweep_lock) = &order.sweep_lock {
        sweep_lock.begin(runner.writer());
    }
    let mut applying = Applying {
        order,
        policy: &plan.policy,
        limits,
        waits: Waits::new(order.later, plan.claims.steps())?,
        first_until: Some(order.sweep_lock.map_or_else(Instant::now, |sweep_lock| sweep_lock.until)),
        under_way: UnderWay::begin(&*plan.progress, Work::Applying(plan.len() as u64)),
        runner,
    };
    let mut first = 0;
    for part in plan.parts() {
        let mut waiting = Waiting::new();
        // Delayed jobs run in the order of the plan.
        let places = if order.later.is_asked() { (0..part.len() as u32).collect() } else { in_key_order(part) };
        for n in places.into_iter().map(|n| n as usize) {
            match part.get(n) {
                None => {}
                Some(Ok((step, job))) => {
                    let kind = BatchKind::of(&part.spec, &step, &job);
                    if let Some(batch) = waiting.add(kind.clone(), (step, (first + n, job)), applying.runner.rows()) {
                        applying.batch(&part.spec, &kind, batch, &[]);
                    }
                }
                Some(Err(error)) => {
                    applying.runner.fail(&error);
                    break;
                }
            }
        }
        waiting.rest().for_each(|(kind, batch)| applying.batch(&part.spec, &kind, batch, &[]));
        first += part.len();
    }
    Ok(applying.runner.finish(plan.len() as u64))
}

/// What all steps of a batch have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct BatchKind {
    action: Action,
    cause: Cause,
    /// The columns that are restored; none where the preset's statements act.
    columns: Vec<String>,
}

impl BatchKind {
    fn of(spec: &QueueSpec, step: &Step, job: &StepJob) -> BatchKind {
        let values = step.restores().iter().flat_map(|row| &row.values).collect::<Vec<_>>();
        let columns = values.into_iter().map(|value| value.column.clone()).collect();
        BatchKind { action: step.action, cause: Cause::of(spec, job), columns }
    }
}

/// The places of the steps, about in the order of their keys, so that each page of the table is visited once.
fn in_key_order(part: &Part) -> Vec<u32> {
    let mut places: Vec<(i64, u32)> = Vec::with_capacity(part.len());
    // A step that cannot be read is met again.
    let about = |step: io::Result<Step>| step.map_or(i64::MIN, |step| about(&step.key));
    places.extend((0..).zip(part.steps()).map(|(n, step)| (about(step), n)));
    places.sort_unstable();
    places.into_iter().map(|(_, n)| n).collect()
}

/// A number that is about in the order of the keys: of the first column, the integer or the first bytes.
fn about(key: &Key) -> i64 {
    let bytes = match key.0.first() {
        Some(Cell::Integer(n)) => return *n,
        Some(cell) => cell.to_bytes(),
        None => return 0,
    };
    // On Postgres all keys come as text.
    if let Some(n) = std::str::from_utf8(&bytes).ok().and_then(|text| text.parse().ok()) {
        return n;
    }
    bytes.iter().chain(&[0; 8]).take(7).fold(0, |number, byte| number << 8 | i64::from(*byte))
}

struct Applying<'a> {
    order: &'a ApplyOptions<'a>,
    policy: &'a Policy,
    limits: &'a Limits,
    waits: Waits,
    /// Until when the first batch may wait for the sweep lock; `None` after it.
    first_until: Option<Instant>,
    under_way: UnderWay<'a>,
    runner: BatchRunner<'a>,
}

impl Applying<'_> {
    /// Executes a batch, then fails what a unique key refused to requeue, if that was asked for: `instead` has the
    /// refusals of such a second batch.
    fn batch(&mut self, spec: &QueueSpec, kind: &BatchKind, batch: Vec<Planned>, instead: &[RowError]) {
        let action = kind.action;
        // Jobs that were waiting get no delay or jitter.
        let waits = if spec.waits { Vec::new() } else { self.waits.next(action, batch.len()) };
        let (steps, jobs): (Vec<Step>, Vec<(usize, StepJob)>) = batch.into_iter().unzip();
        let reason = self.order.reason(kind.cause);
        let (limits, first_until, under_way) = (self.limits, &mut self.first_until, &self.under_way);
        let locks_owners = steps.iter().any(|step| matches!(step.evidence_row(), EvidenceRow::Row { .. }));
        let fail =
            self.policy.instead_of_requeue(spec).filter(|_| action == Action::Requeue && kind.columns.is_empty());
        let is_failed = |result: &End| {
            let error = result.error.as_ref().filter(|_| result.outcome == Outcome::Refused);
            fail.is_some() && error.is_some_and(RowError::is_of_unique_key)
        };
        let refused = self.runner.batch(&steps, jobs, locks_owners, &is_failed, &mut |writer, range, recorder| {
            let steps = steps.get(range.clone()).unwrap_or_default();
            let instead = instead.get(range.clone()).unwrap_or_default();
            let waits = waits.get(range).unwrap_or_default();
            let until = first_until.take().unwrap_or(limits.deadline);
            let batch = Batch { action, steps, reason: &reason, waits, instead };
            let done = apply_with_lock(writer, spec, &batch, recorder, limits, until);
            if !done.is_to_be_split() {
                let moved = done.results.iter().filter(|result| result.outcome == Outcome::Moved).count();
                under_way.batch(steps.len(), moved);
            }
            done
        });
        let Some(fail) = fail.filter(|_| !refused.is_empty()) else { return };
        let (mut batch, mut instead) = (Vec::new(), Vec::new());
        for (n, (place, job), result) in refused {
            let Some((step, error)) = steps.get(n).zip(result.error) else { continue };
            let attempts_after = job.job.attempts.and_then(|n| fail.attempts.after(n, job.job.max_attempts));
            let step = Step { action: Action::Fail, state_after: fail.to.name.clone(), attempts_after, ..step.clone() };
            batch.push((step, (place, job)));
            instead.push(error);
        }
        self.batch(spec, &BatchKind { action: Action::Fail, ..kind.clone() }, batch, &instead);
    }
}
