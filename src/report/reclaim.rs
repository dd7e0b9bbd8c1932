use super::{Brake, Filter, SkippedJob, Spool, StepJob, Target, Verified};
use crate::model::{Outcome, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// `jobdoctor.reclaim/v1` and `jobdoctor.sweep/v1`: the plan, and what became of it.
#[derive(Serialize, JsonSchema)]
pub struct Reclaim {
    /// `jobdoctor.reclaim/v1` or `jobdoctor.sweep/v1`.
    pub schema: &'static str,
    /// The store's own time of the snapshot that the plan rests on.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// Which queue.
    pub target: Target,
    /// What was asked for.
    pub filter: Filter,
    /// False for a dry run, and for a plan that was refused.
    pub applied: bool,
    /// The run, for the reason that is written with each job; null where none was moved, as in a dry run.
    pub run_id: Option<String>,
    /// The fingerprint of the plan.
    pub digest: String,
    /// What the brake makes of the plan.
    pub brake: Brake,
    /// How much later than the apply jobs that go back may run; null is at once.
    pub delay_seconds: Option<f64>,
    /// The window over which they are spread after that; null is none.
    pub jitter_seconds: Option<f64>,
    /// How long before this snapshot another one saw exactly the same steps; null if that was not asked, or nothing was to be
    /// confirmed.
    pub confirmed_after_seconds: Option<f64>,
    /// The file with the journal of this run; null where there is none.
    pub journal: Option<String>,
    /// True if `undo` could give back every job that was moved, or would be: until somebody touches it.
    pub undoable: bool,
    /// The counts.
    pub summary: ReclaimSummary,
    /// Why the plan was not applied although that was asked for.
    pub refused: Option<String>,
    /// What an operator should know before applying this.
    pub warnings: Vec<String>,
    /// What is done, longest silent first.
    pub steps: Spool<StepJob>,
    /// What was looked at and is skipped.
    pub skipped: Spool<SkippedJob>,
    /// Ids that were named and name no job.
    pub not_found: Vec<String>,
    /// What became of the jobs afterwards; null if that was not asked, or could not be seen.
    pub verified: Option<Verified>,
}

/// The counts of a [`Reclaim`].
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct ReclaimSummary {
    /// Claims in the whole queue.
    pub in_flight: u64,
    /// Steps in the plan.
    pub planned: u64,
    /// How many of them are of jobs that wait, which nobody holds.
    pub waiting: u64,
    /// Jobs skipped.
    pub skipped: u64,
    /// Stuck jobs beyond `--limit`.
    pub beyond_limit: u64,
    /// How the steps ended; null in a dry run. All seven, and they add up to the steps.
    pub outcomes: Option<Outcomes>,
}

/// How many steps ended how.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Outcomes {
    /// The database committed it.
    pub moved: u64,
    /// The row was no longer what had been judged.
    pub changed: u64,
    /// The row was no longer there.
    pub gone: u64,
    /// Another session held it.
    pub locked: u64,
    /// The database refused it.
    pub refused: u64,
    /// It was not reached.
    pub not_tried: u64,
    /// The answer to the commit was lost.
    pub unknown: u64,
}

impl Outcomes {
    /// The counts.
    pub fn of(counts: &BTreeMap<Outcome, u64>) -> Outcomes {
        let count = |outcome| counts.get(&outcome).copied().unwrap_or(0);
        Outcomes {
            moved: count(Outcome::Moved),
            changed: count(Outcome::Changed),
            gone: count(Outcome::Gone),
            locked: count(Outcome::Locked),
            refused: count(Outcome::Refused),
            not_tried: count(Outcome::NotTried),
            unknown: count(Outcome::Unknown),
        }
    }
}
