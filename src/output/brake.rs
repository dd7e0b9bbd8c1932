//! The brake in documents, and why a plan is not executed.

use crate::policy::{self, Override};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// What the brake makes of a plan, in a dry run too.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Brake {
    /// True if the plan is not applied because a large share of the queue looks dead.
    pub pulled: bool,
    /// The evidence, as sentences; also if the operator has overridden the brake. Empty without evidence.
    pub why: Vec<String>,
    /// What overrides it, or has done so; null on a standby, and without evidence.
    #[serde(rename = "override")]
    pub overridden_by: Option<String>,
}

impl From<policy::Brake> for Brake {
    fn from(brake: policy::Brake) -> Self {
        let in_words = |by| match by {
            Override::MaxJobs(jobs) => format!("--max-jobs {jobs}"),
            Override::Target => "brake = false".to_owned(),
        };
        Brake { pulled: brake.pulled, why: brake.why, overridden_by: brake.overridden_by.map(in_words) }
    }
}

/// Why a plan is not executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The config file calls this target read-only.
    ReadOnly(String),
    /// The database is a standby.
    Standby,
    /// The plan has another digest than the expected one.
    OtherPlan {
        /// The beginning of the digest that the operator expects.
        expected: String,
        /// The beginning of the plan's digest.
        digest: String,
    },
    /// The plan has more steps than allowed.
    TooLarge { steps: u64, max: u64 },
    /// The live-owner list may be that of another queue, for this reason.
    WrongList(String),
    /// The brake, with its evidence.
    Brake(Vec<String>),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::ReadOnly(target) => write!(f, "target {target} is read-only in the config file"),
            Refusal::Standby => f.write_str("this is a standby; apply on its primary"),
            Refusal::OtherPlan { expected, digest } => {
                write!(f, "the plan is no longer the expected one: its digest is {digest} now, not {expected}")
            }
            Refusal::TooLarge { steps, max } => write!(f, "the plan has {steps} steps and --max-jobs allows {max}"),
            Refusal::WrongList(why) => write!(f, "{why}. If that is right, say with --max-jobs how many jobs may move"),
            Refusal::Brake(why) => write!(f, "the brake: {}", why.join("; ")),
        }
    }
}
