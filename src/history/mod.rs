//! One record of a run, two sinks: a journal file of this host, and the ledger of the queue.
//!
//! A journal is one file a run, JSON lines, private to its user; of each batch the intent ahead of the commit and the
//! result after it. An intent without a result is what a killed run leaves behind: only the database knows what became
//! of it. A journal without a last line says what the run did at least: the run was stopped, could not write it, or is
//! still at work. A file without a whole line says nothing. The ledger's rows are written by the transaction that they
//! describe (`store/sql/ledger.rs`).
//!
//! The lock files of this host are in the same state directory, one a queue.

mod directory;
mod journal;
mod lock;
mod recording;

pub use directory::{Directory, JournalError, is_run_id};
pub use journal::{
    Counts, JournalLine, JournalLines, JournalWriter, RunEnd, SCHEMA, Summary, add_verified, read, steps, summary,
};
pub use lock::{LockFile, LockNote, Locked};
pub use recording::{BatchRecorder, Keep, RecordOptions, Recording};
