//! Gentle return: jobs that go back for later and spread over a window, and a budget of losses after which one fails.

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
