//! One fault, one line: what stands above the table of `stale`, on both engines.

mod fleet;
mod machines;
mod people;
mod shapes;
