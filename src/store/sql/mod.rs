//! The only place where SQL text about a queue is put together. Pure: a spec and a dialect in, statements out; no
//! connection is needed to test it.

mod act;
mod builder;
mod catalog;
mod dialect;
mod filter;
mod holders;
mod listing;
mod projection;
pub mod statements;
mod verify;

pub use builder::{Param, Statement};
pub use dialect::{Dialect, Postgres, Sqlite};

pub(super) use act::{acts, notifications, state_check};
pub(super) use catalog::states_in_use;
pub(super) use holders::{holder, holders};
pub(super) use listing::{all, count, find, suspects};
pub(super) use verify::{guard, reread, verify, witness_writers, witnesses, witnesses_reread};
