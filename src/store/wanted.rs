//! What a reader is asked for.

use crate::model::Timestamp;
use std::time::Duration;

/// Which claims a scan is after.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// All that are in flight.
    All,
    /// Those that some rule may call stuck or unknown.
    Suspects(Cutoffs),
    /// Those whose claim, or whose waiting, began before that instant.
    Before(Timestamp),
}

/// From which instants the pre-filter is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cutoffs {
    /// The look's `now`.
    pub now: Timestamp,
    /// The operator's threshold for all; `None` leaves each source its own.
    pub older: Option<Duration>,
    /// The shortest of the thresholds that the operator gives to some claims only; they may be fewer than it matches.
    pub shortest_older: Option<Duration>,
    /// The shortest run time that the operator allows to all or some, where the row does not say.
    pub max_runtime: Option<Duration>,
}

impl Cutoffs {
    /// Those of one threshold for all.
    pub fn at(now: Timestamp, older: Option<Duration>) -> Cutoffs {
        Cutoffs { now, older, shortest_older: None, max_runtime: None }
    }
}

/// Which runs are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantedRuns {
    /// Those that ended at or after that instant. What is no instant may come too: nobody can tell when such a run ended.
    Since(Timestamp),
    /// So many that ended last, found within so much time.
    Newest(u32, Duration),
}
