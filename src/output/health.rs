use super::{Filter, Target, Waiting};
use crate::model::Timestamp;
use crate::policy::Proves;
use schemars::JsonSchema;
use serde::Serialize;

/// `jobdoctor.health/v1`: the state of a queue for a monitoring system, with the numbers behind it.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Health {
    /// `jobdoctor.health/v1`.
    pub schema: &'static str,
    /// `ok`, `warning`, `critical` or `unknown`; the exit code is 0, 1, 2 or 3.
    pub state: String,
    /// The state in a sentence.
    pub message: String,
    /// The store's own time of this snapshot; null if the queue could not be read.
    #[schemars(with = "Option<String>")]
    pub store_time: Option<Timestamp>,
    /// Which queue; null if the queue could not be read.
    pub target: Option<Target>,
    /// What was asked for; null if the queue could not be read.
    pub filter: Option<Filter>,
    /// The counts; null if the queue could not be read.
    pub summary: Option<HealthSummary>,
    /// The values that were compared with a range; empty if the queue could not be read.
    pub checks: Vec<HealthCheck>,
    /// Why claims are stuck, most frequent first; each claim is counted under its first reason.
    pub reasons: Vec<HealthReason>,
    /// The queues with stuck or unknown claims, worst first.
    pub queues: Vec<HealthQueue>,
    /// Caveats about these numbers, as sentences.
    pub findings: Vec<String>,
    /// Why the queue could not be read; null if it could.
    pub error: Option<HealthError>,
}

/// The counts of a [`Health`].
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HealthSummary {
    /// Claims.
    pub in_flight: u64,
    /// Stuck claims.
    pub stuck: u64,
    /// Claims that cannot be judged.
    pub unknown: u64,
    /// The longest silence of a stuck claim; null if none is stuck, or none of these ever showed a sign of life.
    pub oldest_silence_seconds: Option<f64>,
    /// How many of a hundred claims are stuck; 0 if there are none.
    pub stuck_percent: f64,
    /// The waiting side of the selected queues; null where claims were asked for by anything but their queue.
    pub waiting: Option<Waiting>,
}

/// A value and its ranges.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HealthCheck {
    /// `stuck`, `silence`, `share`, `unknown`, `due` or `oldest_due`.
    pub name: String,
    /// The value; null if it is not known.
    pub value: Option<f64>,
    /// The range outside of which it is a warning, as the Monitoring Plugins guidelines write it; null is none.
    pub warning: Option<String>,
    /// The range outside of which it is critical.
    pub critical: Option<String>,
    /// The state of the value: `ok`, `warning` or `critical`.
    pub state: String,
}

/// How many claims are stuck for that reason.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HealthReason {
    /// The rule.
    pub rule: String,
    /// What it proves.
    pub proves: Proves,
    /// How many.
    pub jobs: u64,
}

/// A queue with findings.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HealthQueue {
    /// Its name; null for jobs whose queue is not known.
    pub queue: Option<String>,
    /// Claims.
    pub in_flight: u64,
    /// Stuck claims.
    pub stuck: u64,
    /// Claims that cannot be judged.
    pub unknown: u64,
    /// The longest silence of a stuck claim.
    pub oldest_silence_seconds: Option<f64>,
}

/// Why the queue could not be read.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HealthError {
    /// The exit code that another command would end with.
    pub code: u8,
    /// Its name.
    pub kind: String,
    /// What to try.
    pub hints: Vec<String>,
}

impl Health {
    pub const SCHEMA: &'static str = "jobdoctor.health/v1";

    /// The document of a queue that could not be read.
    pub fn unreadable(state: &str, message: String, error: HealthError) -> Health {
        Health { schema: Health::SCHEMA, state: state.to_owned(), message, error: Some(error), ..Health::default() }
    }
}
