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
mod clocks;
mod completion;
mod conformance;
mod cron;
mod delays_and_stalls;
mod diagnoses;
mod fault;
mod files;
mod forgotten;
mod generated;
mod health;
mod help;
mod house;
mod incident;
mod indexes;
mod interrupted;
mod journal;
mod layering;
mod libpq;
mod live;
mod liveness_evidence;
mod metrics;
mod packaging;
mod plans;
mod pooler;
mod presets;
mod property;
mod queues;
mod readme;
mod scenes;
mod security;
mod simulation;
mod source_mutants;
mod standby;
mod stats;
mod support;
mod sweeps;
mod targets;
mod tls;
mod units;
mod verify;
mod watch;
