//! `stale --watch`: on a terminal in place, as lines for programs; and how far a command is, where that takes long.

mod lines;
mod picture;
mod progress;
