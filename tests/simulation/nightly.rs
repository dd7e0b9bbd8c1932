//! A million histories.

use super::runs::{Make, keep_their_promises, rollback, seeds, wal};
use super::world::postgres;
use crate::support::figures;
use std::thread;

fn run(make: Make, count: u64, figure: &str) {
    let seeds = seeds(count);
    let middle = seeds.start + count / 2;
    let kept = thread::scope(|scope| {
        let halves = [seeds.start..middle, middle..seeds.end];
        let halves = halves.map(|seeds| scope.spawn(|| keep_their_promises(make, seeds)));
        halves.into_iter().map(|half| half.join().expect("no promise was broken")).sum()
    });
    figures::add(kept, figure);
}

#[test]
fn on_sqlite_with_a_wal() {
    run(wal, 600_000, "histories on SQLite");
}

#[test]
fn on_sqlite_with_a_rollback_journal() {
    run(rollback, 350_000, "histories on SQLite");
}

#[test]
fn on_postgres() {
    run(postgres, 50_000, "histories on Postgres");
}
