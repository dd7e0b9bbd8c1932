//! A million histories.

use super::runs::{Make, keep_their_promises, rollback, seeds, wal};
use super::world::postgres;
use crate::support::figures;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

#[allow(clippy::print_stdout, reason = "somebody waits for half an hour")]
fn run(make: Make, count: u64, figure: &str) {
    let (seeds, played) = (seeds(count), AtomicU64::new(0));
    let told = || {
        let played = played.fetch_add(1, Ordering::SeqCst) + 1;
        if played.is_multiple_of(count / 10) {
            println!("{played} of {count} {figure}");
        }
    };
    let middle = seeds.start + count / 2;
    let kept = thread::scope(|scope| {
        let halves = [seeds.start..middle, middle..seeds.end];
        let halves = halves.map(|seeds| scope.spawn(|| keep_their_promises(make, seeds, told)));
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
