//! `sweep` where nobody watches: from cron on several hosts at once, ahead of workers, into files and logs.

mod best_effort;
mod brief;
mod churn;
mod crowd;
mod etiquette;
pub(crate) mod host;
mod log;
mod min_interval;
mod on_run;
mod quiet;
mod report_file;
mod splay;
mod started_before;
mod sweep_lock;
