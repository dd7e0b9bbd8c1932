//! SIGINT and SIGTERM at any moment of a run (F30): the batch in hand is finished or taken back, what is said is what was done, and
//! the next run does the rest.

use super::ground::{BATCHES, Ground, SWEEP};
use super::through::Through;
use crate::support::calls::{Calls, Strike};
use crate::support::cli::Ran;
use crate::support::figures;
use crate::support::gate::Order;
use crate::support::shop::Shop;
use rustix::process::Signal;
use std::collections::BTreeSet;

const SIGNALS: [Signal; 2] = [Signal::INT, Signal::TERM];

/// It ended of that signal, or it was done; and it is honest. Gives back which batches are done.
fn is_orderly(ground: &Ground, ran: &Ran, signal: Signal, place: &str) -> Vec<bool> {
    let standing = ground.standing(&mut ground.shop.connect()).unwrap_or_else(|error| panic!("{place}: {error}"));
    assert!(ran.signal == Some(signal.as_raw()) || (ran.signal.is_none() && ran.code == 0), "{place}: {ran:#?}");
    if standing.contains(&true) {
        ground.is_honest(&ran.json(), &standing);
    } else {
        assert_eq!(ran.stdout, "", "{place}: {ran:#?}");
        assert!(ran.stderr.contains("interrupted"), "{place}: {ran:#?}");
    }
    ground.converges();
    standing
}

/// None of the batches was done, all, and something in between: how far it gets until it has heard is its own business.
fn is_at_any_batch(ends: &[Vec<bool>]) {
    let done: BTreeSet<usize> =
        ends.iter().map(|standing| standing.iter().filter(|is_done| **is_done).count()).collect();
    let (none, all) = (done.contains(&0), done.contains(&BATCHES.len()));
    assert!(none && all && done.len() > 2, "{done:?}");
    figures::add(ends.len() as u64, "faults survived");
}

#[test]
fn at_any_call_of_the_system() {
    const EVERY: usize = 7;
    let calls = Calls::new();
    let ground = Ground::of(Shop::in_file_of(calls.doctor()), BATCHES.len());
    ground.shop.connect()("PRAGMA journal_mode = wal");
    let arguments = ground.shop.with_db(&SWEEP);
    let (ran, made) = calls.of(&ground.shop.doctor, &arguments);
    ran.exits(0);
    let mut ends = Vec::new();
    for (n, at) in (EVERY..=made.len()).step_by(EVERY).enumerate() {
        ground.again();
        let signal = SIGNALS[n % SIGNALS.len()];
        let ran = calls.struck(&ground.shop.doctor, &arguments, at, Strike::Ahead(signal));
        ends.push(is_orderly(&ground, &ran, signal, &format!("{signal:?} at {at}, {}", made[at - 1])));
    }
    is_at_any_batch(&ends);
}

#[test]
fn at_any_commit_of_a_server() {
    let ground = Ground::of(Shop::on_postgres(), BATCHES.len());
    let through = Through::of(&ground, |_, _| Order::Pass);
    through.run(&SWEEP).exits(0);
    let flights = through.flights();
    let mut ends = Vec::new();
    let moments =
        flights.iter().enumerate().filter(|(_, flight)| flight.ends_with("COMMIT") || flight.starts_with("BEGIN"));
    for (n, (number, flight)) in moments.enumerate() {
        ground.again();
        let signal = SIGNALS[n % SIGNALS.len()];
        let through = Through::of(&ground, move |flight, program| {
            if flight.number == number + 1 && !flight.is_answered {
                program.signal(signal);
            }
            Order::Pass
        });
        let ran = through.run(&SWEEP);
        through.is_over();
        ends.push(is_orderly(&ground, &ran, signal, &format!("{signal:?} at {number}, {flight}")));
    }
    is_at_any_batch(&ends);
}
