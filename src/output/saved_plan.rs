use crate::model::{Action, Key, Step, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// `jobdoctor.plan/v1`: a plan in a file. It says what was to be done and what the rows were like; what is done in the end is
/// drafted anew and must come to the same, so a file that was altered can ask for no more than a command line can.
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
    pub target: SavedTarget,
    /// How its claims were judged.
    pub policy: SavedPolicy,
    /// The fingerprint of the plan.
    pub digest: String,
    /// What is to be done, longest silent first.
    pub steps: Vec<SavedStep>,
}

/// Which queue a saved plan is for: what a person can read and compare. A [`RunTarget`](crate::model::RunTarget) also has
/// what only the database itself can tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SavedTarget {
    /// `postgres` or `sqlite`.
    pub engine: String,
    /// The preset or mapping.
    pub preset: String,
    /// The database, without its secrets.
    pub database: String,
    /// The table whose rows are the jobs.
    pub table: String,
}

/// How the claims of a saved plan were judged.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct SavedPolicy {
    /// `--older`; null left each source of liveness its own threshold.
    pub older_seconds: Option<f64>,
    /// True if that was said on the command line, and so counts for every claim, whatever the config file says of its queue.
    #[serde(default)]
    pub older_overrules: bool,
    /// Rules about trouble that were acted on.
    pub rules: Vec<String>,
    /// `--to`; null let the rules decide.
    pub to: Option<Action>,
}

/// One step of a saved plan: a [`Step`] without its evidence row, which is read anew.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct SavedStep {
    /// Which job, as people see it.
    pub id: String,
    /// Its key, exactly: a list of stored values, as journals keep them.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub key: Key,
    /// Its queue.
    pub queue: Option<String>,
    /// Its kind of work.
    pub kind: Option<String>,
    /// Who held it.
    pub owner: Option<String>,
    /// What is to be done to it.
    pub action: Action,
    /// The state it is to come to.
    pub state_after: String,
    /// Its attempts then.
    pub attempts_after: Option<i64>,
    /// The stored values that the verdict rested on.
    pub precondition: String,
}

impl SavedPlan {
    /// The name of these documents.
    pub const SCHEMA: &'static str = "jobdoctor.plan/v1";
}

impl SavedStep {
    /// True if that step is this one.
    pub fn is(&self, step: &Step) -> bool {
        self.precondition == step.precondition.0
            && self.action == step.action
            && self.state_after == step.state_after
            && self.attempts_after == step.attempts_after
    }
}

/// Preconditions hold tokens.
impl fmt::Debug for SavedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SavedStep").field("id", &self.id).field("action", &self.action).finish_non_exhaustive()
    }
}
