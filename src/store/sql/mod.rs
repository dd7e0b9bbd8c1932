//! The only place where SQL text about a queue is put together. Pure: a spec and a dialect in, statements out; no
//! connection is needed to test it.

mod act;
mod builder;
mod catalog;
mod dialect;
mod filter;
mod finished;
mod holders;
mod ledger;
mod listing;
mod projection;
mod record;
mod rows;
pub mod statements;
mod sweep_lock;
mod tally;
mod trial;
mod verify;

pub use builder::{Param, Sql, Statement};
pub use dialect::{Dialect, Postgres, Sqlite};
pub use ledger::ledger_schema;

pub(super) use act::{acts, left_behind, notifications};
pub(super) use catalog::{question, states_in_use};
pub(super) use finished::finished;
pub(super) use holders::{holder, holders};
pub(super) use ledger::{
    ledger_inserts, ledger_last, ledger_loss, ledger_losses, ledger_row, ledger_rows, ledger_run, ledger_run_ids,
    ledger_runs,
};
pub(super) use listing::{all, begun_before, canonical, count, find, suspects};
pub(super) use record::{images, restores};
pub(super) use sweep_lock::{acquire_sweep_lock, sweep_lock_holder};
pub(super) use tally::{state_meant, tally};
pub use trial::CLAIMS_TRIED;
pub(super) use trial::{cast_value, refused_claims, stored_claims};
pub(super) use verify::{evidence_reread, evidence_rows, evidence_writers, guard, reread, shared_keys, verify};
