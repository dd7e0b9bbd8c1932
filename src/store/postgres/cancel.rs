//! Ending a statement that is under way, when the operator has seen enough.
//!
//! Not by the protocol's own cancel request: the driver hangs up before that is answered, and PgBouncer 1.18 ends itself when
//! somebody does. An ordinary connection asks for it, and only if the server's process is still in our transaction: through a
//! pooler it may be doing somebody else's work by then.

use super::connect::{Connected, connect};
use super::connection_thread::until;
use crate::store::Limits;
use crate::store::conninfo::{PostgresAddress, Server};
use ::postgres::types::Type;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How long asking may take.
const PATIENCE: Duration = Duration::from_secs(3);

const CANCEL: &str = "SELECT pg_catalog.pg_cancel_backend(pid) FROM pg_catalog.pg_stat_activity \
    WHERE pid = $1::int AND xact_start = $2::timestamptz";

/// See the module.
#[derive(Clone)]
pub(super) struct Cancel {
    address: PostgresAddress,
    limits: Limits,
    transaction: Arc<Mutex<Option<Transaction>>>,
}

/// A transaction of ours: the server's process, and when it began, which together nobody else has.
#[derive(Clone)]
struct Transaction {
    process: String,
    began: String,
}

impl Cancel {
    /// For a connection to that server of the address.
    pub(super) fn at(address: &PostgresAddress, server: Server, limits: &Limits) -> Cancel {
        let address = PostgresAddress { servers: vec![server], ..address.clone() };
        Cancel { address, limits: limits.clone(), transaction: Arc::default() }
    }

    /// Takes note of the transaction that is under way.
    pub(super) fn note(&self, process: String, began: String) {
        if let Ok(mut transaction) = self.transaction.lock() {
            *transaction = Some(Transaction { process, began });
        }
    }

    /// Asks the server to end the statement under way, without waiting for what comes of that: one that cannot be ended still
    /// ends with its own time limit.
    pub(super) fn send(&self) {
        let Some(Transaction { process, began }) = self.transaction.lock().ok().and_then(|noted| noted.clone()) else {
            return;
        };
        let (address, limits) = (self.address.clone(), self.limits.for_at_most(PATIENCE));
        // Without a thread the statement still ends with its own time limit.
        let _ = thread::Builder::new().spawn(move || {
            let Ok(Connected { mut line, .. }) = connect(&address, &limits) else { return };
            let _ = line.ask(until(PATIENCE), move |client| {
                client.execute_typed(CANCEL, &[(&process, Type::TEXT), (&began, Type::TEXT)])
            });
        });
    }
}
