//! Numbers about a whole queue: how many jobs are in which state, and how long jobs run.

mod queues;
mod runtimes;

pub use queues::stats;
pub(super) use runtimes::run_time;
pub use runtimes::runtimes;
