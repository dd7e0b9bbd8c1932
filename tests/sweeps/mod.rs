//! Sweeps: every rule of the config file in one pass.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up has failed")]

mod entries;
mod review;
mod scheduler;
mod waiting;
