//! Live tests of libraries that came later, and on further engines of others: a change runs those that `tests/live/chosen` names.

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
mod river;
