//! The port: what a database must offer to be read and written.

use super::{Limits, Recorder, Refusal, StoreError, SweepLock, Wanted, WantedRuns};
use crate::model::{
    Batch, BatchReport, Cell, Claim, Engine, Key, LedgerRow, LedgerRun, Loss, Owner, Reading, RestoreBatch, RowImage,
    Timestamp,
};
use crate::preset::{Column, LedgerSpec, LiveSchema, QueueSpec, Runs, Template};
use std::collections::BTreeMap;
use std::time::Duration;

/// A database that can be read and, by whoever asks for a writer, written.
pub trait Store {
    /// The engine behind it.
    fn engine(&self) -> Engine;

    /// What to call it in front of people and in JSON: never with a password.
    fn label(&self) -> &str;

    /// What an operator should know about where this database lies, if there is anything. Nothing is opened for it.
    fn caution(&self) -> Option<Caution>;

    /// Has the database take back what a writer left half done when it died, where it does not do so by itself before a
    /// reader comes. This writes, so it is only for who is about to.
    ///
    /// # Errors
    /// When that needs doing and cannot be done.
    fn recover(&self, limits: &Limits) -> Result<(), StoreError>;

    /// A reader on a connection of its own, inside one consistent snapshot, with one `now`.
    ///
    /// # Errors
    /// When the database cannot be reached or opened for reading.
    fn reader(&self, limits: &Limits) -> Result<Box<dyn Reader>, StoreError>;

    /// A writer on a connection of its own.
    ///
    /// # Errors
    /// When the database cannot be reached or opened for writing.
    fn writer(&self, limits: &Limits) -> Result<Box<dyn Writer>, StoreError>;

    /// Runs statements that create things, all in one transaction. For `init` alone.
    ///
    /// # Errors
    /// When one of them fails; then none has had any effect.
    fn create(&self, limits: &Limits, statements: &[String]) -> Result<(), StoreError>;
}

/// Something about where a database lies that makes working with it unsafe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caution {
    /// A word for it, in the documents of `check`.
    pub id: &'static str,
    /// What it is, for people.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// Whether writing is refused until the operator says that it is safe all the same.
    pub forbids_writing: bool,
}

impl Caution {
    /// Why nothing is written, in one sentence.
    pub fn refusal(&self) -> String {
        format!("{}; {}", self.message, self.hint)
    }
}

/// One look at a database: a snapshot that does not move, and the store's own clock read once.
pub trait Reader {
    /// The store's time of this snapshot; on a standby, the time up to which it has followed its primary.
    fn now(&self) -> Timestamp;

    /// What to call the server that answered, where there were several to choose from.
    fn label(&self) -> Option<&str>;

    /// What there is to know if this is a standby, on which nothing can be applied.
    fn standby(&self) -> Option<Standby>;

    /// Since when the server has been up, on its own clock; `None` where there is no server.
    ///
    /// # Errors
    /// When it cannot be asked.
    fn up_since(&mut self) -> Result<Option<Timestamp>, StoreError>;

    /// The tables of these names, in every schema the catalog shows, with what the role may do with them.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError>;

    /// Asks one boolean question in SQL; NULL and no row count as no.
    ///
    /// # Errors
    /// When the statement fails.
    fn ask(&mut self, sql: &str) -> Result<bool, StoreError>;

    /// Asks for a number with a query of the preset's own; NULL, no row and what is no number count as 0.
    ///
    /// # Errors
    /// When the statement fails.
    fn number(&mut self, spec: &QueueSpec, sql: &Template) -> Result<u64, StoreError>;

    /// The distinct values of the state column; empty where the state is a place.
    ///
    /// # Errors
    /// When the statement fails.
    fn states_in_use(&mut self, spec: &QueueSpec) -> Result<Vec<Cell>, StoreError>;

    /// Hands over claims, each exactly once, in no promised order. For [`Wanted::Suspects`] it may hand over healthy ones
    /// too (the judge decides), but never leaves out one that the judge would call stuck or unknown.
    ///
    /// # Errors
    /// When a statement fails; claims handed over so far stay handed over.
    fn scan(&mut self, spec: &QueueSpec, wanted: &Wanted, each: &mut dyn FnMut(Claim)) -> Result<(), StoreError>;

