//! One connection to a server, and the transactions on it.

use super::answer::GRACE;
use super::connect::{Connected, connect};
use super::connect_error::is_an_answer;
use super::connection_thread::{Cancel, ConnectionThread, NoAnswer, for_at_most};
use super::driver::{Answer, answered, answers, cells, rows};
use super::lost_commit::timeline;
use super::settings::{first, process_and_start, setting};
use super::snapshot::CLUSTER;
use crate::model::{Cell, Timestamp};
use crate::preset::ident::quoted;
use crate::store::conninfo::PostgresAddress;
use crate::store::session::{Answered, Commit, Session};
use crate::store::sql::{Dialect, Postgres, Statement};
use crate::store::{Limits, ServerVersion, StoreError, StoreErrorKind};
use ::postgres::Error;
use futures_util::TryStreamExt as _;
use futures_util::future::{join, join_all, join3};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use tokio_postgres::Client;

/// How long a statement of an action may wait for another session's lock; meanwhile the batch's own locks block
/// workers.
const WAIT: &str = "100ms";
/// The same limit when the action is tried again, which may be often.
const WAIT_AGAIN: &str = "10ms";

pub(super) struct PostgresSession {
    pub(super) connection: ConnectionThread,
    pub(super) cancel: Cancel,
    pub(super) address: PostgresAddress,
    /// User, the server that answered, and database.
    pub(super) label: String,
    pub(super) limits: Limits,
    pub(super) in_transaction: bool,
    /// The queue's schema, while the server has not heard yet that a write transaction begins.
    unsent: Option<String>,
    /// Statements without parameters that go ahead of the next one, in its round trip.
    pub(super) ahead: String,
    /// How long the server has worked on the transaction, as far as its round trips took longer than the shortest did.
    busy: Duration,
    shortest: Duration,
    /// Where the server's log ended as the transaction began, if it says, and the bytes that came until it had acted.
    pub(super) log_end: Option<String>,
    logged: u64,
    /// The server's clock in the transaction.
    now: Option<Timestamp>,
    /// The transaction's id, once an action has written.
    pub(super) transaction_id: Option<String>,
    /// True for a snapshot, which an interrupt ends in the middle of a statement. A writer finishes its batch.
    pub(super) is_reader: bool,
    /// True once the connection is lost, so that the outcome of a commit must be asked on another.
    pub(super) must_reconnect: bool,
    /// Cluster and timeline of the server; `None` before a writer asks, and empty if its role may not.
    pub(super) timeline: Option<String>,
    /// What answered, from the first transaction on.
    pub(super) server_version: ServerVersion,
    /// The cluster and the database in it; `None` before a snapshot begins, or if its role may not ask.
    pub(super) identity: Option<String>,
    /// Names of tables, and what the catalog said of them as the snapshot began.
    pub(super) catalog: (Vec<String>, Vec<Answer>),
    /// The schemas of the role's own search path.
    pub(super) visible: Vec<String>,
    pub(super) own_path: String,
    /// The search path of the queue's triggers and functions, in the current transaction.
    pub(super) path_of_queue: String,
    /// The statements that were explained under the bare search path before they ran under the queue's.
    names_found: BTreeSet<String>,
    /// Dropped with the session, which ends its registration with the interrupt.
    alive: Arc<()>,
}

/// Ends a savepoint, whether its statements failed or not.
pub(super) const END_SHORT: &str = "ROLLBACK TO SAVEPOINT jobdoctor_short; RELEASE SAVEPOINT jobdoctor_short;";
/// Statements that are on their way at once.
const TOGETHER: usize = 16;
/// Rows that are handed over together.
const ROWS_A_PART: usize = 256;
/// How long the rollback of an abandoned transaction may take.
const ROLLBACK: Duration = Duration::from_millis(300);

impl PostgresSession {
    pub(super) fn connect(address: &PostgresAddress, limits: &Limits) -> Result<PostgresSession, StoreError> {
        let Connected { connection, server, label } = connect(address, limits)?;
        Ok(PostgresSession {
            connection,
            cancel: Cancel::new(address, server, limits),
            address: address.clone(),
            label,
            limits: limits.clone(),
            in_transaction: false,
            unsent: None,
            ahead: String::new(),
            busy: Duration::ZERO,
            shortest: Duration::MAX,
            log_end: None,
            logged: 0,
            now: None,
            transaction_id: None,
            is_reader: false,
            must_reconnect: false,
            timeline: None,
            server_version: ServerVersion::default(),
            identity: None,
            catalog: Default::default(),
            visible: Vec::new(),
            own_path: String::new(),
            path_of_queue: String::new(),
            names_found: BTreeSet::new(),
            alive: Arc::new(()),
        })
    }

