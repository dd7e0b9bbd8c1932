//! What was done: from the journal of this host and, where a database is at hand that has one, from its ledger.

mod compare;
mod list;
mod load;
mod one;
mod source;

pub use compare::is_same_database;
pub use list::history;
pub use one::history_run;
pub use source::Records;

pub(super) use compare::{COMPARED, belongs, compared};
pub(super) use load::{Loaded, load};
pub(super) use one::undone_by;
