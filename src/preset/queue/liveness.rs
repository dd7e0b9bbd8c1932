use super::{Column, TimeColumn};
use crate::preset::template::Template;
use std::time::Duration;

/// A source of liveness.
#[derive(Debug, Clone, PartialEq)]
pub enum Liveness {
    /// A lease that ends at `column`, or so many seconds after it as `plus` says.
    Lease {
        /// The end, or the instant that `plus` is added to.
        column: TimeColumn,
        /// Seconds on the row.
        plus: Option<Column>,
    },
    /// A heartbeat on the row.
    Heartbeat {
        /// The heartbeat.
        column: TimeColumn,
        /// How long a silence means death.
        silent_after: SilentAfter,
    },
    /// The owner's row.
    Owner {
        /// How long a silence of the owner means death.
        silent_after: SilentAfter,
    },
    /// Nothing but the time since some instant, the claim as a rule.
    Age {
        /// The instant.
        column: TimeColumn,
        /// How old means death.
        silent_after: SilentAfter,
    },
    /// A lock that a live worker's session holds, and that the database takes back when the session ends.
    Lock {
        /// Whether somebody holds it; NULL where this claim has no such lock.
        held: Template,
        /// What it means if nobody does.
        free: Free,
    },
}

/// What it means that nobody holds a claim's lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Free {
    /// Its worker is gone.
    Dead,
    /// Nothing: the next source is asked.
    Next,
}

impl Liveness {
    /// The word for it in JSON and in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Liveness::Lease { .. } => "lease",
            Liveness::Heartbeat { .. } => "heartbeat",
            Liveness::Owner { .. } => "owner",
            Liveness::Age { .. } => "age",
            Liveness::Lock { .. } => "lock",
        }
    }

    /// Its threshold; a lease and a lock have none.
    pub fn silent_after(&self) -> Option<&SilentAfter> {
        match self {
            Liveness::Lease { .. } | Liveness::Lock { .. } => None,
            Liveness::Heartbeat { silent_after, .. }
            | Liveness::Owner { silent_after }
            | Liveness::Age { silent_after, .. } => Some(silent_after),
        }
    }

    /// The time column on the claim's own row that it reads.
    pub fn column(&self) -> Option<&TimeColumn> {
        match self {
            Liveness::Lease { column, .. } | Liveness::Heartbeat { column, .. } | Liveness::Age { column, .. } => {
                Some(column)
            }
            Liveness::Owner { .. } | Liveness::Lock { .. } => None,
        }
    }
}

/// How long a silence means death.
#[derive(Debug, Clone, PartialEq)]
pub enum SilentAfter {
    /// Longer than this: the library's own default.
    Span(Duration),
    /// Longer than the row says, in seconds.
    Column(Column),
    /// The preset knows no default: the operator must say.
    Required,
}
