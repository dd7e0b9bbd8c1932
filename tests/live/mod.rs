//! Real queue libraries with real workers that are really killed. Those in `nightly` run with `tests/run --nightly` only.

#![expect(clippy::print_stdout, reason = "what happened is told to whoever runs it with --nocapture")]

mod application;
mod database;
mod delayed_job;
mod environment;
mod graphile_worker;
mod later;
mod library;
mod looks;
mod nightly;
mod oban;
mod oracle;
mod pg_boss;
mod pgqueuer;
mod procrastinate;
mod scenario;
mod transcript;
mod worker;
