//! The waiting side of a queue: due jobs, and who takes them.

use super::format::{count, grouped};
use crate::model::{Timestamp, WaitingSide, age};
use crate::policy::QueueFlow;
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// The jobs that a worker could take now.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Waiting {
    /// How many; null if the queue does not tell, or could not be read.
    pub due: Option<u64>,
    /// True if there are more: 10,000 are counted, and the oldest is at least this old.
    pub more: bool,
    /// Since when the oldest waits.
    #[schemars(with = "Option<String>")]
    pub oldest_due_at: Option<Timestamp>,
    /// How long the oldest of them waits, in seconds.
    pub oldest_due_seconds: Option<f64>,
    /// What is not known of them, and why.
    pub unknown: Vec<String>,
    /// Living workers of all queues; null where the tables do not tell.
    pub workers: Option<u64>,
    /// The first thousand queues, most due jobs first.
    pub queues: Vec<QueueFlow>,
    /// False if the preset or mapping says nothing of due jobs.
    #[serde(skip)]
    pub is_told: bool,
}

impl Waiting {
    /// True if the queue tells of due jobs, and not all of them could be read.
    pub fn is_in_doubt(&self) -> bool {
        self.is_told && !self.unknown.is_empty()
    }

    /// Why it is not known how many are due.
    pub fn why_unknown(&self) -> &str {
        self.unknown.first().map_or("the queue does not tell", String::as_str)
    }

    /// How many jobs are due, and for how long: `700 jobs due, the oldest for 3h`.
    pub fn sentence(&self) -> String {
        let why = self.unknown.first();
        let Some(due) = self.due else { return format!("due jobs unknown: {}", self.why_unknown()) };
        let oldest = self.oldest_due_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let since = match oldest {
            Some(oldest) => format!(", the oldest for {}", age(oldest)),
            None if due > 0 => ", since when is not known".to_owned(),
            None => String::new(),
        };
        let jobs = match self.more {
            true => format!("{}+ jobs", grouped(WaitingSide::MOST)),
            false => count(due, "job", "jobs"),
        };
        let partly = why.map_or_else(String::new, |why| format!(" (not all is known: {why})"));
        format!("{jobs} due{since}{partly}")
    }
}
