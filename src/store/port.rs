//! The port: what a database must offer to be read and written, what it is asked for, and what it answers.

use super::{Limits, Recorder, Statement, StoreError, StoreErrorKind, SweepLock};
use crate::model::{
    Batch, BatchReport, Cell, Claim, Engine, Key, Owner, Reading, Remedy, RowError, RowImage, Timestamp, WaitingSide,
};
use crate::preset::{Column, Jobs, LiveSchema, Runs, WaitingSpec};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::Duration;

/// A database. Reading and writing are different types, on connections of their own.
pub trait Store {
    fn engine(&self) -> Engine;

    /// The database's name in messages and JSON, without a password.
    fn label(&self) -> &str;

    /// What an operator should know about the place of this database. Opens nothing.
    fn caution(&self) -> Option<Caution>;

    /// Has the database roll back what a killed writer left half done, where it does not do so before a reader comes.
    /// Writes; call only before a write.
    fn recover(&self, limits: &Limits) -> Result<(), StoreError>;

    /// A reader inside one consistent snapshot, with one `now`. A server is asked about the tables of these names on the
    /// way, for [`Reader::live_schema`].
    fn reader(&self, limits: &Limits, tables: &[String]) -> Result<Box<dyn Reader>, StoreError>;

    fn writer(&self, limits: &Limits) -> Result<Box<dyn Writer>, StoreError>;

    /// Runs statements that create things, all in one transaction: if one fails, none has any effect. For `init` only.
    fn create(&self, limits: &Limits, statements: &[String]) -> Result<(), StoreError>;
}

/// Something about the place of a database that makes working with it unsafe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caution {
    /// Its id in the documents of `check`.
    pub id: &'static str,
    pub message: String,
    pub remedy: Remedy,
    /// What is refused until the operator allows it.
    pub forbids: Forbids,
}

/// What an unsafe place forbids; each forbids what stands before it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Forbids {
    Nothing,
    Writing,
    /// Judging its claims, from what may not be all of it.
    Judging,
}

/// The snapshot that a reader reads.
#[derive(Debug, Clone)]
pub struct At {
    /// The database's time at this snapshot; on a standby, the time up to which it has followed its primary.
    pub now: Timestamp,
    /// What answered; `None` if there is no server.
    pub server: Option<LiveServer>,
    /// What tells this database from every other, whatever its name: a record is undone only where it was made. `None` if
    /// the role may not ask.
    pub identity: Option<String>,
}

/// One consistent snapshot of a database, with the database's clock read once: the jobs of a view, and the rows of any other
/// statement, of which `impl dyn Reader` makes what else is asked. The `Errors` of every method: its statement fails, or
/// the time limit or an interrupt ends it.
pub trait Reader {
    fn at(&self) -> &At;

    /// The tables of these names, in every schema the catalog shows, with the role's rights on them.
    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError>;

    /// Hands over the rows of a statement as they come, until `each` breaks off: their values may be taken out. With a time
    /// it may take so long, and the snapshot goes on after an error.
    fn rows(
        &mut self,
        statement: &Statement,
        time: Option<Duration>,
        each: &mut dyn FnMut(&mut [Cell]) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// Has the database explain a statement that a writer would send, and never runs it. The snapshot goes on after an error.
    fn explain(&mut self, jobs: &Jobs, statement: &Statement) -> Result<(), StoreError>;

    /// The distinct values of the state column; none if the state is a place.
    fn states_in_use(&mut self, jobs: &Jobs) -> Result<Vec<Cell>, StoreError>;

    /// The number of rows of the claim's own table in these stored states, counted no further than `most`.
    fn count_in_states(&mut self, jobs: &Jobs, states: &[String], most: u64) -> Result<u64, StoreError>;

    /// Hands over claims, each exactly once, in no promised order. For [`Wanted::Suspects`] healthy claims may be among
    /// them, but none that the judge would call stuck or unknown is left out. Claims that were handed over before an
    /// error stay so. Counts all claims in flight by owner on its way, but those alone that it reads before `each` breaks
    /// off, and for [`Wanted::Before`] and [`Wanted::Since`] those that it hands over. Where a server would send all rows
    /// even so, it is asked for the wanted claims alone, and for `most` of them.
    fn scan_until(
        &mut self,
        scan: Scan<'_>,
        each: &mut dyn FnMut(Claim) -> ControlFlow<()>,
    ) -> Result<Holders, StoreError>;

    /// Looks up jobs by id, in flight or not. An id without a row is left out. The snapshot goes on after an error.
    fn find(&mut self, jobs: &Jobs, ids: &[String]) -> Result<Vec<Found>, StoreError>;

    /// Looks up jobs by key, and says of each whether it is in flight. A key without a row is left out.
    fn find_keys(&mut self, jobs: &Jobs, keys: &[Key]) -> Result<Vec<(Claim, bool)>, StoreError>;

    fn in_flight(&mut self, jobs: &Jobs) -> Result<u64, StoreError>;

    /// Hands over each owner with a number of claims, in no promised order; `None` for claims without an owner. An
    /// owner may come several times, to be added up. The sum is [`Reader::in_flight`].
    fn count_by_owner(&mut self, jobs: &Jobs, each: &mut dyn FnMut(Option<&Owner>, u64)) -> Result<(), StoreError>;

    /// Counts the rows of the claim's table by queue, state and, with `by_kind`, kind. Reads the whole table. Nothing
    /// if the state is a place.
    fn count_by_state(&mut self, jobs: &Jobs, by_kind: bool) -> Result<Vec<RowCount>, StoreError>;

    /// Hands over runs that ended well, each once, in no promised order. `runs` says where the queue keeps them.
    fn finished(
        &mut self,
        jobs: &Jobs,
        runs: &Runs,
        wanted: &WantedRuns,
        each: &mut dyn FnMut(FinishedRun),
    ) -> Result<(), StoreError>;

    /// The rows of these keys as a record keeps them, with these columns of the claim's own table; `None` for a missing
    /// row.
    fn images(&mut self, jobs: &Jobs, columns: &[&Column], keys: &[Key]) -> Result<Vec<Option<RowImage>>, StoreError>;
}

/// Changes a queue; nothing else does.
pub trait Writer {
    /// Makes every later batch acquire the sweep lock, if other sessions may write at the same time. A batch that does
    /// not get it, or comes too soon after another run, ends before it does anything, with
    /// [`StoreErrorKind::SweepLockHeld`] or [`StoreErrorKind::Busy`].
    fn use_sweep_lock(&mut self, sweep_lock: SweepLock);

