//! README.md is true: every block in it is run, and its tables are held against the program.
//!
//! What a block needs is said behind its language, where the rendered page does not show it: ```` ```sh postgres ````.

mod bench;
mod block;
mod blocks;
mod grants;
mod redact;
mod tables;
mod workers;
