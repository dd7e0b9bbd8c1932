//! libpq's front end: everything by which `psql` finds a server is understood here, by the same rules. URLs and `key=value`
//! strings, the `PG*` variables, service files and password files are parsed into one table of keys; the driver is told
//! through its setters, and never gets a string that was put together again.
//!
//! The rules are those of libpq 15 to 17 (`fe-connect.c`); where a key cannot be honoured it is refused by name.

mod error;
mod framework;
mod keys;
mod pairs;
mod passfile;
mod passwords;
mod postgres;
mod server;
mod service;
mod settings;
mod surroundings;
mod tcp;
mod tls;
mod uri;

pub use error::AddressError;
pub use framework::FRAMEWORK_WORDS;
pub use postgres::{ChannelBinding, PostgresAddress, TargetAttributes};
pub use server::{Server, ServerPlace};
pub use settings::{Author, Origin};
pub use surroundings::{Password, Surroundings, Variables};
pub use tcp::Tcp;
pub use tls::{Root, SslMode, TlsFile, TlsSettings, TlsVersion};

/// The environment variables that stand for a key, with that key.
pub fn variables() -> impl Iterator<Item = (&'static str, &'static str)> {
    keys::KEYS.iter().filter_map(|key| Some((key.variable?, key.name)))
}

/// Whether a text begins with one of libpq's keys and an equals sign: then it is no path.
pub(super) fn is_key_value(text: &str) -> bool {
    text.split_once('=').is_some_and(|(key, _)| keys::find(key.trim()).is_some())
}

/// Whether a text is a Postgres URL, or would be one in a framework's eyes.
pub(super) fn is_url(text: &str, author: Author) -> bool {
    text.starts_with("postgres:")
        || text.starts_with("postgresql:")
        || (author == Author::Framework && framework::scheme(text).is_some())
}
