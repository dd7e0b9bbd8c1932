//! Killed at every call that changes a file or a lock on one (F7). Between two of them nothing happens that a file would keep: a
//! statement of ours that calls nothing has changed our own memory only, which dies with us.

use super::ground::{Ground, SWEEP};
use crate::readme::statements::{Database, sqlite};
use crate::support::calls::{Calls, Strike};
use crate::support::cli::Doctor;
use crate::support::figures;
use crate::support::shop::Shop;
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::fs;

/// Which of the calls ahead of the first batch are tried: until then it has only looked.
const OF_A_LOOK: usize = 6;
/// How long ahead of the first line of the journal the first transaction has begun for sure.
const BEGUN: usize = 24;
/// Of the batches as many as it takes for one to come after another.
const KINDS: usize = 2;
const BESIDE: [&str; 3] = ["", "-wal", "-journal"];

/// What the files say to whoever opens them next, asked of a copy: the next run is to find what the kill has left.
fn copied(from: &Doctor, to: &Doctor) -> Database {
    for end in BESIDE {
        let (from, to) = (from.path(&format!("queue.db{end}")), to.path(&format!("queue.db{end}")));
        let _ = fs::remove_file(&to);
        if from.exists() {
            fs::copy(from, to).expect("copy what was left");
        }
    }
    let _ = fs::remove_file(to.path("queue.db-shm"));
    let mut database = sqlite(&to.path("queue.db"));
    assert_eq!(database("PRAGMA integrity_check"), [[Some("ok".to_owned())]]);
    database
}

/// Has it be as it was; of what a kill left beside the file nothing stays.
fn again(ground: &Ground, template: &[u8]) {
    for end in ["", "-wal", "-shm", "-journal"] {
        let _ = fs::remove_file(ground.shop.doctor.path(&format!("queue.db{end}")));
    }
    fs::write(ground.shop.doctor.path("queue.db"), template).expect("put the file back");
    let _ = fs::remove_dir_all(ground.shop.doctor.home(".local"));
}

fn killed_everywhere(mode: &str) {
    let calls = Calls::new();
    let ground = Ground::of(Shop::in_file_of(calls.doctor()), KINDS);
    ground.shop.connect()(&format!("PRAGMA journal_mode = {mode}"));
    let template = fs::read(ground.shop.doctor.path("queue.db")).expect("the file");
    let (elsewhere, arguments) = (Doctor::new(), ground.shop.with_db(&SWEEP));
    let (ran, made) = calls.of(&ground.shop.doctor, &arguments);
    ran.exits(0);
    let begun = made.iter().position(|call| call.ends_with(".jsonl")).expect("a journal").saturating_sub(BEGUN);
    let (mut kills, mut seen) = (0, BTreeSet::new());
    let mut kill = |at: usize, strike: Strike| {
        again(&ground, &template);
        let place = format!("{mode}: {strike:?} at {at}, {}", made[at - 1]);
        let ran = calls.struck(&ground.shop.doctor, &arguments, at, strike);
        assert_eq!(ran.signal, Some(Signal::KILL.as_raw()), "{place}: {ran:#?}");
        let standing = ground.standing(&mut copied(&ground.shop.doctor, &elsewhere));
        let standing = standing.unwrap_or_else(|error| panic!("{place}: {error}"));
        ground.is_journalled(&standing).unwrap_or_else(|error| panic!("{place}: {error}"));
        // The next run finds the files as the kill has left them.
        ground.converges();
        kills += 1;
        seen.insert(standing);
    };
    for at in 1..=made.len() {
        if at >= begun || at % OF_A_LOOK == 0 {
            kill(at, Strike::Ahead(Signal::KILL));
        }
        if at >= begun && made[at - 1].starts_with("write ") {
            kill(at, Strike::Torn);
        }
    }
    // And one that ends by itself, because it makes no more calls.
    again(&ground, &template);
    calls.struck(&ground.shop.doctor, &arguments, made.len() + 1, Strike::Ahead(Signal::KILL)).exits(0);
    assert_eq!(ground.standing(&mut ground.shop.connect()), Ok(vec![true; KINDS]));
    // It was killed ahead of the first batch, between the two, and behind both; in the middle of each kind of call.
    assert_eq!(Vec::from_iter(seen), [vec![false, false], vec![true, false], vec![true, true]], "{mode}");
    let beside = if mode == "wal" { "queue.db-wal" } else { "queue.db-journal" };
    for call in ["write", "fsync", "unlink"] {
        assert!(made.contains(&format!("{call} {beside}")), "{mode}: {made:#?}");
    }
    figures::add(kills, "faults survived");
}

#[test]
fn with_a_wal() {
    killed_everywhere("wal");
}

#[test]
fn with_a_rollback_journal() {
    killed_everywhere("delete");
}
