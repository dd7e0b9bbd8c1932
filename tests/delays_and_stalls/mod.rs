//! Jobs that go back after a delay and spread over a window, and the stall budget after which a job fails.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up has failed")]

mod config;
mod encodings;
mod later;
mod pace;
mod recorded;
mod refused;
mod slices;
mod sources;
mod stalls;
