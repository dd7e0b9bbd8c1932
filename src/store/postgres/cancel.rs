//! Cancels the statement that is running, when the operator interrupts or the time limit has passed.
//!
//! The protocol's own cancel request is not used: the driver hangs up before the answer, and PgBouncer 1.18 crashes on
//! that. An ordinary connection calls `pg_cancel_backend`, and only while the server process is still in our
//! transaction: behind a pooler the process may already serve another client.

use super::connect::{Connected, connect};
use super::connection_thread::for_at_most;
use crate::store::Limits;
use crate::store::conninfo::{PostgresAddress, Server};
use ::postgres::types::Type;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How long the request may take.
const TIME_LIMIT: Duration = Duration::from_secs(3);

const CANCEL: &str = "SELECT pg_catalog.pg_cancel_backend(pid) FROM pg_catalog.pg_stat_activity \
    WHERE pid = $1::int AND xact_start = $2::timestamptz";

/// Cancels the running statement of one session.
#[derive(Clone)]
pub(super) struct Cancel {
    address: PostgresAddress,
    limits: Limits,
    transaction: Arc<Mutex<Option<Transaction>>>,
}

/// Server process and start time, which together identify a transaction.
#[derive(Clone)]
struct Transaction {
    process: String,
    began: String,
}

impl Cancel {
    /// For a session with this server of the address.
    pub(super) fn new(address: &PostgresAddress, server: Server, limits: &Limits) -> Cancel {
        let address = PostgresAddress { servers: vec![server], ..address.clone() };
        Cancel { address, limits: limits.clone(), transaction: Arc::default() }
    }

    /// Remembers the transaction that has begun.
    pub(super) fn remember(&self, process: String, began: String) {
        if let Ok(mut transaction) = self.transaction.lock() {
            *transaction = Some(Transaction { process, began });
        }
    }

    /// Asks the server to end the running statement, without waiting for the result.
    pub(super) fn send(&self) {
        let Some(Transaction { process, began }) = self.transaction.lock().ok().and_then(|known| known.clone()) else {
            return;
        };
        let (address, limits) = (self.address.clone(), self.limits.for_at_most(TIME_LIMIT));
        // If no thread can be started, the statement still ends with its own time limit.
        let _ = thread::Builder::new().spawn(move || {
            let Ok(Connected { mut connection, .. }) = connect(&address, &limits) else { return };
            let _ = connection.run(for_at_most(TIME_LIMIT), move |client| {
                client.execute_typed(CANCEL, &[(&process, Type::TEXT), (&began, Type::TEXT)])
            });
        });
    }
}
