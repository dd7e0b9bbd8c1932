use super::Timestamp;
use std::time::Duration;

/// What a time column said about one job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// Nothing: NULL, or a sentinel that stands for nothing.
    Absent,
    /// An instant.
    At(Timestamp),
    /// A value that does not fit the column's declared encoding. It is never guessed at.
    Unfit {
        /// The stored value, for people.
        raw: String,
        /// Why it does not fit, as a fragment: "is text, not an integer".
        why: String,
    },
}

impl Reading {
    /// The instant, if there is one.
    pub fn at(&self) -> Option<Timestamp> {
        match self {
            Reading::At(time) => Some(*time),
            Reading::Absent | Reading::Unfit { .. } => None,
        }
    }
}

/// What one liveness source of the preset said about one claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sign {
    /// The lease's end, the heartbeat or the claim time, as the source asks.
    pub at: Reading,
    /// A threshold that the row itself carries (pg-boss keeps one in each job); `None` where it carries none.
    pub silent_after: Option<Duration>,
    /// What the source's lock says, if it asks about one.
    pub lock: LockSign,
}

/// What a lock says about one claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockSign {
    /// Nothing: this claim, or this source, has none.
    Absent,
    /// A session holds it.
    Held,
    /// No session holds it.
    Free,
    /// It cannot be seen from here: this server is a standby, and the locks are held on its primary.
    OutOfSight,
}
