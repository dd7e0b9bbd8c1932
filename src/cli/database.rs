//! The database that the settings name, if they name one.

use super::error::CliError;
use super::exit::Exit;
use crate::store::{Address, Store, open};

/// See the module.
pub struct Database {
    /// Its address; `None` if none is named.
    pub address: Option<Address>,
    /// The targets that could have been named.
    pub targets: Vec<String>,
}

impl Database {
    /// Its store.
    ///
    /// # Errors
    /// When none is named.
    pub fn store(&self) -> Result<Box<dyn Store>, CliError> {
        let address = self.address.as_ref().ok_or_else(|| {
            let error = CliError::new(Exit::Usage, "no database is named");
            if !self.targets.is_empty() {
                let names = self.targets.join(", ");
                return error.hint(format!("the config file has targets: {names}; say which with --target, or default_target"));
            }
            error.hint(
                "say --db queue.db, --db postgres://user@host/app or --db 'host=... dbname=...'; or set JOBDOCTOR_DB, a \
                 target in the config file, DATABASE_URL, or PGHOST and PGDATABASE, or PGSERVICE",
            )
        })?;
        Ok(open(address))
    }

    /// What is not as it should be about the way it is reached, though it stops nothing.
    pub fn warnings(&self) -> &[String] {
        match &self.address {
            Some(Address::Postgres(address)) => &address.warnings,
            Some(Address::Sqlite { .. }) | None => &[],
        }
    }

    /// What `DATABASE_URL` says to a framework alone, as a sentence; none if nothing.
    pub fn dropped(&self) -> Option<String> {
        let Some(Address::Postgres(address)) = &self.address else { return None };
        let dropped = (!address.dropped.is_empty()).then(|| address.dropped.join(", "));
        dropped.map(|words| format!("of DATABASE_URL was dropped what says nothing to a server: {words}"))
    }
}
