//! Nouns. Plain data with no I/O: no SQL, no TOML, no clock, no terminal.
#![warn(missing_docs)]

mod cell;
mod claim;
mod engine;
mod key;
mod record;
mod remedy;
mod step;
mod time;
pub mod value;

pub use cell::Cell;
pub use claim::{Claim, EvidenceRow, HostSpelling, LockSign, Owner, OwnerRow, Precondition, Reading, Sign};
pub use engine::Engine;
pub use engine::{Standby, Target};
pub use key::{Key, deceives, escaped_json, is_blank, read_id, spell_id};
pub use record::{Actor, LedgerRow, LedgerRun, Loss, RunHead};
pub use record::{Fingerprint, RowChange, RowImage, ValueChange};
pub use remedy::Remedy;
pub use step::{Action, AttemptsChange, Batch, BatchReport, End, Outcome, RowError, Step, Write};
pub use time::{Clocks, FUTURE_TOLERANCE, Timestamp};
pub use time::{LONGEST_THRESHOLD, age, is_threshold, parse_duration};
