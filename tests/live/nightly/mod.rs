//! Live tests that a change cannot wait for: of libraries beyond the eight that `tests/run` plays, and on their further engines.

mod apalis;
mod chancy;
mod delayed_job;
mod django_q;
mod django_tasks;
mod fang;
mod laravel;
mod liteque;
mod litequeue;
mod plainjob;
mod quartz;
