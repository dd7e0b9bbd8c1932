//! Writes a plan as an SQL script, to be run by hand from a change ticket.

use super::OpsError;
use super::batches::Waiting;
use super::plan::{Part, Plan};
use super::reclaim::{ApplyOptions, Cause};
use super::session::Snapshot;
use crate::model::{Action, Batch, FailCode, Step};
use crate::output::format::count;
use crate::output::{Request, StepJob, advice};
use crate::preset::Jobs;
use crate::store::script::{self, Heading, Place};
use crate::store::{Limits, StoreError, StoreErrorKind};
use std::collections::BTreeMap;

/// Rows a transaction of a script.
const BATCH: usize = 500;

/// A script, complete before any of it is printed: a half must never be run.
pub struct Emitted {
    /// In order: the heading, then one for each batch.
    pub parts: Vec<String>,
    pub batches: u64,
    /// What the operator who runs it should know.
    pub warnings: Vec<String>,
}

impl Snapshot {
    /// Refuses a script on an engine that has none, before anything is read for it.
    pub fn must_have_scripts(&self) -> Result<(), OpsError> {
        if self.jobs.queue.engine.has_scripts() {
            Ok(())
        } else {
            Err(OpsError::unsupported(&self.jobs, &Request::Script))
        }
    }
}

/// The script of what `apply` would do, in the same batches.
pub fn emit(limits: &Limits, plan: &Plan, order: &ApplyOptions<'_>) -> Result<Emitted, OpsError> {
    if let Some(why) = order.guard.refusal_of_script(plan) {
        return Err(StoreError::new(StoreErrorKind::Refused, format!("{why}; no script can do it")).into());
    }
    let (counts, batches) = counts(plan);
    // Only for the heading: each batch has its own reason.
    let reason = order.reason(if plan.own_steps() == 0 { Cause::Waited } else { Cause::Dead });
    let brake = order.guard.brake(plan);
    let mut warnings = plan.warnings.clone();
    if brake.pulled {
        warnings.insert(0, advice::braked_script(&brake.why));
    }
    let later = plan.total() - plan.len() as u64;
    if later > 0 {
        warnings.push(advice::part_of_script(later));
    }
    let heading = Heading {
        database: &plan.target.database,
        table: &plan.target.table,
        store_time: plan.store_time,
        digest: &plan.digest,
        reason: &reason,
        actions: &in_words(&counts),
        batches,
        warnings: &warnings,
    };
    let mut writer =
        ScriptWriter { order, limits, emitted: Emitted { parts: Vec::new(), batches, warnings: Vec::new() } };
    writer.emitted.parts.push(script::heading(&plan.jobs, &heading));
    plan.parts.iter().try_for_each(|part| writer.part(part))?;
    Ok(Emitted { warnings, ..writer.emitted })
}

struct ScriptWriter<'a> {
    order: &'a ApplyOptions<'a>,
    limits: &'a Limits,
    emitted: Emitted,
}

impl ScriptWriter<'_> {
    fn part(&mut self, part: &Part) -> Result<(), OpsError> {
        let mut waiting = Waiting::new();
        for (step, job) in &part.steps {
            let kind = kind(&part.jobs, step, job);
            if let Some(steps) = waiting.add(kind, step.clone(), BATCH) {
                self.batch(&part.jobs, kind, &steps)?;
            }
        }
        waiting.rest().try_for_each(|(kind, steps)| self.batch(&part.jobs, kind, &steps))
    }

    fn batch(&mut self, spec: &Jobs, (action, cause, _): BatchKind, steps: &[Step]) -> Result<(), OpsError> {
        if self.limits.interrupt.is_raised() {
            return Err(StoreError::new(StoreErrorKind::Interrupted, "interrupted").into());
        }
        let reason = self.order.reason(cause);
        let batch = Batch { action, steps, reason: &reason, waits: &[], instead: &[] };
        // The heading is the first part, so that the first batch is number 1.
        let place = Place { number: self.emitted.parts.len() as u64, of: self.emitted.batches };
        self.emitted.parts.push(script::batch(spec, &batch, place)?);
        Ok(())
    }
}

/// What the steps of a batch of one part have in common.
type BatchKind = (Action, Cause, FailCode);

fn kind(spec: &Jobs, step: &Step, job: &StepJob) -> BatchKind {
    (step.action, Cause::of(spec, job), step.fail_code())
}

/// How many steps of each action there are, and how many batches they make.
fn counts(plan: &Plan) -> (BTreeMap<Action, u64>, u64) {
    let (mut all, mut batches) = (BTreeMap::new(), 0);
    for part in &plan.parts {
        let mut counts: BTreeMap<BatchKind, u64> = BTreeMap::new();
        for (step, job) in &part.steps {
            *counts.entry(kind(&part.jobs, step, job)).or_default() += 1;
        }
        batches += counts.values().map(|count| count.div_ceil(BATCH as u64)).sum::<u64>();
        counts.into_iter().for_each(|((action, ..), count)| *all.entry(action).or_default() += count);
    }
    (all, batches)
}

fn in_words(counts: &BTreeMap<Action, u64>) -> String {
    if counts.is_empty() {
        return "nothing to move".to_owned();
    }
    let one = |(action, steps): (&Action, &u64)| format!("{action} {}", count(*steps, "job", "jobs"));
    counts.iter().map(one).collect::<Vec<_>>().join(", ")
}
