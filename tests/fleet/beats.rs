//! A sweep over 5,000 dead jobs while workers send heartbeats: none of them is lost. How long they take beside the sweep and
//! without is told, and not judged: the machine may be busy with other things.

use super::Scene;
use super::check::of_the_database;
use super::workers::{WORKERS, Workers};
use crate::support::cli::until;
use crate::support::shop::Shop;
use std::io::Write;
use std::time::{Duration, Instant};

const SCENE: Scene = Scene { dead: 5_000, living: 400 };

/// So many rounds of all workers come before the sweep.
const ROUNDS_BEFORE: u64 = 4;

fn held(shop: &Shop, engine: &str) {
    SCENE.plant(shop);
    let workers = Workers::start(shop, SCENE, false);
    until("there is something to compare with", || workers.rounds() >= ROUNDS_BEFORE * u64::from(WORKERS));
    let begun = Instant::now();
    shop.run(&["sweep", "--apply", "--max-jobs", "99999", "-o", "none"]).exits(0);
    let ended = Instant::now();
    let log = workers.stop();
    let wrongs = of_the_database(shop, SCENE, &log);
    assert!(wrongs.is_empty(), "{wrongs:#?}");
    let before: Vec<Duration> = log.beats.iter().filter(|beat| beat.0 < begun).map(|beat| beat.1).collect();
    let during: Vec<Duration> =
        log.beats.iter().filter(|beat| beat.0 >= begun && beat.0 < ended).map(|beat| beat.1).collect();
    assert!(!during.is_empty(), "no heartbeat was sent during the sweep");
    let took = ended.duration_since(begun).as_secs_f64();
    let said = format!(
        "heartbeats on {engine}: p99 {:.1} ms before a sweep of {}, {:.1} ms during it, {:.0} a second\n",
        p99(before),
        SCENE.dead,
        p99(during.clone()),
        during.len() as f64 / took
    );
    // Past the harness, which keeps to itself what a test that passes prints.
    std::io::stderr().write_all(said.as_bytes()).expect("stderr");
}

/// Of a hundred, only one takes longer, in milliseconds.
fn p99(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times.get(times.len() * 99 / 100).copied().unwrap_or_default().as_secs_f64() * 1e3
}

#[test]
fn on_postgres() {
    let shop = Shop::on_postgres();
    shop.run(&["init"]).exits(0);
    held(&shop, "Postgres");
}

#[test]
fn on_sqlite() {
    let shop = Shop::on_sqlite();
    shop.run(&["init"]).exits(0);
    shop.open_to_many();
    held(&shop, "SQLite");
}