    /// Makes every later [`Writer::apply`] end with a rollback instead of the commit, once the database has checked
    /// what it checks at a commit: [`Outcome::Moved`](crate::model::Outcome::Moved) means then that it would have moved
    /// the row.
    fn roll_back(&mut self);

    /// How long no other connection has written, as far as that shows; zero on an engine where writers do not keep each
    /// other out.
    fn quiet(&mut self) -> Duration;

    /// Asks which of these jobs cannot be requeued because another row holds a unique key; each by its place, with the
    /// refusal. A second connection to a SQLite file would drop the locks of this process.
    fn key_holders(&mut self, jobs: &Jobs, keys: &[Key]) -> Result<Vec<(usize, RowError)>, StoreError>;

    /// Executes one batch in one short transaction: verify and lock, act, record, commit. Always gives exactly one
    /// result for each step, in order. Never reports success for a row whose precondition did not match, never waits
    /// for a row lock.
    ///
    /// If the commit itself is refused because of a row, every step is
    /// [`Outcome::NotTried`](crate::model::Outcome::NotTried) without a reason to stop: try them again in smaller
    /// batches. A batch of one step is refused instead.
    ///
    /// A batch of steps that restore rows locks and compares the whole row, and updates the recorded columns.
    ///
    /// The recorder gets exactly the rows that are about to be committed as moved.
    fn apply(&mut self, jobs: &Jobs, batch: &Batch<'_>, recorder: &mut dyn Recorder) -> BatchReport<StoreError>;
}

/// Which claims a scan reads.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// All that are in flight.
    All,
    /// Those that some rule may call stuck or unknown.
    Suspects(Cutoffs),
    /// Those that were claimed, or began to wait, before that instant.
    Before(Timestamp),
    /// Those that were interrupted at or after that instant, or at an unknown time.
    Since(Timestamp),
}

/// What a scan reads.
pub struct Scan<'a> {
    pub jobs: &'a Jobs,
    pub wanted: Wanted,
    pub detail: Detail,
    /// The most claims that a server is asked for.
    pub most: Option<u64>,
    /// Reads the waiting side on the way, in no further round trip; what of it cannot be read within a moment is named there,
    /// and is no error.
    pub waiting: Option<(&'a WaitingSpec, &'a mut WaitingSide)>,
}

impl<'a> Scan<'a> {
    pub fn of(jobs: &'a Jobs, wanted: Wanted, detail: Detail) -> Scan<'a> {
        Scan { jobs, wanted, detail, most: None, waiting: None }
    }
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
    pub(super) fn require_postgres(&self) -> Result<(), StoreError> {
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

/// How many claims each owner holds, `None` for those without an owner, as a scan counted them.
#[derive(Debug, Clone, Default)]
pub struct Holders {
    claims: u64,
    owners: HashMap<Option<Owner>, u64>,
}

impl Holders {
    /// The most owners that are counted apart, in some 2 MB.
    const MOST: usize = 10_000;

    /// Counts a claim. Owners are cloned only when they come first.
    pub fn add(&mut self, owner: &Option<Owner>) {
        self.claims += 1;
        if let Some(claims) = self.owners.get_mut(owner) {
            *claims += 1;
        } else if self.owners.len() <= Holders::MOST {
            // One more than are kept apart tells that there are more.
            self.owners.insert(owner.clone(), 1);
        }
    }

    /// All claims, of whatever owner.
    pub fn claims(&self) -> u64 {
        self.claims
    }

    /// Each owner with its claims; `None` if there were too many owners to count them apart.
    pub fn owners(&self) -> Option<impl Iterator<Item = (Option<&Owner>, u64)>> {
        let is_whole = self.owners.len() <= Holders::MOST;
        is_whole.then(|| self.owners.iter().map(|(owner, claims)| (owner.as_ref(), *claims)))
    }
}
