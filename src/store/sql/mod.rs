//! SQL text about a queue, written nowhere else. Pure: the jobs of a view and a dialect in, statements out, so tests need no
//! connection.

mod act;
mod builder;
pub mod catalog;
mod counts;
mod decode;
mod dialect;
mod filter;
mod key_holders;
mod ledger;
mod left;
mod listing;
mod lock_holders;
pub mod parts;
mod projection;
pub mod statements;
mod verify;
mod waiting;

pub use act::printed;
pub use builder::{Occasion, Param, Sql, Statement};
pub use dialect::{Dialect, Postgres, Sqlite, dialect};
pub use ledger::{ledger_schema, reference_schema};

pub(super) use act::{
    acts, after, checks_rows, images, left_behind, notifications, or_roll_back, restores, returning, returns_final_rows,
};
pub(super) use counts::{
    count, count_by_owner, count_by_state, count_in_states, ended, finished, finished_run, owner_count, question,
    row_count, state_meant, states_in_use,
};
pub(super) use decode::text;
pub(super) use key_holders::{key_holders, unique_key, unique_keys};
pub(super) use ledger::{
    ledger_inserts, ledger_last, ledger_loss, ledger_losses, ledger_row, ledger_rows, ledger_run, ledger_run_ids,
    ledger_runs,
};
pub(super) use left::{led_astray, left_as_interrupted};
pub(super) use listing::{Listing, canonical, find, listing, missing_owners, newest_shown};
pub(super) use lock_holders::{lock_holders, long_locks, row_locks};
pub(super) use projection::Projection;
pub(super) use verify::{evidence_rows, evidence_writers, guard, reread, shared_keys, verify};
pub(super) use waiting::{Part, due_before, waiting};
