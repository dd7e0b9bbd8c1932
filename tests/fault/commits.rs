//! The connection is cut at a commit: ahead of the server, which has not heard of it (F9), or when the server has done it and
//! nobody knows yet (F10). Each batch has its turn.

use super::ground::{BATCHES, Ground, SWEEP};
use super::through::Through;
use crate::support::cli::Ran;
use crate::support::figures;
use crate::support::gate::Order;
use crate::support::shop::Shop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const TIMES: usize = 20;

/// Cuts the connection at the commit of that batch, counted from 0; afterwards the server is there again, or not.
fn cut(ground: &Ground, batch: usize, is_answered: bool, comes_back: bool) -> (Ran, Vec<bool>) {
    ground.again();
    let (commits, is_cut) = (AtomicUsize::new(0), AtomicBool::new(false));
    let through = Through::of(ground, move |flight, _| {
        if is_cut.load(Ordering::SeqCst) {
            return if comes_back { Order::Pass } else { Order::Cut };
        }
        let is_commit = flight.statement().ends_with("COMMIT") && flight.is_answered == is_answered;
        if is_commit && commits.fetch_add(1, Ordering::SeqCst) == batch {
            is_cut.store(true, Ordering::SeqCst);
            return Order::Cut;
        }
        Order::Pass
    });
    let ran = through.run(&[&SWEEP[..], &["--timeout", "3s"]].concat());
    through.is_over();
    let standing = ground.standing(&mut ground.shop.connect()).unwrap_or_else(|error| panic!("{error}: {ran:#?}"));
    ground.is_journalled(&standing).unwrap();
    (ran, standing)
}

/// Which batches are done if those ahead of one are.
fn ahead_of(batch: usize) -> Vec<bool> {
    (0..BATCHES.len()).map(|n| n < batch).collect()
}

#[test]
fn ahead_of_the_server() {
    let ground = Ground::of(Shop::on_postgres(), BATCHES.len());
    for batch in (0..TIMES).map(|n| n % BATCHES.len()) {
        let (ran, standing) = cut(&ground, batch, false, true);
        assert_eq!(standing, ahead_of(batch));
        let ran = ran.exits(69);
        if batch == 0 {
            assert_eq!(ran.stdout, "", "nothing was written");
            ran.says("jobdoctor.error/v1");
        } else {
            let document = ran.document("sweep");
            ground.is_honest(&document, &standing);
            let outcomes = &document["summary"]["outcomes"];
            assert_eq!(outcomes["unknown"], 0, "the server was asked: {outcomes}");
        }
        ground.converges();
    }
    figures::add(TIMES as u64, "faults survived");
}

#[test]
fn behind_the_server() {
    let ground = Ground::of(Shop::on_postgres(), BATCHES.len());
    for batch in (0..TIMES).map(|n| n % BATCHES.len()) {
        let (ran, standing) = cut(&ground, batch, true, true);
        // The server is asked, and the run goes on.
        let document = ran.exits(0).json();
        assert_eq!(standing, ahead_of(BATCHES.len()));
        ground.is_honest(&document, &standing);
        assert_eq!(document["summary"]["outcomes"]["unknown"], 0, "{document:#}");
        assert_eq!(ground.converges().json()["summary"]["planned"], 0, "nothing is done twice");
    }
    figures::add(TIMES as u64, "faults survived");
}

/// Nobody can be asked: what is not known is called unknown, whatever the server has done.
#[test]
fn and_the_server_is_gone_for_good() {
    let ground = Ground::of(Shop::on_postgres(), BATCHES.len());
    for is_answered in [false, true] {
        let (ran, standing) = cut(&ground, 1, is_answered, false);
        assert_eq!(standing, ahead_of(1 + usize::from(is_answered)));
        let document = ran.exits(5).json();
        ground.is_honest(&document, &standing);
        let outcomes = &document["summary"]["outcomes"];
        assert_eq!(
            (&outcomes["moved"], &outcomes["unknown"], &outcomes["not_tried"]),
            (&BATCHES[0].len().into(), &BATCHES[1].len().into(), &BATCHES[2].len().into()),
            "{outcomes}"
        );
        ground.converges();
    }
    figures::add(2, "faults survived");
}
