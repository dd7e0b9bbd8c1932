//! Nouns. Plain data with no I/O: no SQL, no TOML, no clock, no terminal.
#![warn(missing_docs)]

mod cell;
mod change;
mod claim;
mod duration;
mod engine;
mod key;
mod record;
mod remedy;
mod step;
mod target;
mod time;
pub mod value;

pub use cell::Cell;
pub use change::{Fingerprint, RowChange, RowImage, ValueChange};
pub use claim::{Claim, EvidenceRow, HostSpelling, LockSign, Owner, OwnerRow, Precondition, Reading, Sign};
pub use duration::{LONGEST_THRESHOLD, age, is_threshold, parse_duration};
pub use engine::Engine;
pub use key::{Key, deceives, escaped_json, is_blank, read_id, spell_id};
pub use record::{Actor, LedgerRow, LedgerRun, Loss, RunHead};
pub use remedy::Remedy;
pub use step::{Action, AttemptsChange, Batch, BatchReport, End, Outcome, RowError, Step, Write};
pub use target::{Standby, Target};
pub use time::{Clocks, FUTURE_TOLERANCE, Timestamp};
