//! jobdoctor finds jobs that a database says are running although the worker behind them is dead, shows why it thinks
//! so, and puts them back without hurting one that is alive.
//!
//! # The promise
//!
//! 1. A claim with a running lease or a fresh heartbeat is never touched: every write proves, inside the database and at the
//!    instant of the write, that the claim is still the one that was judged.
//! 2. Nothing is written without `--apply`, and commands that only read are technically unable to write.
//! 3. The database has committed what is reported as done. What could not be read or known is reported as that.
//! 4. One death costs one attempt, however many copies run.
//! 5. Workers hardly notice it.
//!
//! # The layers
//!
//! ```text
//!                 cli                 arguments, config, environment, terminal, exit codes
//!                  |
//!                 ops                 use cases
//!           /      |      \
//!      output    store   history      documents and formats | the port and its adapters | journal files
//!         |        |        |
//!      policy      |        |         pure judgement
//!           \      |        |
//!             preset        |         a foreign queue, as data
//!                \         /
//!                  model              nouns; no I/O
//! ```
//!
//! Arrows point down only, and only `cli` and `output` name flags in messages; `tests/layering.rs` checks both. To add
//!
//! - a queue: one TOML file in `preset/presets/` and its fixtures, no Rust; `build.rs` finds it;
//! - a rule: [`policy::Rule`], and one place in `policy/judge/` that asks it; for a new column, `preset` names it,
//!   `store/sql/projection.rs` reads it and `store/sql/filter.rs` lets the claim through;
//! - an output format: one file in `output/format/`, one variant of [`output::format::Format`], one arm in `output/document.rs`;
//! - a command: one file each in `ops/`, `output/` and `cli/commands/`;
//! - a store: one folder in `store/`, one dialect in `store/sql/dialect.rs`, one line in `store/address.rs`.
//!
//! # Where to start reading
//!
//! [`policy::judge`] decides, [`ops::plan`] drafts, and `store/batch/` acts; everything else serves these three.
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
