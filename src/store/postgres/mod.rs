//! The Postgres adapter, on the asynchronous client beneath the `postgres` crate. It works through poolers in transaction
//! mode: no named statements, no session state, every setting made inside its transaction.

mod answer;
mod catalog;
mod connect;
mod connect_error;
mod connection_thread;
mod driver;
mod lost_commit;
mod session;
mod settings;
mod snapshot;
pub mod tls;
mod value;

use super::batch::SqlWriter;
use super::reader::SqlReader;
use super::{At, Caution, Limits, PostgresAddress, Reader, Store, StoreError, Writer};
use crate::model::Engine;
use session::PostgresSession;

pub(super) struct PostgresStore {
    address: PostgresAddress,
    label: String,
}

impl PostgresStore {
    /// A store for that address; connects to nothing.
    pub(super) fn new(address: PostgresAddress) -> PostgresStore {
        PostgresStore { label: address.label(), address }
    }
}

impl Store for PostgresStore {
    fn engine(&self) -> Engine {
        Engine::Postgres
    }

    fn label(&self) -> &str {
        &self.label
    }

    /// The place of a server needs no caution.
    fn caution(&self) -> Option<Caution> {
        None
    }

    /// A server recovers by itself.
    fn recover(&self, _limits: &Limits) -> Result<(), StoreError> {
        Ok(())
    }

    fn reader(&self, limits: &Limits, tables: &[String]) -> Result<Box<dyn Reader>, StoreError> {
        let mut session = PostgresSession::connect(&self.address, limits)?;
        session.cancel_on_interrupt();
        let (now, server) = session.begin_read(tables)?;
        let at = At { now, server: Some(server), identity: session.identity.clone() };
        Ok(Box::new(SqlReader { session, at, interrupt: limits.interrupt.clone() }))
    }

    fn writer(&self, limits: &Limits) -> Result<Box<dyn Writer>, StoreError> {
        Ok(Box::new(SqlWriter::on(PostgresSession::connect(&self.address, limits)?)))
    }

    fn create(&self, limits: &Limits, statements: &[String]) -> Result<(), StoreError> {
        PostgresSession::connect(&self.address, limits)?.create(statements)
    }
}
