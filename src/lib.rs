//! jobdoctor finds jobs that a database says are running although the worker behind them is dead, shows why it thinks so,
//! and puts them back without hurting one that is alive.
//!
//! # The promise
//!
//! 1. A claim with a running lease or a fresh heartbeat is never touched: every write proves, inside the database and at the
//!    instant of the write, that the claim is still the one that was judged.
//! 2. Nothing is written without `--apply`, and what looks is technically unable to write.
//! 3. What it says is what the database committed. What it could not see or could not know, it says so.
//! 4. One death costs one attempt, however many copies run.
//! 5. Workers hardly notice it.
//!
//! # The layers
//!
//! ```text
//!                 cli                     argv, config, environment, terminal, exit codes
//!                  |
//!                 ops                     use cases
//!           /    |    |    \
//!      output  store  journal             documents and formats | the port and its adapters | what was done, on this host
//!         |      |       |
//!      policy    |       |                pure judgement
//!           \    |      /
//!              spec    /                  a foreign queue, as data
//!                |    /
//!              model                      nouns; no I/O
//! ```
//!
//! Arrows point down only, and a test holds them to it. Where a change goes:
//!
//! - a new queue: one TOML file in `spec/presets/` and its fixtures, no Rust; `build.rs` finds it;
//! - a new rule: [`policy::Rule`], and the one place in `policy/judge.rs` that asks it; if it reads a new column, `spec` says
//!   where, `store/sql/projection.rs` reads it and `store/sql/filter.rs` lets it through;
//! - a new output format: one file in `output/format/`, one variant of [`output::format::Format`], one arm in `output/document.rs`;
//! - a new command: one file each in `ops/`, `output/` and `cli/commands/`;
//! - a new store: one folder in `store/`, one dialect in `store/sql/dialect.rs`, one line in `store/address.rs`.
//!
//! # Where to start reading
//!
//! [`policy::judge`] decides, [`ops::plan`] drafts, and `store/batch/` acts; the rest is there for these three.
//! `docs/architecture.md` follows one claim and one action through the files.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(unused_crate_dependencies))]

pub mod cli;
pub mod history;
pub mod model;
pub mod ops;
pub mod output;
pub mod policy;
pub mod preset;
pub mod store;
