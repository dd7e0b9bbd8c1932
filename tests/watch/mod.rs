//! `stale --watch`: on a terminal in place; and how far a command is, where that takes long.

mod picture;
mod progress;
