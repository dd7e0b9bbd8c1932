//! The port to a database, its two adapters, and the code that both share.
//!
//! Readers and writers are different types on different connections. A reader is technically unable to write: a
//! read-only transaction on Postgres, an authorizer that denies writes on SQLite. Only `ops::apply` and the commands
//! that create things hold a writer; [`Store::recover`] also writes, and is called only before a write.

mod address;
mod batch;
mod conninfo;
mod error;
mod explain;
mod ids;
mod limits;
mod port;
mod postgres;
mod questions;
mod reader;
mod session;
mod sql;
mod sqlite;

pub use address::{Address, open};
pub use batch::{Recorder, SweepLock, fingerprint, too_soon};
pub use conninfo::{
    AddressError, Author, FRAMEWORK_WORDS, Origin, Password, PostgresAddress, Root, Server, ServerPlace, SslMode,
    Surroundings, TargetAttributes, Tcp, TlsFile, TlsSettings, TlsVersion, Variables, is_password_key,
    may_hold_password, variables,
};
pub use error::{StoreError, StoreErrorKind};
pub use explain::Refusal;
pub use limits::{BatchInHand, Interrupt, Limits, chance, random};
pub use port::{
    At, Caution, Cutoffs, Detail, FinishedRun, Forbids, Found, Holders, LiveServer, Reader, RowCount, Scan,
    ServerVersion, Standby, Store, Wanted, WantedRuns, Writer,
};
pub use postgres::tls;
pub use sql::{
    Dialect, Postgres as PostgresDialect, Sql, Sqlite as SqliteDialect, Statement, catalog, ledger_schema, parts,
    printed, reference_schema, statements,
};
pub use sqlite::{create_demo_file, file_identity};
