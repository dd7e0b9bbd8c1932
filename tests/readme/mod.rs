//! README.md and the pages beside it are true: every block in them is run, and the tables are held against the program.
//!
//! What a block needs is said behind its language, where the rendered page does not show it: ```` ```sh postgres ````. One with
//! the last word `then` goes on where the block before it ended.

mod an_hour_later;
mod bench;
pub(crate) mod block;
mod blocks;
mod redact;
mod screens;
pub(crate) mod session;
mod shapes;
pub(crate) mod statements;
mod tables;
mod workers;
