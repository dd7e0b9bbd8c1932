//! What a run records of itself and of its steps, and the reason that is written with each job.

use crate::history::{BatchRecorder, RecordOptions};
use crate::model::{Change, LedgerRow, RecordedStep, RunHead, RunTarget, Step, Timestamp};
use crate::output::{StepJob, Target};
use crate::policy::Proves;
use crate::preset::QueueSpec;
use crate::store::{Recorder, StoreError, StoreErrorKind};

/// Why a job is moved, for the error that the queue keeps with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    /// Its worker is dead.
    Dead,
    /// It took too long, or its deadline has passed; its worker may be alive.
    Late,
    /// It waited too long.
    Waited,
}

impl Cause {
    /// The cause of a step.
    pub(super) fn of(spec: &QueueSpec, job: &StepJob) -> Cause {
        match job.job.reasons.iter().any(|reason| reason.proves == Some(Proves::Death)) {
            _ if spec.waits => Cause::Waited,
            true => Cause::Dead,
            false => Cause::Late,
        }
    }

    /// The reason written with a job, before the operator's own.
    pub(super) fn reason(self, run_id: &str) -> String {
        let words = match self {
            Cause::Dead => "worker presumed dead",
            Cause::Late => "took too long",
            Cause::Waited => "waited too long",
        };
        format!("jobdoctor: {words} (run {run_id})")
    }
}

/// The head of a run's record. It reverts no run and has no digest unless the caller says so.
pub(super) fn run_head(
    options: &RecordOptions,
    run_id: &str,
    time: Timestamp,
    target: &Target,
    spec: &QueueSpec,
    identity: Option<String>,
    planned: u64,
) -> RunHead {
    RunHead {
        run_id: run_id.to_owned(),
        time,
        command: options.command.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        actor: options.actor.clone(),
        host: options.host.clone(),
        reason: options.reason.clone(),
        undoes: None,
        target: RunTarget {
            engine: target.engine.clone(),
            preset: target.preset.clone(),
            variants: target.variants.clone(),
            name: target.name.clone(),
            database: target.database.clone(),
            identity,
            table: target.table.clone(),
            key: spec.claim.key.iter().map(|column| column.name.clone()).collect(),
        },
        columns: spec.row.iter().map(|column| column.name.clone()).collect(),
        digest: None,
        planned,
    }
}

/// A planned step, as the journal and the ledger record it.
pub(super) fn recorded(step: &Step, job: &StepJob) -> RecordedStep {
    RecordedStep {
        step: 0,
        id: job.job.id.clone(),
        key: step.key.clone(),
        queue: job.job.queue.clone(),
        kind: job.job.kind.clone(),
        owner: job.job.owner.clone(),
        action: step.action,
        state_before: job.job.state.clone(),
        state_after: step.state_after.clone(),
        attempts_before: job.job.attempts,
        attempts_after: step.attempts_after,
        rules: job.job.reasons.iter().map(|reason| reason.rule.clone()).collect(),
        row: None,
    }
}

impl Recorder for BatchRecorder<'_> {
    fn keeps(&self) -> bool {
        BatchRecorder::keeps(self)
    }

    fn ledger(&mut self, at: Timestamp, changes: &[Change]) -> Vec<LedgerRow> {
        BatchRecorder::ledger(self, at, changes)
    }

    fn intent(&mut self, at: Timestamp, changes: &[Change]) -> Result<(), StoreError> {
        let refused = |(message, hint): (String, &str)| StoreError::new(StoreErrorKind::Refused, message).hint(hint);
        BatchRecorder::intent(self, at, changes).map_err(refused)
    }
}
