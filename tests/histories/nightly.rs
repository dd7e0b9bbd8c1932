//! The same by the million.

use super::runs::{POSTGRES, Place, ROLLBACK, WAL, keep_their_promises, seeds};
use crate::support::figures;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Into so many parts each kind is cut, which are played side by side.
const PARTS: usize = 2;

#[allow(clippy::print_stdout, reason = "somebody waits for half an hour")]
fn run(place: Place, count: u64, figure: &str) {
    let (seeds, played) = (seeds(count).collect::<Vec<_>>(), AtomicU64::new(0));
    let told = |_| {
        let played = played.fetch_add(1, Ordering::SeqCst) + 1;
        if played.is_multiple_of(count / 10) {
            println!("{played} of {count} {figure}");
        }
    };
    let part = |seeds: &[u64]| keep_their_promises(place, seeds.iter().copied(), told);
    let kept = thread::scope(|scope| {
        let parts = seeds.chunks(seeds.len().div_ceil(PARTS)).map(|seeds| scope.spawn(|| part(seeds)));
        parts.collect::<Vec<_>>().into_iter().map(|part| part.join().expect("no promise was broken")).sum()
    });
    figures::add(kept, figure);
}

#[test]
fn on_sqlite_with_a_wal() {
    run(WAL, 600_000, "histories on SQLite");
}

#[test]
fn on_sqlite_with_a_rollback_journal() {
    run(ROLLBACK, 400_000, "histories on SQLite");
}

#[test]
fn on_postgres() {
    run(POSTGRES, 50_000, "histories on Postgres");
}
