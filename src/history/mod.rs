//! The journal: what this program did, run by run, on the host that it ran on. One file a run, JSON lines, private to its user;
//! of each batch the intent ahead of the commit and the result after it. An intent without a result is what a killed run
//! leaves behind: only the database knows what became of it. A journal without a last line says what the run did at least: the run
//! was stopped, could not write it, or is still at work. A file without a whole line says nothing.
//!
//! The same directory holds the lock files of this host, one a queue.
//!
//! Knows nouns only: no database, no queue.

mod directory;
mod error;
mod line;
mod lock;
mod reader;
mod writer;

pub use crate::model::value::{from_json, key_from_json, key_to_json, to_json, values_from_json, values_to_json};
pub use directory::{Directory, is_run_id};
pub use error::JournalError;
pub use line::{Actor, Counts, End, Entry, Head, Intent, Line, Outcomes, StepEnd, Target};
pub use lock::{LockFile, LockNote, Locked};
pub use reader::{Lines, Recorded, Summary, batches, read, summary};
pub use writer::Writer;