    /// Has the server end the query under way when the operator interrupts.
    pub(super) fn cancel_on_interrupt(&self) {
        let cancel = self.cancel.clone();
        self.limits.interrupt.on_raise(&self.alive, Box::new(move || cancel.send()));
    }

    /// Runs statements that create things, all in one transaction.
    pub(super) fn create(&mut self, statements: &[String]) -> Result<(), StoreError> {
        self.timeline = self.send(async |client| timeline(client).await).ok().flatten();
        self.batch("BEGIN")?;
        self.in_transaction = true;
        self.create_settings()?;
        for statement in statements {
            self.batch(statement)?;
        }
        match self.commit() {
            Commit::Done => Ok(()),
            Commit::Failed(error) => Err(error),
            Commit::Unknown(error) => Err(StoreError {
                kind: StoreErrorKind::Unknown,
                message: format!("{}; it is unknown whether the tables were created", error.message),
                hint: Some("`jobdoctor check` says whether they are there".to_owned()),
                ..error
            }),
        }
    }

    /// Runs statements without parameters or rows.
    pub(super) fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        let sql = sql.to_owned();
        self.run(async move |client| client.batch_execute(&sql).await)
    }

    /// Runs statements without parameters, all in one round trip, and gives the rows of each one that has any, with
    /// their values as text.
    pub(super) fn answers(&mut self, sql: &str) -> Result<Vec<Answer>, StoreError> {
        let sql = sql.to_owned();
        self.run(async move |client| answers(client, &sql).await)
    }

    /// Runs `work` with the connection, in the same round trip as what begins its transaction; gives up on a server that
    /// answers neither in time nor soon after.
    fn run<T: Send + 'static>(
        &mut self,
        work: impl AsyncFnOnce(&Client) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, StoreError> {
        if self.in_transaction && self.rolls_back() {
            return Err(StoreError::rolled_back());
        }
        let ahead = std::mem::take(&mut self.ahead);
        let Some(schema) = self.unsent.take() else {
            return self.send(async move |client: &Client| {
                if ahead.is_empty() {
                    return work(client).await;
                }
                let (sent, worked) = join(client.batch_execute(&ahead), work(client)).await;
                sent.and(worked)
            });
        };
        // A deferred constraint would refuse the whole batch at its commit, without naming the row.
        let begin = self.begin_with("ISOLATION LEVEL READ COMMITTED", true, "SET CONSTRAINTS ALL IMMEDIATE");
        let (cancel, is_asked) = (self.cancel.clone(), self.timeline.is_some());
        // What fails behind BEGIN aborts the transaction, so that `work` never runs outside of it.
        let (timeline, begun, worked) = self.send(async move |client: &Client| {
            let timeline = async { if is_asked { None } else { timeline(client).await.ok().flatten() } };
            Ok(join3(timeline, begun(client, &begin, &cancel), work(client)).await)
        })?;
        self.timeline.get_or_insert_with(|| timeline.unwrap_or_default());
        let begun = begun.map_err(|error| self.error(&error))?;
        self.now = Some(self.remember(begun, Some(&schema))?.0);
        self.server_version.require_postgres()?;
        worked.map_err(|error| self.error(&error))
    }

    /// Runs `work` in a round trip.
    fn send<T: Send + 'static>(
        &mut self,
        work: impl AsyncFnOnce(&Client) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, StoreError> {
        let sent = Instant::now();
        let answered = self.connection.run(self.keep_waiting(), work);
        let took = sent.elapsed();
        self.shortest = self.shortest.min(took);
        self.busy += took - self.shortest;
        self.answer(answered)
    }

    /// Begins a transaction of that mode, and gives the clock and the answers to `further`.
    pub(super) fn begin_reader(&mut self, mode: &str, further: &str) -> Result<(Timestamp, Vec<Answer>), StoreError> {
        (self.in_transaction, self.transaction_id) = (true, None);
        let (begin, cancel) = (self.begin_with(mode, false, further), self.cancel.clone());
        let (cluster, begun) = self.run(async move |client| {
            let (cluster, begun) = join(answers(client, CLUSTER), begun(client, &begin, &cancel)).await;
            Ok((cluster.unwrap_or_default(), begun?))
        })?;
        self.identity = first(&cluster, 0, 0);
        self.remember(begun, None)
    }

    /// Runs each of `beside` within a savepoint of its own that `begin` begins, and hands over the rows of a statement, all in one round
    /// trip. The driver decodes the rows on the connection's thread, and reads no further than they are taken.
    pub(super) fn streamed(
        &mut self,
        begin: String,
        beside: Vec<Statement>,
        statement: &Statement,
        each: &mut dyn FnMut(&mut [Cell]) -> ControlFlow<()>,
    ) -> Result<Vec<Result<Answered, StoreError>>, StoreError> {
        if self.rolls_back() {
            return Err(StoreError::rolled_back());
        }
        self.send_ahead()?;
        let (statement, keep_waiting, is_reader) = (statement.clone(), self.keep_waiting(), self.is_reader);
        let interrupt = self.limits.interrupt.clone();
        let (send, answers) = mpsc::channel();
        let streamed = self.connection.stream(
            keep_waiting,
            async move |client, take: &dyn Fn(Vec<Vec<Cell>>) -> bool| {
                // Each is sent as it is first polled, which is in their order.
                let first = join_all(beside.iter().map(async |one| {
                    let (begin, end) = (client.batch_execute(&begin), client.batch_execute(END_SHORT));
                    join3(begin, answered(client, one), end).await.1
                }));
                let (first, rows) = join(first, rows(client, &statement)).await;
                let _ = send.send(first);
                let mut rows = pin!(rows?);
                let mut part = Vec::new();
                while let Some(row) = rows.try_next().await? {
                    part.push(cells(&row)?);
                    if part.len() == ROWS_A_PART && !take(std::mem::take(&mut part)) {
                        return Ok(());
                    }
                }
                take(part);
                Ok(())
            },
            |mut part: Vec<Vec<Cell>>| {
                part.iter_mut().try_for_each(|row| each(row))?;
                if is_reader && interrupt.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        self.answer(streamed)?;
        let answers: Vec<Result<Answered, Error>> = answers.try_recv().unwrap_or_default();
        Ok(answers.into_iter().map(|answer| answer.map_err(|error| self.error(&error))).collect())
    }

    /// Sends what was to go with the next statement, such as the beginning of the transaction.
    fn send_ahead(&mut self) -> Result<(), StoreError> {
        if self.unsent.is_none() && self.ahead.is_empty() { Ok(()) } else { self.run(async |_| Ok(())) }
    }
}

impl Drop for PostgresSession {
    /// A pooler closes the server's connection if its client leaves in the middle of a transaction.
    fn drop(&mut self) {
        if self.in_transaction && self.unsent.is_none() {
            let _ = self.connection.run(for_at_most(ROLLBACK), async |client| client.batch_execute("ROLLBACK").await);
        }
    }
}

impl Session for PostgresSession {
    fn dialect(&self) -> &'static dyn Dialect {
        &Postgres
    }

    fn stream(
        &mut self,
        statement: &Statement,
        each: &mut dyn FnMut(&mut [Cell]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.streamed(String::new(), Vec::new(), statement, each).map(drop)
    }

    fn role(&self) -> Option<String> {
        Some(quoted(&self.address.user))
    }

    fn begin(&mut self, schema: &str) -> Result<(), StoreError> {
        (self.in_transaction, self.transaction_id, self.now) = (true, None, None);
        (self.busy, self.logged) = (Duration::ZERO, 0);
        self.unsent = Some(schema.to_owned());
        Ok(())
    }

    fn clock(&mut self) -> Result<Timestamp, StoreError> {
        self.send_ahead()?;
        self.now.ok_or_else(|| StoreError::new(StoreErrorKind::Other, "no transaction has begun"))
    }

    fn load(&self) -> Option<(Duration, u64)> {
        Some((self.busy.max(Duration::from_micros(1)), self.logged))
    }

    fn flight(&mut self, statements: &[Statement]) -> Result<Vec<Answered>, StoreError> {
        let mut answers = Vec::with_capacity(statements.len());
        for some in statements.chunks(TOGETHER) {
            let some = some.to_vec();
            let sent = async move |client: &Client| {
                // Each is sent as it is first polled, which is in their order.
                let answers = join_all(some.iter().map(|statement| answered(client, statement))).await;
                answers.into_iter().collect::<Result<Vec<Answered>, Error>>()
            };
            answers.extend(self.run(sent)?);
        }
        Ok(answers)
    }

    fn act(
        &mut self,
        acts: Vec<Statement>,
        looks: Option<Statement>,
        again: bool,
    ) -> Result<(Vec<Answered>, Option<Answered>), StoreError> {
        let (begin, end) = (self.begin_acting(again), self.end_acting());
        let (count, has_looks) = (acts.len(), looks.is_some());
        // Postgres takes `x.name` for a call `name(x)` where the column is missing, and with the queue's schema on the
        // path that may be another role's function. Where a name is not found without it, nothing else is run.
        let new = acts.iter().filter(|act| !self.names_found.contains(&act.sql));
        let explain = |act: &Statement| Statement { sql: format!("EXPLAIN {}", act.sql), ..act.clone() };
        let new: BTreeMap<String, Statement> = new.map(|act| (act.sql.clone(), explain(act))).collect();
        let wait = Some(setting(&[("lock_timeout", lock_wait(again))])).filter(|_| !new.is_empty());
        let explained = wait.into_iter().chain(new.values().cloned());
        let flight = explained.chain([begin]).chain(acts).chain([end]).chain(looks);
        let mut answers = self.flight(&flight.collect::<Vec<_>>())?;
        self.names_found.extend(new.into_keys());
        let looked = if has_looks { answers.pop() } else { None };
        let end = answers.pop().and_then(|end| end.rows.into_iter().next()).unwrap_or_default();
        self.logged = end.iter().rev().nth(1).and_then(Cell::as_count).unwrap_or(0);
        self.transaction_id = end.last().and_then(Cell::to_text);
        Ok((answers.split_off(answers.len() - count), looked))
    }

    fn commit(&mut self) -> Commit {
        let xid = match self.transaction_id.take() {
            Some(xid) => xid,
            None => match self.value(&Statement::plain("SELECT pg_catalog.pg_current_xact_id()::text")) {
                Ok(xid) => xid.and_then(Cell::into_text).unwrap_or_default(),
                Err(error) => return Commit::Failed(error),
            },
        };
        self.in_transaction = false;
        let commit = self.connection.run(for_at_most(self.limits.left() + GRACE), async |client| {
            // The first statement fails in an aborted transaction, whose COMMIT the driver would report as success.
            let committed = client.batch_execute("SELECT; COMMIT").await;
            let is_refused = committed.as_ref().is_err_and(is_an_answer) && !client.is_closed();
            Ok((committed, is_refused))
        });
        let lost = match commit {
            Ok(Ok((Ok(()), _))) => return Commit::Done,
            Ok(Ok((Err(error), true))) => return Commit::Failed(self.error(&error)),
            // The end of a connection, even with a message, leaves the outcome open.
            Ok(Ok((Err(error), false)) | Err(error)) => self.error(&error),
            Err(NoAnswer) => self.no_answer(),
        };
        self.must_reconnect = true;
        self.resolve(&xid, lost)
    }

    /// Only our own statements end a transaction.
    fn in_transaction(&self) -> bool {
        true
    }

    fn rollback(&mut self) {
        self.in_transaction = false;
        if self.unsent.take().is_none() {
            // A connection on which this fails is lost, and its transaction with it.
            let _ = self.batch("ROLLBACK");
        }
    }
}

/// Whether a value that arrived as text is true.
pub(super) fn is_true(row: &[Cell], n: usize) -> bool {
    matches!(row.get(n), Some(Cell::Text(text)) if text == "t")
}

/// Begins a transaction; from its answer on, a statement of it can be cancelled.
async fn begun(client: &Client, begin: &str, cancel: &Cancel) -> Result<Vec<Answer>, Error> {
    let answers = answers(client, begin).await?;
    if let Some((process, began)) = process_and_start(&answers) {
        cancel.remember(process, began);
    }
    Ok(answers)
}

/// How long a statement of an action may wait for a lock.
pub(super) fn lock_wait(again: bool) -> &'static str {
    if again { WAIT_AGAIN } else { WAIT }
}
