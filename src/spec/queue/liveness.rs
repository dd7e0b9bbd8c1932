use super::{Column, TimeColumn};
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
}

impl Liveness {
    /// The word for it in JSON and in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Liveness::Lease { .. } => "lease",
            Liveness::Heartbeat { .. } => "heartbeat",
            Liveness::Owner { .. } => "owner",
            Liveness::Age { .. } => "age",
        }
    }

    /// Its threshold; a lease has none.
    pub fn silent_after(&self) -> Option<&SilentAfter> {
        match self {
            Liveness::Lease { .. } => None,
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
            Liveness::Owner { .. } => None,
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
