//! What a run records of itself and of its steps, and the reason that is written with each job.

use super::plan::Plan;
use crate::history::{BatchRecorder, RecordOptions};
use crate::model::{End, RunHead, Step, Timestamp};
use crate::output::StepJob;
use crate::policy::Proves;
use crate::preset::QueueSpec;
use crate::store::{Recorder, StoreError, StoreErrorKind};

/// Why a job is moved, for the error that the queue keeps with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    Dead,
    /// It took too long, or its deadline has passed; its worker may be alive.
    Late,
    Waited,
}

impl Cause {
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

/// The head of the record of a run that carries out that plan.
pub(super) fn run_head(options: &RecordOptions, run_id: &str, plan: &Plan) -> RunHead {
    RunHead {
        run_id: run_id.to_owned(),
        store_time: plan.store_time,
        command: options.command.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        actor: options.actor.clone(),
        host: options.host.clone(),
        reason: options.reason.clone(),
        undoes: plan.undoes.as_ref().map(|undoes| undoes.run_id.clone()),
        target: plan.target.clone(),
        columns: plan.claims.spec.row.iter().map(|column| column.name.clone()).collect(),
        digest: Some(plan.digest.clone()),
        planned: Some(plan.total()),
    }
}

impl Recorder for BatchRecorder<'_> {
    fn head(&self) -> Option<&RunHead> {
        BatchRecorder::head(self)
    }

    fn intent(&mut self, at: Timestamp, steps: &[Step<End>]) -> Result<(), StoreError> {
        let refused = |(message, hint): (String, &str)| StoreError::new(StoreErrorKind::Refused, message).hint(hint);
        BatchRecorder::intent(self, at, steps).map_err(refused)
    }
}
