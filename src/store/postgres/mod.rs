//! Postgres, over the synchronous `postgres` crate. Works through poolers in transaction mode: no named statements, no
//! session state, every setting made inside its transaction.

mod catalog;
mod error;
mod session;
mod value;

use super::apply::SqlWriter;
use super::reader::SqlReader;
use super::{Limits, Reader, Store, StoreError, Writer};
use crate::model::Engine;
use ::postgres::Config;
use session::PostgresSession;

/// A database behind a server.
pub(super) struct PostgresStore {
    config: Config,
    label: String,
}

impl PostgresStore {
    /// A store for that address. Nothing is connected yet.
    pub(super) fn new(config: Config, label: String) -> PostgresStore {
        PostgresStore { config, label }
    }
}

impl Store for PostgresStore {
    fn engine(&self) -> Engine {
        Engine::Postgres
    }

    fn label(&self) -> &str {
        &self.label
    }

    fn reader(&self, limits: &Limits) -> Result<Box<dyn Reader>, StoreError> {
        let mut session = PostgresSession::connect(&self.config, &self.label, limits)?;
        session.cancel_on_interrupt();
        let now = session.begin_read()?;
        Ok(Box::new(SqlReader { session, now, interrupt: limits.interrupt.clone() }))
    }

    fn writer(&self, limits: &Limits) -> Result<Box<dyn Writer>, StoreError> {
        Ok(Box::new(SqlWriter { session: PostgresSession::connect(&self.config, &self.label, limits)? }))
    }

    fn create(&self, limits: &Limits, statements: &[String]) -> Result<(), StoreError> {
        PostgresSession::connect(&self.config, &self.label, limits)?.create(statements)
    }
}
