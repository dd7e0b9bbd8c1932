//! Documents that a later run reads: a plan, and a snapshot.

use crate::model::{Action, Step, Target, Timestamp};
use crate::policy::SeenClaim;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const SNAPSHOT_SCHEMA: &str = "jobdoctor.snapshot/v1";

/// `jobdoctor.snapshot/v1`: a saved snapshot, with which the next run compares. It holds fingerprints only, no text of
/// the queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedSnapshot {
    pub schema: String,
    /// The store's own time of that snapshot.
    pub store_time: Timestamp,
    pub target: Target,
    /// The claims that were in flight.
    pub claims: Vec<SeenClaim>,
}

/// `jobdoctor.plan/v1`: a plan in a file. It says what was to be done and what the rows were like; what is done in the
/// end is drafted anew and must come to the same, so a file that was altered can ask for no more than a command line
/// can.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SavedPlan {
    /// Always `jobdoctor.plan/v1`.
    pub schema: String,
    /// The version of jobdoctor that wrote it.
    pub version: String,
    /// The store's own time of the snapshot that the plan rests on.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// Which queue.
    pub target: Target,
    /// How its claims were judged.
    pub policy: SavedPolicy,
    /// The fingerprint of the plan.
    pub digest: String,
    /// What is to be done, longest silent first. Evidence rows are not kept: they are read anew.
    pub steps: Vec<Step>,
}

/// How the claims of a saved plan were judged.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct SavedPolicy {
    /// `--older`; null left each source of liveness its own threshold.
    pub older_seconds: Option<f64>,
    /// True if that was said on the command line, and so counts for every claim, whatever the config file says of its
    /// queue.
    #[serde(default)]
    pub older_overrules: bool,
    /// Rules about trouble that were acted on.
    pub rules: Vec<String>,
    /// `--to`; null let the rules decide.
    pub to: Option<Action>,
    /// True for a plan of `--interrupted`.
    #[serde(default)]
    pub interrupted: bool,
}

impl SavedPlan {
    pub const SCHEMA: &'static str = "jobdoctor.plan/v1";
}
