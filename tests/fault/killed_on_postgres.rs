//! Killed at every flight (F7): ahead of the server, when the server has half of it, and when the server has answered and nobody
//! knows yet.

use super::ground::{Ground, SWEEP};
use super::through::Through;
use crate::support::figures;
use crate::support::gate::Order;
use crate::support::shop::Shop;
use rustix::process::Signal;
use std::collections::BTreeSet;

/// Which of the flights ahead of the first batch are tried: until then it has only looked.
const OF_A_LOOK: usize = 9;
const BEGIN: &str = "BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED;";
/// How it ends, in one message.
const COMMIT: &str = "SELECT; COMMIT";
/// Of the batches as many as it takes for one to come after another.
const KINDS: usize = 2;

/// Where it is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Ahead,
    Half,
    Answered,
}

/// Kills it at that flight; gives back which batches are done, or what must not be.
fn killed(ground: &Ground, number: usize, at: At, mutant: bool) -> Result<Vec<bool>, String> {
    ground.again();
    let through = Through::of(ground, move |flight, program| {
        if flight.number == number && flight.is_answered == (at == At::Answered) {
            program.signal(Signal::KILL);
            return if at == At::Half { Order::CutInHalf } else { Order::Cut };
        }
        match flight.statement().as_str() {
            COMMIT if mutant => Order::Instead("SELECT 1".to_owned()),
            statement if mutant && statement.starts_with(BEGIN) => Order::Instead(statement.replacen(BEGIN, "", 1)),
            _ => Order::Pass,
        }
    });
    let ran = through.run(&SWEEP);
    assert_eq!(ran.signal, Some(Signal::KILL.as_raw()), "{at:?} of flight {number}: {ran:#?}");
    through.is_over();
    let standing = ground.standing(&mut ground.shop.connect())?;
    ground.is_journalled(&standing)?;
    Ok(standing)
}

/// The statements of the flights of one run that nothing befalls, and which of them begins the first batch.
fn flights(ground: &Ground) -> (Vec<String>, usize) {
    let through = Through::of(ground, |_, _| Order::Pass);
    through.run(&SWEEP).exits(0);
    let flights = through.flights();
    let begin = flights.iter().position(|flight| flight.starts_with(BEGIN));
    (flights, begin.expect("a batch") + 1)
}

#[test]
fn at_every_flight() {
    let ground = Ground::of(Shop::on_postgres(), KINDS);
    let (flights, begin) = flights(&ground);
    let (mut kills, mut seen) = (0, BTreeSet::new());
    for number in (1..=flights.len()).filter(|number| *number >= begin || number % OF_A_LOOK == 0) {
        let statement = &flights[number - 1];
        // To the server an answer that nobody hears is as good as the end ahead of the next flight; for the commit it is tried
        // both ways.
        let ends: &[At] =
            if statement == COMMIT { &[At::Ahead, At::Half, At::Answered] } else { &[At::Half, At::Answered] };
        for at in ends {
            let place = format!("{at:?} of flight {number}, {statement}");
            let standing = killed(&ground, number, *at, false).unwrap_or_else(|error| panic!("{place}: {error}"));
            ground.converges();
            kills += 1;
            seen.insert(standing);
        }
    }
    // And one that ends by itself, because it sends no more.
    ground.again();
    let last = flights.len();
    let through = Through::of(&ground, move |flight, program| {
        if flight.number > last {
            program.signal(Signal::KILL);
        }
        Order::Pass
    });
    through.run(&SWEEP).exits(0);
    assert_eq!(Vec::from_iter(seen), [vec![false, false], vec![true, false], vec![true, true]]);
    assert!(flights.iter().filter(|flight| *flight == COMMIT).count() >= KINDS, "{flights:#?}");
    figures::add(kills, "faults survived");
}

/// A mutant whose batches are no transactions: each statement stands for itself. Some kill must leave half of a batch, and it must
/// be seen.
#[test]
fn without_its_transaction_a_batch_is_torn() {
    let ground = Ground::of(Shop::on_postgres(), KINDS);
    let (flights, begin) = flights(&ground);
    let commit = flights.iter().skip(begin).position(|flight| flight == COMMIT).expect("a commit") + begin;
    let ends: Vec<_> = (begin..=commit).map(|number| killed(&ground, number, At::Answered, true)).collect();
    assert!(ends.iter().any(Result::is_ok), "not at every flight: {ends:#?}");
    assert!(
        ends.iter().any(|end| end.as_ref().is_err_and(|error| error.contains("neither done nor not done"))),
        "{ends:#?}"
    );
    figures::add(1, "mutants caught");
}