    /// Looks up jobs by id, in flight or not. Ids that name no row are left out.
    ///
    /// # Errors
    /// When a statement fails.
    fn find(&mut self, spec: &QueueSpec, ids: &[String]) -> Result<Vec<Found>, StoreError>;

    /// Looks up jobs by key, in flight or not: each with whether it is. Keys that name no row are left out.
    ///
    /// # Errors
    /// When a statement fails.
    fn find_keys(&mut self, spec: &QueueSpec, keys: &[Key]) -> Result<Vec<(Claim, bool)>, StoreError>;

    /// Has the database explain every statement that a writer would send for the actions of this queue, and its wake-ups, and
    /// tries what they write on claims as they are; nothing is written. `reason` stands for the one of a run. Gives what the
    /// database refuses.
    ///
    /// # Errors
    /// When the database cannot be asked.
    fn rehearse(&mut self, spec: &QueueSpec, reason: &str) -> Result<Vec<Refusal>, StoreError>;

    /// How many claims are in flight.
    ///
    /// # Errors
    /// When the statement fails.
    fn in_flight(&mut self, spec: &QueueSpec) -> Result<u64, StoreError>;

    /// Hands over who holds claims and how many, in no promised order: `None` for those that name no owner, and for all of
    /// them where the table does not say who holds one. An owner may come in several parts, to be added up. All together
    /// they are [`Reader::in_flight`]. One aggregate over the claims in flight.
    ///
    /// # Errors
    /// When the statement fails.
    fn holders(&mut self, spec: &QueueSpec, each: &mut dyn FnMut(Option<Owner>, u64)) -> Result<(), StoreError>;

    /// Counts the rows of the claim's table by queue and state, and with `by_kind` by kind too; all of them are read for it.
    /// Each of those that there are comes once. None come where the state is a place.
    ///
    /// # Errors
    /// When the statement fails.
    fn tally(&mut self, spec: &QueueSpec, by_kind: bool) -> Result<Vec<Tally>, StoreError>;

    /// Hands over runs that have ended well, each once, in no promised order. `runs` says where they are told.
    ///
    /// # Errors
    /// When the statement fails or its own time is up; runs handed over so far stay handed over.
    fn finished(
        &mut self,
        spec: &QueueSpec,
        runs: &Runs,
        wanted: &WantedRuns,
        each: &mut dyn FnMut(Run),
    ) -> Result<(), StoreError>;

    /// What tells this database from every other one, whatever it is called: for a record that is to be taken back where it
    /// was made. `None` if it cannot be told; then what it is called must do.
    ///
    /// # Errors
    /// When the statement fails.
    fn identity(&mut self) -> Result<Option<String>, StoreError>;

    /// The rows of these keys as a record keeps them, with these columns of the claim's own table; `None` for one that is
    /// not there.
    ///
    /// # Errors
    /// When a statement fails.
    fn images(
        &mut self,
        spec: &QueueSpec,
        columns: &[&Column],
        keys: &[Key],
    ) -> Result<Vec<Option<RowImage>>, StoreError>;

    /// The runs in a ledger, newest first, so many at most.
    ///
    /// # Errors
    /// When the statement fails.
    fn ledger_runs(&mut self, ledger: &LedgerSpec, limit: u64) -> Result<Vec<LedgerRun>, StoreError>;

    /// The ids of the runs in a ledger that begin like that, so many at most.
    ///
    /// # Errors
    /// When the statement fails.
    fn ledger_run_ids(&mut self, ledger: &LedgerSpec, prefix: &str, limit: usize) -> Result<Vec<String>, StoreError>;

    /// Hands over each time that a job of a table was given back to the queue, as far as the ledger tells, oldest first.
    ///
    /// # Errors
    /// When the statement fails.
    fn ledger_losses(
        &mut self,
        ledger: &LedgerSpec,
        job_table: &str,
        each: &mut dyn FnMut(Loss),
    ) -> Result<(), StoreError>;

