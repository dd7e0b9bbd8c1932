//! Simulated workers and several doctors at once, by whom no live job is ever touched and nothing is lost: histories that
//! are thrown by dice are played on the real stores, through the program's own looks, judgements, drafts and writers. What
//! came of it is held against what the database itself wrote down of every change; see [`check`] for what must be true,
//! and [`mutants`] for the proof that it would be noticed if it were not.

mod check;
mod deed;
mod history;
mod log;
mod mutants;
mod nightly;
mod play;
mod practice;
mod queue;
mod runs;
mod shrink;
mod world;
