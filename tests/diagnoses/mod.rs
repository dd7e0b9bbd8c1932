//! One fault, one line: what stands above the table of `stale` and of a plan, on both engines.

mod due;
mod fleet;
mod machines;
mod people;
mod plans;
mod shapes;
