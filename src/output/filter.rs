//! What was asked for: the claims that a report is about.

use super::format::grouped;
use crate::model::{LONGEST_THRESHOLD, Timestamp, age};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;
use strum::IntoStaticStr;

/// What a pattern selects by, and what jobs are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Field {
    /// The queue.
    Queue,
    /// The kind of work.
    Kind,
    /// The owner.
    Owner,
    /// The owner's host.
    Host,
    /// The state.
    State,
}

impl Field {
    pub const ALL: [Field; 5] = [Field::Queue, Field::Kind, Field::Owner, Field::Host, Field::State];

    /// Its name, which is that of the option too.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What was asked for.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Filter {
    /// `--older`; null leaves each source of liveness its own threshold.
    pub older_seconds: Option<f64>,
    /// `max_runtime` of the target; null where only a row or the preset says how long a job may run.
    pub max_runtime_seconds: Option<f64>,
    /// The target's thresholds for queues and kinds that are in force.
    pub thresholds: Vec<FilterThreshold>,
    /// `--queue`.
    pub queues: Vec<String>,
    /// `--kind`.
    pub kinds: Vec<String>,
    /// `--owner`.
    pub owners: Vec<String>,
    /// `--host`.
    pub hosts: Vec<String>,
    /// `--state`.
    pub states: Vec<String>,
    /// `--id`.
    pub ids: Vec<String>,
    /// `--limit`.
    pub limit: Option<u64>,
    /// How long ago a job may have been interrupted; null where claims are asked for.
    pub interrupted_within_seconds: Option<f64>,
    /// True for a restart sweep, which judges by owner.
    pub restart: bool,
    /// The entries of the live-owner list; null without `--alive-from`.
    pub living_owners: Option<u64>,
    /// The store's time of the saved snapshot that this one is compared with; null without `--snapshot-file`, and for a
    /// first snapshot.
    #[schemars(with = "Option<String>")]
    pub compared_with_at: Option<Timestamp>,
}

impl Filter {
    /// How long ago a job may have been interrupted; `None` where claims are asked for.
    pub fn within(&self) -> Option<Duration> {
        self.interrupted_within_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }

    /// So many jobs, among which those that are asked for were looked for: `60 in flight`.
    pub fn examined(&self, jobs: u64) -> String {
        let jobs = grouped(jobs);
        self.within().map_or_else(
            || format!("{jobs} in flight"),
            // The jobs of a saved plan were recent enough when it was made.
            |within| match self.ids.is_empty() && within < LONGEST_THRESHOLD {
                true => format!("{jobs} that failed with their worker within {}", age(within)),
                false => format!("{jobs} that failed with their worker"),
            },
        )
    }

    /// The sentence about so many jobs of the whole queue that were interrupted before that; `None` if there are none.
    pub fn older(&self, jobs: Option<u64>) -> Option<String> {
        let (within, jobs) = (self.within()?, jobs.filter(|jobs| *jobs > 0)?);
        let job = if jobs == 1 { "job" } else { "jobs" };
        let names = [&self.queues, &self.kinds, &self.owners, &self.hosts, &self.states];
        let whole = if names.iter().all(|names| names.is_empty()) { "" } else { " of the whole queue" };
        let jobs = grouped(jobs);
        Some(format!("{jobs} more such {job}{whole} failed over {} ago: a longer --since has them", age(within)))
    }
}

/// A threshold of the config file, for claims of some queues or kinds. The first one that matches and has the value
/// counts.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FilterThreshold {
    /// Its number among the target's entries, from 1.
    pub number: u64,
    /// Its queues; null is any.
    pub queue: Option<String>,
    /// Its kinds; null is any.
    pub kind: Option<String>,
    /// How long such a claim may be silent; null leaves it to later entries.
    pub older_seconds: Option<f64>,
    /// How long such a job may run, where its row does not say; null leaves it to later entries.
    pub max_runtime_seconds: Option<f64>,
}
