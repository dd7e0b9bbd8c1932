//! A connection on a thread of its own, so that no caller waits for ever for a server that has stopped answering.
//!
//! The driver waits for an answer without a limit. The server's own limits end a statement in time, but not if the
//! server is frozen or the network drops its packets.

use super::connect::{Connected, connect};
use super::driver::Driver;
use crate::store::Limits;
use crate::store::conninfo::{PostgresAddress, Server};
use ::postgres::Error;
use ::postgres::types::Type;
use std::ops::ControlFlow;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use tokio_postgres::Client;

/// How often a waiting caller's condition is checked.
const POLL: Duration = Duration::from_millis(50);
const CLOSE: Duration = Duration::from_millis(300);

/// How many parts a streaming thread may be ahead.
const PARTS_AHEAD: usize = 4;

type Task = Box<dyn FnOnce(&mut Driver) + Send>;

pub(super) struct ConnectionThread {
    /// `None` once the server has not answered in time.
    tasks: Option<mpsc::Sender<Task>>,
    closed: mpsc::Receiver<()>,
}

/// The server did not answer while the caller waited. Whether it carried out the request is unknown.
pub(super) struct NoAnswer;

impl ConnectionThread {
    pub(super) fn start(mut driver: Driver) -> ConnectionThread {
        let (tasks, received) = mpsc::channel::<Task>();
        let (send, closed) = mpsc::channel();
        thread::spawn(move || {
            while let Ok(task) = received.recv() {
                task(&mut driver);
            }
            driver.close();
            // The session may not have waited for it.
            let _ = send.send(());
        });
        ConnectionThread { tasks: Some(tasks), closed }
    }

    /// Runs `work` with the connection and waits for its end while `keep_waiting` holds. After one request without an
    /// answer the connection is not used again.
    pub(super) fn run<T: Send + 'static>(
        &mut self,
        keep_waiting: impl Fn() -> bool,
        work: impl AsyncFnOnce(&Client) -> Result<T, Error> + Send + 'static,
    ) -> Result<Result<T, Error>, NoAnswer> {
        let tasks = self.tasks.as_ref().ok_or(NoAnswer)?;
        let (send, answer) = mpsc::channel();
        let task = Box::new(move |driver: &mut Driver| {
            // The caller may have given up.
            let _ = send.send(driver.run(work));
        });
        tasks.send(task).map_err(|_| NoAnswer)?;
        let answered = wait(&answer, keep_waiting);
        if answered.is_none() {
            self.tasks = None;
        }
        answered.ok_or(NoAnswer)
    }

    /// As [`ConnectionThread::run`], for work that produces parts, which are handed to `each` while it goes on, until
    /// that breaks off. The thread is never more than a few parts ahead. `work` ends once its parts are no longer
    /// taken.
    pub(super) fn stream<T: Send + 'static>(
        &mut self,
        keep_waiting: impl Fn() -> bool,
        work: impl AsyncFnOnce(&Client, &dyn Fn(T) -> bool) -> Result<(), Error> + Send + 'static,
        mut each: impl FnMut(T) -> ControlFlow<()>,
    ) -> Result<Result<(), Error>, NoAnswer> {
        let tasks = self.tasks.as_ref().ok_or(NoAnswer)?;
        let (send, parts) = mpsc::sync_channel(PARTS_AHEAD);
        let task = Box::new(move |driver: &mut Driver| {
            let end = driver.run(async |client| work(client, &|part| send.send(Part::Some(part)).is_ok()).await);
            // The caller may have broken off.
            let _ = send.send(Part::End(end));
        });
        tasks.send(task).map_err(|_| NoAnswer)?;
        loop {
            match wait(&parts, &keep_waiting) {
                Some(Part::Some(part)) => {
                    if each(part).is_break() {
                        return Ok(Ok(()));
                    }
                }
                Some(Part::End(end)) => return Ok(end),
                None => {
                    self.tasks = None;
                    return Err(NoAnswer);
                }
            }
        }
    }
}

enum Part<T> {
    Some(T),
    End(Result<(), Error>),
}

impl Drop for ConnectionThread {
    fn drop(&mut self) {
        if self.tasks.take().is_some() {
            // A server that misses the goodbye notices the closed socket.
            let _ = self.closed.recv_timeout(CLOSE);
        }
    }
}

/// Runs `work` on a thread of its own and waits for its end while `keep_waiting` holds. An abandoned thread ends with
/// the process.
pub(super) fn on_own_thread<T: Send + 'static>(
    keep_waiting: impl Fn() -> bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (send, answer) = mpsc::channel();
    thread::spawn(move || {
        let _ = send.send(work());
    });
    wait(&answer, keep_waiting)
}

fn wait<T>(answer: &mpsc::Receiver<T>, keep_waiting: impl Fn() -> bool) -> Option<T> {
    loop {
        match answer.recv_timeout(POLL) {
            Ok(answer) => return Some(answer),
            Err(RecvTimeoutError::Timeout) if keep_waiting() => {}
            Err(_) => return None,
        }
    }
}

/// A condition that holds for this long from now.
pub(super) fn for_at_most(duration: Duration) -> impl Fn() -> bool {
    let end = Instant::now().checked_add(duration);
    move || end.is_none_or(|end| Instant::now() < end)
}

/// How long the request may take.
const TIME_LIMIT: Duration = Duration::from_secs(3);

const CANCEL: &str = "SELECT pg_catalog.pg_cancel_backend(pid) FROM pg_catalog.pg_stat_activity \
    WHERE pid = $1::int AND xact_start = $2::timestamptz";

/// Cancels the running statement of one session.
///
/// The protocol's own cancel request is not used: the driver hangs up before the answer, and PgBouncer 1.18 crashes on
/// that. An ordinary connection calls `pg_cancel_backend`, and only while the server process is still in our
/// transaction: behind a pooler the process may already serve another client.
#[derive(Clone)]
pub(super) struct Cancel {
    address: PostgresAddress,
    limits: Limits,
    /// The server process and the start of its transaction, which together identify the transaction.
    transaction: Arc<Mutex<Option<(String, String)>>>,
}

impl Cancel {
    pub(super) fn new(address: &PostgresAddress, server: Server, limits: &Limits) -> Cancel {
        let address = PostgresAddress { servers: vec![server], ..address.clone() };
        Cancel { address, limits: limits.clone(), transaction: Arc::default() }
    }

    pub(super) fn remember(&self, process: String, began: String) {
        if let Ok(mut transaction) = self.transaction.lock() {
            *transaction = Some((process, began));
        }
    }

    /// Asks the server to end the running statement, without waiting for the result.
    pub(super) fn send(&self) {
        let Some((process, began)) = self.transaction.lock().ok().and_then(|known| known.clone()) else { return };
        let (address, limits) = (self.address.clone(), self.limits.for_at_most(TIME_LIMIT));
        // If no thread can be started, the statement still ends with its own time limit.
        let _ = thread::Builder::new().spawn(move || {
            let Ok(Connected { mut connection, .. }) = connect(&address, &limits) else { return };
            let _ = connection.run(for_at_most(TIME_LIMIT), async move |client| {
                client.execute_typed(CANCEL, &[(&process, Type::TEXT), (&began, Type::TEXT)]).await
            });
        });
    }
}
