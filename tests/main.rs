//! The one integration test binary: linking it once is what keeps the suite quick.

#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed; its helpers stand outside of test functions"
)]

mod adopt;
mod bad_input;
mod brake;
mod check;
mod cli;
mod completion;
mod conformance;
mod cron;
mod diagnoses;
mod emit;
mod fault;
mod files;
mod forgotten;
mod generated;
mod gentle;
mod health;
mod help;
mod histories;
mod incident;
mod indexes;
mod journal;
mod layering;
mod libpq;
mod live;
mod metrics;
mod packaging;
mod plans;
mod pooler;
mod presets;
mod proof;
mod property;
mod queues;
mod readme;
mod scenes;
mod security;
mod standby;
mod stats;
mod support;
mod sweeps;
mod targets;
mod tls;
mod traps;
mod units;
mod verify;
mod watch;
