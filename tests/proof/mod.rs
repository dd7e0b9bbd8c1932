//! Proof of death beyond age: a second snapshot, a saved snapshot, a list of living owners. Through the program, on both engines.

mod confirm;
mod judged;
mod list;
mod snapshot_file;
mod look_files_from_outside;
mod queue;
mod stores;
