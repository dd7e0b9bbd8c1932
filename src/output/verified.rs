use super::format::grouped;
use crate::model::age;
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// Ids named in a sentence.
const SHOWN: usize = 10;

/// What became of the requeued jobs, as the last snapshot of `--verify` saw it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Verified {
    /// How long the jobs were watched: up to the time asked for, or until every job had ended.
    pub waited_seconds: f64,
    /// How many jobs were watched: those that were requeued. The seven counts that follow add up to it.
    pub watched: u64,
    /// No worker has claimed them yet.
    pub waiting: u64,
    /// A worker claimed them again and shows signs of life.
    pub picked_up: u64,
    /// No worker holds them, and the table does not say whether they wait or have ended.
    pub not_in_flight: u64,
    /// They ended well.
    pub finished: u64,
    /// They ended badly, or were cancelled.
    pub failed: u64,
    /// A worker claimed them again and is dead too.
    pub stuck_again: u64,
    /// Their rows are gone: finished and deleted by the library, or deleted otherwise.
    pub gone: u64,
    /// The ids of those that are stuck again.
    pub stuck_again_ids: Vec<String>,
}

impl Verified {
    /// The counts in a sentence.
    pub fn sentence(&self) -> String {
        let parts = [
            (self.finished, "finished"),
            (self.picked_up, "picked up"),
            (self.waiting, "still waiting"),
            (self.not_in_flight, "not in flight, waiting or ended"),
            (self.gone, "gone: finished or deleted"),
            (self.failed, "failed"),
            (self.stuck_again, "stuck again"),
        ];
        let parts = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", grouped(*n)));
        let parts = parts.collect::<Vec<_>>().join(", ");
        let waited = age(Duration::try_from_secs_f64(self.waited_seconds).unwrap_or_default());
        format!("of {} requeued, after {waited}: {parts}", grouped(self.watched))
    }

    /// The warning about jobs that are stuck again; `None` if there are none.
    pub fn warning(&self) -> Option<String> {
        let shown: Vec<&str> = self.stuck_again_ids.iter().take(SHOWN).map(String::as_str).collect();
        let more = self.stuck_again.saturating_sub(shown.len() as u64);
        let more = if more > 0 { format!(" and {} more", grouped(more)) } else { String::new() };
        let warning = || format!("stuck again: {}{more}; the workers that claimed them died too", shown.join(", "));
        (self.stuck_again > 0).then(warning)
    }
}
