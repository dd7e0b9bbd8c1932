//! Where a database is: a path, a URL or a libpq string. No message repeats the address, which may hold a password.

use super::Store;
use super::conninfo::{self, AddressError, Author, PostgresAddress, Surroundings};
use super::postgres::PostgresStore;
use super::sqlite::SqliteStore;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
pub enum Address {
    Sqlite {
        path: PathBuf,
        /// Whether the operator allows writing to it on a network file system.
        network_files: bool,
        /// Whether the operator allows the use of a file that has a second name.
        second_name: bool,
        foreign_keys: bool,
    },
    Postgres(Box<PostgresAddress>),
}

/// `user:password@host/db` or `word=...`: a mistyped address, whose password would otherwise show as a file's name.
fn looks_like_an_address(text: &str) -> bool {
    let is_word = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    text.split_once('@').is_some_and(|(before, _)| before.contains(':'))
        || text.split_once('=').is_some_and(|(before, _)| is_word(before.trim()))
}

/// The store at an address. A new engine is one line here.
pub fn open(address: &Address) -> Box<dyn Store> {
    match address {
        Address::Sqlite { path, network_files, second_name, foreign_keys } => {
            Box::new(SqliteStore::new(path, *network_files, *second_name, *foreign_keys))
        }
        Address::Postgres(address) => Box::new(PostgresStore::new((**address).clone())),
    }
}

impl Address {
    /// A file by its only name, not writable on a network file system, and with foreign keys enforced.
    pub fn file(path: impl Into<PathBuf>) -> Address {
        Address::Sqlite { path: path.into(), network_files: false, second_name: false, foreign_keys: true }
    }

    /// Reads a path, a `sqlite:` or `postgres://` URL, or a libpq `key=value` string.
    pub fn parse(text: &str, surroundings: &Surroundings) -> Result<Address, AddressError> {
        Address::read(text, Author::Operator, surroundings)
    }

    /// Reads the value of `DATABASE_URL`: as [`Address::parse`], and with the words of frameworks
    /// ([`FRAMEWORK_WORDS`](super::FRAMEWORK_WORDS)).
    pub fn parse_database_url(text: &str, surroundings: &Surroundings) -> Result<Address, AddressError> {
        Address::read(text, Author::Framework, surroundings)
    }

    /// A Postgres address made of the `PG*` variables and defaults alone.
    pub fn of_environment(surroundings: &Surroundings) -> Result<Address, AddressError> {
        Ok(Address::Postgres(Box::new(PostgresAddress::resolve("", Author::Operator, surroundings)?)))
    }

    /// Its name in messages and JSON, without a password.
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
        if text.starts_with(['"', '\'']) {
            let source = &surroundings.source;
            return Err(AddressError::new(format!(
                "{source} begins with a quote that is part of it: leave the quotes out"
            )));
        }
        if text.contains("://") {
            let source = &surroundings.source;
            return Err(AddressError::new(format!(
                "{source} has an address that cannot be used: its scheme is not known. Give a path, sqlite:PATH, \
                 postgres://... or host=... dbname=..."
            )));
        }
        if text.is_empty() {
            return Err(AddressError::new("the database address is empty"));
        }
        if looks_like_an_address(text) && !Path::new(text).exists() {
            return Err(AddressError::new(
                "this is not a Postgres address, though it looks like one, and there is no such file (it is not shown: \
                 it may hold a password). A URL begins with postgres://, a libpq string with one of libpq's keys; a \
                 path to a new file can be written as sqlite:PATH",
            ));
        }
        if text == ":memory:" {
            return Err(AddressError::new("a database in memory lives and dies with its process: name a file"));
        }
        Ok(Address::file(text))
    }
}
