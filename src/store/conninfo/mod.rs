//! libpq's front end: how `psql` finds a server, by the same rules.
//!
//! URLs, `key=value` strings, the `PG*` variables, service files and password files become one table of keys. The
//! driver gets its values through setters, never a string that was put together again. The rules are those of libpq 15
//! to 17 (`fe-connect.c`); a key that cannot be honoured is refused by name.

mod keys;
mod parse;
mod passwords;
mod postgres_address;
mod service;
mod settings;
mod tls;

pub use postgres_address::{PostgresAddress, Server, ServerPlace, TargetAttributes, Tcp};
pub(in crate::store) use service::read_plain;
pub use settings::{Author, FRAMEWORK_WORDS, Origin};
pub use tls::{Root, SslMode, TlsFile, TlsSettings, TlsVersion};

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// What an address is resolved against: the environment, the home directory, the user of this process.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The environment variables that are set and not empty.
    pub variables: Variables,
    pub home: Option<PathBuf>,
    pub user: Option<String>,
    /// What messages call the address: `--db`, a variable or a target.
    pub source: String,
    /// A password from a file that the operator named, and that file. It takes precedence over every other.
    pub password: Option<(Password, PathBuf)>,
}

impl Default for Surroundings {
    fn default() -> Surroundings {
        let source = "the address".to_owned();
        Surroundings { variables: Variables::default(), home: None, user: None, source, password: None }
    }
}

/// Environment variables by name. Their values may be passwords, so they are never printed.
#[derive(Clone, Default)]
pub struct Variables(pub BTreeMap<String, String>);

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Surroundings {
    /// The value of a variable; none if it is empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.variables.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// A password, which `Debug` hides. Bytes, because it need not be UTF-8.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(pub Vec<u8>);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

/// Why an address cannot be used. Never repeats its contents, which may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AddressError {
    pub message: String,
    /// True if the fault is in a file that the address leads to.
    pub in_a_file: bool,
}

impl AddressError {
    pub(crate) fn new(message: impl Into<String>) -> AddressError {
        AddressError { message: message.into(), in_a_file: false }
    }

    pub(super) fn in_a_file(message: impl Into<String>) -> AddressError {
        AddressError { message: message.into(), in_a_file: true }
    }
}

/// Each environment variable that sets a key, with the key.
pub fn variables() -> impl Iterator<Item = (&'static str, &'static str)> {
    keys::KEYS.iter().filter_map(|key| Some((key.variable?, key.name)))
}

/// Whether a text begins with one of libpq's keys and an equals sign, and so is no path.
pub(super) fn is_key_value(text: &str) -> bool {
    text.split_once('=').is_some_and(|(key, _)| keys::find(key.trim()).is_some())
}

/// True if a key is `password`, or what people write for it.
pub fn is_password_key(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let is_like_it = key.starts_with("pas") && !key.contains('_') && key != "passfile";
    key.ends_with("password") || is_like_it || key == "pw" || key == "pwd"
}

/// True if a text may be an address with a password in it: `user:password@`, or `password=`.
pub fn may_hold_password(text: &str) -> bool {
    let after_scheme = text.split_once("://").map_or(text, |(_, rest)| rest);
    let last_word = |text: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        text.trim_end().rsplit(|c| !is_part(c)).next().is_some_and(is_password_key)
    };
    after_scheme.rsplit_once('@').is_some_and(|(user_info, _)| user_info.contains(':'))
        || text.match_indices('=').any(|(at, _)| text.get(..at).is_some_and(last_word))
}

/// Whether a text is a Postgres URL, to libpq or to the author's framework.
pub(super) fn is_url(text: &str, author: Author) -> bool {
    text.starts_with("postgres:")
        || text.starts_with("postgresql:")
        || (author == Author::Framework && settings::framework_scheme(text).is_some())
}
