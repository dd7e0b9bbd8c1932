//! What a reader is asked for, and what it answers.

use super::{StoreError, StoreErrorKind};
use crate::model::{Cell, Claim, Reading, Timestamp};
use std::time::Duration;

/// Which claims a scan reads.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// All that are in flight.
    All,
    /// Those that some rule may call stuck or unknown.
    Suspects(Cutoffs),
    /// Those that were claimed, or began to wait, before that instant.
    Before(Timestamp),
}

/// How much a scan reads of each claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What the judge and a listing need. The precondition and the image of the owner's row are empty, which no row
    /// equals: nothing could be done to such a claim.
    ForListing,
    /// Also what a write compares.
    ForAction,
}

/// The instants from which the pre-filter is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cutoffs {
    pub now: Timestamp,
    /// The operator's threshold for all claims; `None` leaves each liveness source its own.
    pub older: Option<Duration>,
    /// The shortest of the thresholds that the operator sets for some claims only.
    pub shortest_older: Option<Duration>,
    /// The shortest run time that the operator allows, for rows that do not state their own.
    pub max_runtime: Option<Duration>,
}

impl Cutoffs {
    /// With one threshold for all claims.
    pub fn at(now: Timestamp, older: Option<Duration>) -> Cutoffs {
        Cutoffs { now, older, shortest_older: None, max_runtime: None }
    }
}

/// Which finished runs are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantedRuns {
    /// Those that ended at or after that instant. Runs whose end is no valid instant may be included.
    Since(Timestamp),
    /// At most so many that ended last, found within this time.
    Newest(u32, Duration),
}

/// The number of rows of one queue in one state.
#[derive(Debug, Clone, PartialEq)]
pub struct RowCount {
    /// The queue, if the table says.
    pub queue: Option<String>,
    /// The kind, if it was asked for and the table says.
    pub kind: Option<String>,
    /// The state as it is stored.
    pub state: Cell,
    pub rows: u64,
}

/// A run that ended well.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedRun {
    /// The job's queue, if the table says.
    pub queue: Option<String>,
    /// Its kind, if the table says.
    pub kind: Option<String>,
    pub started: Reading,
    pub ended: Reading,
}

/// The server that answered a reader.
#[derive(Debug, Clone)]
pub struct LiveServer {
    /// The database's name in messages: user, the server that answered, and database.
    pub label: String,
    pub version: ServerVersion,
    /// Set if this is a standby, to which nothing can be written.
    pub standby: Option<Standby>,
    /// When it started, on its own clock.
    pub up_since: Option<Timestamp>,
}

/// A server that follows a primary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standby {
    /// How far it is behind; `None` if it has replayed no transaction since its start, and so cannot tell.
    pub lag: Option<Duration>,
}

/// A program that answers as a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerVersion {
    /// Its name and version: `PostgreSQL 15.18`.
    pub name: String,
    /// False for a program that only speaks Postgres' protocol: nothing is written there.
    pub is_postgres: bool,
    /// True if the tests run on this version.
    pub is_tested: bool,
}

impl ServerVersion {
    /// Fails for a server on which nothing is written.
    pub(super) fn may_be_written(&self) -> Result<(), StoreError> {
        if self.is_postgres {
            return Ok(());
        }
        let why = format!(
            "{} answered, which is not Postgres: we have no proof that its row locks protect a live job, so jobdoctor \
             only lists it",
            self.name
        );
        Err(StoreError::new(StoreErrorKind::Refused, why))
    }
}

/// A job looked up by id.
#[derive(Debug, Clone)]
pub struct Found {
    /// The row, read as if it were a claim.
    pub claim: Claim,
    pub in_flight: bool,
    /// The given ids that mean this job: a number or a UUID has several spellings.
    pub names: Vec<String>,
}

/// The text at a place of a row; empty for NULL.
pub(super) fn text(row: &[Cell], n: usize) -> String {
    row.get(n).and_then(Cell::to_text).unwrap_or_default()
}

/// The number in a cell that holds a count.
pub(super) fn as_count(cell: &Cell) -> Option<u64> {
    cell.as_integer().and_then(|count| u64::try_from(count).ok())
}

/// Counts the claims in flight by [`Owner::name`](crate::model::Owner): [`Reader::count_by_owner`] added up. Memory
/// grows with the number of owners.
pub fn in_flight_by_owner(
    reader: &mut dyn Reader,
    spec: &QueueSpec,
) -> Result<BTreeMap<Option<String>, u64>, StoreError> {
    let mut sums: BTreeMap<Option<String>, u64> = BTreeMap::new();
    reader
        .count_by_owner(spec, &mut |owner, claims| *sums.entry(owner.map(|owner| owner.name)).or_default() += claims)?;
    Ok(sums)
}
