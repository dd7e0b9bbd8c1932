//! One fault, one line: the causes in `stale`, plans, results and records, on both engines, and who holds a lock.

mod causes;
mod due;
mod fleet;
mod locks;
mod machines;
mod people;
mod plans;
mod shapes;
pub mod terminal;
