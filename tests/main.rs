//! The one integration test binary: linking it once is what keeps the suite quick.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed; its helpers stand outside of test functions"
)]

mod brake;
mod cli;
mod conformance;
mod files;
mod forgotten;
mod generated;
mod layering;
mod libpq;
mod live;
mod plans;
mod pooler;
mod presets;
mod property;
mod queues;
mod readme;
mod scenes;
mod standby;
mod support;
mod tls;
