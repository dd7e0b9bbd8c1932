//! The waiting side of a queue: which jobs are due, and what shows that workers take them.

use super::{Expr, Jobs, TimeColumn};
use crate::preset::field::Written;
use crate::preset::template::{Column, Template};
use std::time::Duration;

/// How the waiting side is read. A part is `None` where the library does not keep it, or this database lacks its table.
#[derive(Debug, Clone)]
pub struct WaitingSpec {
    pub due: DueSpec,
    /// Jobs whose time has come and that something must move on before a worker can take them, and who does that.
    pub staged: Option<(String, DueSpec)>,
    /// Gives the names of paused queues; `*` is all.
    pub paused: Option<Template>,
    pub workers: Option<WorkersSpec>,
    /// True if an index leads to the runs that ended last.
    pub ends_are_indexed: bool,
}

/// What makes a row wait for a worker, now or later, or have ended, where no state says it. A row that is in flight is
/// neither.
#[derive(Debug, Clone, Default)]
pub struct Conditions {
    pub waiting: Option<Template>,
    /// Where such a row stands, under its key, if not in the claims' own table.
    pub waiting_in: Option<(Template, Vec<Column>)>,
    /// `None` if all has ended that is neither in flight nor waits.
    pub ended: Option<Template>,
}

/// Jobs that a worker could take now.
#[derive(Debug, Clone)]
pub struct DueSpec {
    /// Without a key where such a row has not that of the claim. Their deadline is the time before which they are not due,
    /// and their evidence says why one whose time has come cannot be taken; NULL where nothing holds it.
    pub jobs: Jobs,
    /// Not before this instant.
    pub at: Option<TimeColumn>,
    /// True if NULL there may mean at once.
    pub at_may_be_null: bool,
    pub since: TimeColumn,
    /// How long a due job usually waits for an idle worker.
    pub delay: Duration,
    /// True if an index gives the job that is due first.
    pub is_ordered: bool,
}

/// The rows of workers, under the alias `w`.
#[derive(Debug, Clone)]
pub struct WorkersSpec {
    /// Their table, by its logical name.
    pub table: String,
    pub filter: Option<Template>,
    /// The queues that one serves, as [`Worker`](crate::model::Worker) spells them; `None` is all.
    pub queues: Option<Expr>,
    /// Its heartbeat, and after which silence it is dead; `None` where the row is there only while it lives.
    pub heartbeat: Option<(TimeColumn, Duration)>,
}

/// Jobs that wait in one state, and since when. No worker holds them.
#[derive(Debug, Clone, PartialEq)]
pub struct Waits {
    pub state: Written,
    /// The column that says since when; what is NULL there does not wait.
    pub since: Written,
}

impl Waits {
    pub fn is(&self, state: &Written, since: &Written) -> bool {
        (&self.state.text, &self.since.text) == (&state.text, &since.text)
    }
}

impl Jobs {
    /// The time of due jobs whose zone is not known in the snapshot of these claims.
    pub fn unknown_zone_of_due<'w>(&self, waiting: &'w WaitingSpec) -> Option<&'w TimeColumn> {
        let due = &waiting.due;
        due.at.iter().chain([&due.since]).find(|time| self.has_unknown_zone(time))
    }
}
