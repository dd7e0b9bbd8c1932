//! Evidence of liveness beyond age: a second snapshot, a saved snapshot, a live-owner list. Through the program, on both
//! engines.

mod absent;
mod confirm;
mod judged;
mod list;
mod queue;
mod snapshot_file;
mod snapshot_files_from_outside;
mod stores;
mod veto;
