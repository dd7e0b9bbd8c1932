//! The waiting side of a queue, as a snapshot read it.

use super::Reading;

/// What a snapshot read of the waiting side. `None` for a part that the queue does not tell, or that could not be read.
#[derive(Debug, Clone, Default)]
pub struct WaitingSide {
    /// Due jobs by queue, with the time since when the oldest waits; [`WaitingSide::MOST`] at most, all of them unless it
    /// is as many.
    pub due: Option<Vec<QueueRows>>,
    /// Jobs that are due and that something must move on first, the same way.
    pub staged: Option<Vec<QueueRows>>,
    /// Claims in flight by queue, with the newest time of a claim.
    pub in_flight: Option<Vec<QueueRows>>,
    /// Runs that ended well in the last [`WaitingSide::LATELY`], with the newest end.
    pub done: Option<Vec<QueueRows>>,
    /// The names of paused queues; `*` is all.
    pub paused: Option<Vec<String>>,
    pub workers: Option<Vec<Worker>>,
    /// Why a part could not be read.
    pub unread: Vec<String>,
}

impl WaitingSide {
    /// The most jobs of a part that are counted.
    pub const MOST: u64 = 10_000;
    /// The time in which finished runs are counted.
    pub const LATELY: std::time::Duration = std::time::Duration::from_secs(300);

    /// True if there are more due jobs than were read.
    pub fn is_cut(&self) -> bool {
        let is_over = |part: &Option<Vec<QueueRows>>| {
            part.iter().flatten().map(|rows| rows.rows).sum::<u64>() > WaitingSide::MOST
        };
        is_over(&self.due) || is_over(&self.staged)
    }
}

/// Rows of one queue, and the oldest or the newest of a time of theirs.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueRows {
    pub queue: Option<String>,
    pub rows: u64,
    pub at: Reading,
}

/// The row of a worker.
#[derive(Debug, Clone, PartialEq)]
pub struct Worker {
    /// The queues that it serves: names separated by commas, `*` at the end of one for any rest, `-` before one for all
    /// but this; `None` is all.
    pub queues: Option<String>,
    /// Its heartbeat; `None` where the row is there only while it lives.
    pub beat: Option<Reading>,
}

impl Worker {
    pub fn serves(&self, queue: Option<&str>) -> bool {
        let Some(names) = &self.queues else { return true };
        let queue = queue.unwrap_or_default();
        let is_meant = |name: &str| match name.strip_suffix('*') {
            Some(begin) => queue.starts_with(begin),
            None => name == queue,
        };
        let (excluded, named): (Vec<&str>, Vec<&str>) =
            names.split(',').map(str::trim).filter(|name| !name.is_empty()).partition(|name| name.starts_with('-'));
        let is_excluded = excluded.iter().any(|name| is_meant(name.trim_start_matches('-')));
        !is_excluded && (named.iter().any(|name| is_meant(name)) || named.is_empty() && !excluded.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::Worker;

    #[test]
    fn a_worker_serves_the_queues_it_names() {
        let serves = |names: &str, queue| Worker { queues: Some(names.to_owned()), beat: None }.serves(Some(queue));
        assert!(serves("*", "mail") && serves("mail", "mail") && serves("a, mail", "mail") && serves("ma*", "mail"));
        assert!(serves("-slow", "mail") && serves("*,-slow", "mail") && serves("-slow,-late", "mail"));
        assert!(
            !serves("mail", "mails") && !serves("mails", "mail") && !serves("", "mail") && !serves("-mail", "mail")
        );
        assert!(!serves("*,-ma*", "mail") && !serves("b*", "mail"));
        assert!(Worker { queues: None, beat: None }.serves(None));
    }
}
