//! Killed at a random instant (F8), while a worker is at work: what was committed stays, and the next run finishes it. A kill at every
//! boundary is better at finding what is there to be found; this one finds what nobody has thought of.

use super::beats::Beats;
use super::many::Many;
use crate::support::figures;
use crate::support::shop::Shop;
use rustix::process::Signal;
use std::time::{Duration, Instant};

/// So many in every run, of each store.
const KILLS: u32 = 4;

const DEAD: u32 = 1_600;

/// Nobody reads along: a long document in a full pipe would keep a run that is over, and it would be killed where there is
/// nothing left to be found.
const SILENTLY: [&str; 6] = ["reclaim", "--apply", "--max-jobs", "9999999", "-o", "none"];

/// Numbers that seem to be random, and are the same for the same seed: xorshift.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Kills so many runs, and makes sure of what each has left behind and of what comes after it.
pub(super) fn killed(shop: Shop, kills: u32, seed: u64) {
    let many = Many::in_queue(shop, DEAD);
    let begun = Instant::now();
    many.shop.run(&SILENTLY).exits(0);
    let mut whole = begun.elapsed();
    let beats = Beats::of(&many.shop, many.living());
    let (mut chance, mut killed, mut middle, mut tries) = (Chance(seed), 0, 0, 0);
    while killed < kills || middle == 0 {
        tries += 1;
        assert!(tries < 4 * kills + 40, "seed {seed}: of {tries} runs {killed} were killed, {middle} in the middle");
        many.again();
        let begun = Instant::now();
        let running = many.shop.doctor.start(&many.shop.with_db(&SILENTLY));
        // The first part of a run only looks, which has been killed often enough.
        std::thread::sleep(whole.mul_f64(0.2 + 0.8 * chance.next()));
        running.signal(Signal::KILL);
        let ran = running.wait();
        if ran.signal.is_none() {
            // It was faster than the last one.
            whole = whole.min(begun.elapsed()).max(Duration::from_millis(5));
            continue;
        }
        killed += 1;
        whole = whole.mul_f64(1.02);
        many.is_over();
        let place = format!("seed {seed}, try {tries}");
        // Every third time nobody asks in between, and the next run is the first to come after the kill.
        if tries % 3 != 0 {
            let standing = many.standing().unwrap_or_else(|wrong| panic!("{place}: {wrong}"));
            middle += u32::from(standing.is_in_the_middle());
        }
        many.converges();
    }
    let lost = beats.stop();
    assert_eq!(lost, 0, "seed {seed}: a worker alive has lost a job");
    figures::add(u64::from(killed), "faults survived");
}

pub(super) fn file(mode: &str) -> Shop {
    let shop = Shop::empty_on_sqlite();
    shop.connect()(&format!("PRAGMA journal_mode = {mode}"));
    shop
}

#[test]
fn with_a_wal() {
    killed(file("wal"), KILLS / 2, 7);
}

#[test]
fn with_a_rollback_journal() {
    killed(file("delete"), KILLS - KILLS / 2, 11);
}

#[test]
fn on_postgres() {
    killed(Shop::empty_on_postgres(), KILLS, 13);
}
