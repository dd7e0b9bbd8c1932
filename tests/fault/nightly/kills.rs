//! Killed at a thousand random instants, in each store (F8).

use crate::fault::random_kills::{file, killed};
use crate::support::shop::Shop;
use std::hash::{BuildHasher, RandomState};

/// Another one each night; whatever fails names it.
fn seed() -> u64 {
    RandomState::new().hash_one("a night") | 1
}

#[test]
fn with_a_wal() {
    killed(file("wal"), 500, seed());
}

#[test]
fn with_a_rollback_journal() {
    killed(file("delete"), 500, seed());
}

#[test]
fn on_postgres() {
    killed(Shop::empty_on_postgres(), 1000, seed());
}
