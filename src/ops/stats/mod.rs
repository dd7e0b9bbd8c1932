//! Numbers about a whole queue: how many jobs are in which state, and how long jobs run.

mod queues;
mod run_time;
mod runtimes;
mod spread;

pub use queues::stats;
pub(super) use run_time::run_time;
pub use runtimes::runtimes;
