//! SQLite files as they are found on real machines, through the program itself: what it says of them, and that it leaves
//! them as they were.

mod altered;
mod conflict_clause;
mod created;
mod damaged;
mod locked;
mod network;
mod owners;
mod paths;
mod second_name;
pub(crate) mod waiting;