    /// When a sweep of this queue last moved something, as its ledger tells, if that is no longer ago than so; `None` too
    /// where there is no ledger.
    ///
    /// # Errors
    /// When the statement fails.
    fn last_sweep(&mut self, spec: &QueueSpec, within: Duration) -> Result<Option<Timestamp>, StoreError>;

    /// Hands over what a ledger holds of one run.
    ///
    /// # Errors
    /// When the statement fails.
    fn ledger_rows(
        &mut self,
        ledger: &LedgerSpec,
        run_id: &str,
        each: &mut dyn FnMut(LedgerRow),
    ) -> Result<(), StoreError>;
}

/// The claims in flight counted by the name of their owner, which is that of [`Claim::owner`]: [`Reader::holders`] added up.
/// Memory grows with the number of owners.
///
/// # Errors
/// When the statement fails.
pub fn in_flight_by_owner(
    reader: &mut dyn Reader,
    spec: &QueueSpec,
) -> Result<BTreeMap<Option<String>, u64>, StoreError> {
    let mut sums: BTreeMap<Option<String>, u64> = BTreeMap::new();
    reader.holders(spec, &mut |owner, claims| *sums.entry(owner.map(|owner| owner.name)).or_default() += claims)?;
    Ok(sums)
}

/// How many rows there are of one queue in one state.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally {
    /// The queue, where the table says.
    pub queue: Option<String>,
    /// The kind, where that was asked for and the table says.
    pub kind: Option<String>,
    /// The state as it is stored.
    pub state: Cell,
    /// How many rows.
    pub rows: u64,
}

/// One run that has ended well.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The job's queue, where the table says.
    pub queue: Option<String>,
    /// Its kind, where the table says.
    pub kind: Option<String>,
    /// When it began.
    pub started: Reading,
    /// When it ended.
    pub ended: Reading,
}

/// A server that follows another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standby {
    /// How far it is behind; `None` if it cannot tell, because it has replayed no transaction since it was started.
    pub lag: Option<Duration>,
}

/// A job looked up by id.
#[derive(Debug, Clone)]
pub struct Found {
    /// The row, read as if it were a claim.
    pub claim: Claim,
    /// Whether it is one.
    pub in_flight: bool,
    /// The ids, of those asked for, that mean it: a number or a uuid may be spelled in several ways.
    pub names: Vec<String>,
}

/// The only thing that changes a queue.
pub trait Writer {
    /// Has every batch from here on acquire the sweep lock, where other sessions may write at the same time. A batch that does not
    /// get it, or comes too soon after another run, ends before it does anything, with
    /// [`StoreErrorKind::SweepLockHeld`](super::StoreErrorKind::SweepLockHeld) or [`StoreErrorKind::Busy`](super::StoreErrorKind::Busy).
    fn use_sweep_lock(&mut self, sweep_lock: SweepLock);

    /// Executes one batch in one short transaction: lock and verify, act, record, commit. Gives exactly one result a step,
    /// in order, whatever happens. Never reports success for a row whose precondition did not match, never waits for a row lock.
    ///
    /// Where the commit itself is refused because of a row, every step is [`Outcome::NotTried`](crate::model::Outcome::NotTried)
    /// without a reason to stop: they are to be tried again in smaller batches. A batch of one is then refused.
    ///
    /// The recorder is told of exactly the rows that are about to be committed as moved.
    fn apply(&mut self, spec: &QueueSpec, batch: &Batch<'_>, recorder: &mut dyn Recorder) -> BatchReport<StoreError>;

    /// Sets rows back to what they were, in one short transaction: lock and compare the whole row, one UPDATE of the recorded
    /// columns, record, commit. Gives exactly one result a row, in order, whatever happens: one that is no longer what it must
    /// be is [`Outcome::Changed`](crate::model::Outcome::Changed) and skipped. A commit that is refused ends as in
    /// [`Writer::apply`].
    fn restore(
        &mut self,
        spec: &QueueSpec,
        batch: &RestoreBatch<'_>,
        recorder: &mut dyn Recorder,
    ) -> BatchReport<StoreError>;
}
