//! The port to a database, and what stands behind it.
//!
//! Readers and writers are different types on different connections. A reader is technically unable to write: a read-only
//! transaction on Postgres, an authorizer that denies writes on SQLite. Only `ops::apply` and the commands that create
//! things ever ask for a writer; [`Store::recover`] alone writes beside them, for who is about to.

mod address;
mod batch;
mod conninfo;
mod error;
mod ids;
mod limits;
mod open;
mod port;
mod postgres;
mod reader;
mod rehearsal;
pub mod script;
mod session;
mod sql;
mod sqlite;
mod wanted;

pub use address::Address;
pub use batch::{Recorder, SweepLock, Unrecorded, fingerprint, too_soon};
pub use conninfo::{
    AddressError, Author, ChannelBinding, FRAMEWORK_WORDS, Origin, Password, PostgresAddress, Root, Server,
    ServerPlace, SslMode, Surroundings, TargetAttributes, Tcp, TlsFile, TlsSettings, TlsVersion, Variables, variables,
};
pub use error::{StoreError, StoreErrorKind};
pub use limits::{Interrupt, Limits};
pub use open::open;
pub use port::{Caution, Found, Reader, Run, Standby, Store, Tally, Writer, in_flight_by_owner};
pub use rehearsal::{Refusal, RefusedOf};
pub use sql::{
    CLAIMS_TRIED, Dialect, Postgres as PostgresDialect, Sqlite as SqliteDialect, Statement, ledger_schema, statements,
};
pub use sqlite::{CREATED_BY_DEMO, create_demo_file};
pub use wanted::{Cutoffs, Wanted, WantedRuns};
