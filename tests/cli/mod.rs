//! The command line, through the program itself: what it prints, how it ends, and what it leaves behind.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up has failed")]

mod busy;
mod check;
mod color;
mod config;
mod connecting;
mod demo;
mod documents;
mod env;
mod extends;
mod filters;
mod guards;
mod habits;
mod help;
mod inert;
mod init;
mod leads;
mod mapping_shapes;
mod mapping_tables;
mod mistakes;
mod odd_columns;
mod owners;
mod pipes;
mod postgres;
mod postgres_impostors;
mod presets;
mod reclaim;
mod refused;
mod remedies;
mod restart;
pub mod scene;
mod screens;
mod secrets;
mod show;
pub mod signals;
mod stale;
mod streams;
