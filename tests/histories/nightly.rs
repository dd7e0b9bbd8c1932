//! The same by the million.

use super::runs::{Make, keep_their_promises, rollback, seeds, wal};
use super::world::postgres;
use crate::support::figures;

#[allow(clippy::print_stdout, reason = "somebody waits for half an hour")]
fn run(make: Make, count: u64, figure: &str) {
    let told = |played: u64| {
        if played.is_multiple_of(count / 10) {
            println!("{played} of {count} {figure}");
        }
    };
    figures::add(keep_their_promises(make, seeds(count), told), figure);
}

#[test]
fn on_sqlite_with_a_wal() {
    run(wal, 600_000, "histories on SQLite");
}

#[test]
fn on_sqlite_with_a_rollback_journal() {
    run(rollback, 400_000, "histories on SQLite");
}

#[test]
fn on_postgres() {
    run(postgres, 50_000, "histories on Postgres");
}
