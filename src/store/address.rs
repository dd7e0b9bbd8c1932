//! Where a database is: a path, a URL or a libpq string. No message ever repeats what was given, because it may hold a
//! password.

use super::conninfo::{self, AddressError, Author, PostgresAddress, Surroundings};
use std::path::PathBuf;

/// Where a database is.
#[derive(Debug, Clone)]
pub enum Address {
    /// A SQLite file.
    Sqlite {
        /// Where it is.
        path: PathBuf,
        /// Whether the operator allows writing to it on a network file system.
        network_files: bool,
    },
    /// A Postgres server and database.
    Postgres(Box<PostgresAddress>),
}

impl Address {
    /// A file. Writing to it on a network file system is not allowed yet.
    pub fn file(path: impl Into<PathBuf>) -> Address {
        Address::Sqlite { path: path.into(), network_files: false }
    }

    /// Reads a path, a `sqlite:` or `postgres://` URL, or a libpq `key=value` string.
    ///
    /// # Errors
    /// When it is a Postgres address that cannot be read, leads to a service file that cannot, or asks for what is not
    /// offered.
    pub fn parse(text: &str, surroundings: &Surroundings) -> Result<Address, AddressError> {
        Address::read(text, Author::Operator, surroundings)
    }

    /// Reads what `DATABASE_URL` holds: the same, and what frameworks put into it (see
    /// [`FRAMEWORK_WORDS`](super::FRAMEWORK_WORDS)).
    ///
    /// # Errors
    /// See [`Address::parse`].
    pub fn parse_database_url(text: &str, surroundings: &Surroundings) -> Result<Address, AddressError> {
        Address::read(text, Author::Framework, surroundings)
    }

    /// A Postgres address of which the environment says every part.
    ///
    /// # Errors
    /// See [`Address::parse`].
    pub fn of_environment(surroundings: &Surroundings) -> Result<Address, AddressError> {
        Ok(Address::Postgres(Box::new(PostgresAddress::resolve("", Author::Operator, surroundings)?)))
    }

    /// What to call it in front of people and in JSON: never with a password.
    pub fn label(&self) -> String {
        match self {
            Address::Sqlite { path, .. } => path.display().to_string(),
            Address::Postgres(address) => address.label(),
        }
    }

    fn read(text: &str, author: Author, surroundings: &Surroundings) -> Result<Address, AddressError> {
        let rails = text.strip_prefix("sqlite3:").filter(|_| author == Author::Framework);
        if let Some(path) = rails.or(text.strip_prefix("sqlite:")) {
            let path = path.strip_prefix("//").unwrap_or(path);
            return match path {
                "" => Err(AddressError::new("a `sqlite:` address needs a path: sqlite:queue.db")),
                path => Ok(Address::file(path)),
            };
        }
        if conninfo::is_url(text, author) || conninfo::is_key_value(text) {
            return Ok(Address::Postgres(Box::new(PostgresAddress::resolve(text, author, surroundings)?)));
        }
        if let Some((scheme, _)) = text.split_once("://") {
            let scheme: String = scheme.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '+').take(20).collect();
            return Err(AddressError::new(format!(
                "the scheme `{scheme}` is not known: give a path, sqlite:PATH, postgres://... or host=... dbname=..."
            )));
        }
        if text.is_empty() {
            return Err(AddressError::new("the database address is empty"));
        }
        if text == ":memory:" {
            return Err(AddressError::new("a database in memory lives and dies with its process: name a file"));
        }
        Ok(Address::file(text))
    }
}
