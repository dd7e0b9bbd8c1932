//! Real queue libraries with real workers that are really killed.

#![expect(clippy::print_stdout, reason = "what happened is told to whoever runs it with --nocapture")]

mod application;
mod environment;
mod procrastinate;
mod transcript;
mod worker;
