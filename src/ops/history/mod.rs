//! What was done: from the journal of this host and, where a database is at hand that has one, from its ledger.

mod compare;
mod list;
mod load;
mod one;
mod source;

pub use list::history;
pub use one::history_run;
pub use source::Records;

pub(super) use compare::{COMPARED, RowNow, belongs, compared};
pub(super) use load::load;
pub(super) use one::undone_by;
