//! Proof of death beyond age: a second snapshot, a saved snapshot, a list of living owners. Through the program, on both engines.

mod confirm;
mod judged;
mod list;
mod queue;
mod snapshot_file;
mod snapshot_files_from_outside;
mod stores;
