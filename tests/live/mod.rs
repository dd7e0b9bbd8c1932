//! Real queue libraries with real workers that are really killed. Of each library, `nightly` has what takes
//! longest or a further engine; `chosen` says which libraries a change runs.

#![expect(clippy::print_stdout, reason = "what happened is told to whoever runs it with --nocapture")]

/// Tests, each of which is one shared story of one library.
macro_rules! stories {
    ($($(#[$said:meta])* fn $name:ident() { $($story:tt)* })*) => {
        $($(#[$said])* #[test] fn $name() { $($story)*; })*
    };
}

mod application;
mod database;
mod delayed_job;
mod environment;
mod graphile_worker;
mod interrupted;
mod later;
mod library;
mod looks;
mod nightly;
mod oban;
mod oracle;
mod pg_boss;
mod pgqueuer;
mod procrastinate;
mod scenario;
mod transcript;
mod worker;
