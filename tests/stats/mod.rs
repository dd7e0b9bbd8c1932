//! Thresholds that fit: per queue and kind, maximum run times, what finished jobs say about them, and the counts of a queue.
//! Through the program, on both engines.

mod counts;
mod place;
mod runtimes;
mod thresholds;
mod untold;
mod warned;
