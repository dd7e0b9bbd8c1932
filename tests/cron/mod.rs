//! `sweep` where nobody watches: from cron on several hosts at once, ahead of workers, into files and logs.

mod brief;
mod churn;
mod crowd;
mod etiquette;
mod min_interval;
pub(crate) mod host;
mod log;
mod quiet;
mod report_file;
mod splay;
mod started_before;
mod turns;
