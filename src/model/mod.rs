//! Nouns. Plain data with no I/O: no SQL, no TOML, no clock, no terminal.

mod cell;
mod claim;
mod engine;
mod key;
mod lock;
mod record;
mod remedy;
mod row;
mod step;
mod time;
mod waiting;

pub use cell::{Cell, from_json, hex, to_json, unhex};
pub use claim::{Claim, HostSpelling, LockSign, Owner, OwnerRow, Reading, Sign};
pub use engine::{Engine, Place, Standby, Target, UNPROVEN, overridden};
pub use key::{Key, deceives, escaped_json, is_blank, read_id, spell_id};
pub use lock::LockHolder;
pub use record::{Actor, Cause, LedgerRow, LedgerRun, Loss, RunHead, Verified};
pub use remedy::Remedy;
pub use row::{EvidenceRow, Fingerprint, Precondition, RowChange, RowImage, ValueChange};
pub use step::{Action, AttemptsChange, Batch, BatchReport, Cost, End, FailCode, Outcome, RowError, Step, Write};
pub use time::{Clocks, FUTURE_TOLERANCE, LONGEST_THRESHOLD, Timestamp, age, is_threshold, parse_duration};
pub use waiting::{QueueRows, WaitingSide, Worker};
