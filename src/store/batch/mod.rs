//! One batch, in one short transaction, for both engines: verify and lock, act, record, commit, wake.

mod execute;
mod record;
mod savepoints;
mod sweep_lock;
mod transaction;
mod verify;
mod writer;

pub use record::{Recorder, fingerprint};
pub use sweep_lock::{SweepLock, too_soon};

pub(super) use record::images;
pub(super) use sweep_lock::last_sweep;
pub(super) use writer::SqlWriter;
