//! The server ends a batch (F14): for another transaction's sake, because it takes too long, or because its client keeps it
//! waiting. It is tried again a few times where that may help, never without end; and what had been done by then is told.

use super::ground::{BATCHES, Ground, SWEEP};
use super::through::Through;
use crate::support::cli::Ran;
use crate::support::figures;
use crate::support::gate::Order;
use crate::support::shop::Shop;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often the server says no to the second batch, with that code; it counts the tries, which no rollback takes back.
fn says_no(ground: &Ground, code: &str, times: u32) {
    ground.shop.sql(&format!(
        "DROP SEQUENCE IF EXISTS tries CASCADE; CREATE SEQUENCE tries; DROP TRIGGER IF EXISTS no ON jobs;
         CREATE OR REPLACE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF nextval('tries') <= {times} THEN RAISE 'another transaction is in the way' USING ERRCODE = '{code}'; END IF;
             RETURN NEW; END $$;
         CREATE TRIGGER no BEFORE UPDATE ON jobs FOR EACH ROW WHEN (OLD.id = 4) EXECUTE FUNCTION no()"
    ));
}

fn tries(ground: &Ground) -> String {
    ground.shop.rows("SELECT last_value FROM tries").concat()
}

/// The first batch is done, and said to be; of the others nothing is. Without what was in the way, the next run does the rest.
fn is_partial(ground: &Ground, ran: &Ran) {
    let standing = ground.standing(&mut ground.shop.connect()).unwrap_or_else(|error| panic!("{error}: {ran:#?}"));
    assert_eq!(standing, [true, false, false], "{ran:#?}");
    ground.is_journalled(&standing).unwrap();
    let document = ran.json();
    ground.is_honest(&document, &standing);
    let outcomes = &document["summary"]["outcomes"];
    assert_eq!((&outcomes["moved"], &outcomes["not_tried"]), (&3.into(), &2.into()), "{outcomes}");
    ground.shop.sql("DROP TRIGGER IF EXISTS no ON jobs");
    ground.converges();
    figures::add(1, "faults survived");
}

#[test]
fn a_conflict_that_passes_is_tried_again() {
    let ground = Ground::of(Shop::on_postgres(), BATCHES.len());
    for code in ["40001", "40P01"] {
        says_no(&ground, code, 3);
        let ran = ground.shop.run(&SWEEP).exits(0);
        assert_eq!(ground.standing(&mut ground.shop.connect()), Ok(vec![true; BATCHES.len()]));
        assert_eq!(ran.json()["summary"]["outcomes"]["moved"], 5);
        assert_eq!(tries(&ground), "4", "once, and three times more");
        ground.shop.sql("DROP TRIGGER no ON jobs");
        ground.again();
        figures::add(1, "faults survived");
    }
}

#[test]
fn a_conflict_that_stays_is_not_tried_for_ever() {
    let ground = Ground::of(Shop::on_postgres(), BATCHES.len());
    for code in ["40001", "40P01"] {
        says_no(&ground, code, 1000);
        let ran = ground.shop.run(&SWEEP).exits(3);
        assert_eq!(tries(&ground), "4", "once, and three times more");
        is_partial(&ground, &ran);
        ground.again();
    }
}

/// A trigger that never comes back, and the server's own limit, which is what is left of ours.
#[test]
fn a_statement_that_takes_too_long() {
    let ground = Ground::of(Shop::on_postgres(), BATCHES.len());
    ground.shop.sql(
        "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$;
         CREATE TRIGGER no BEFORE UPDATE ON jobs FOR EACH ROW WHEN (OLD.id = 4) EXECUTE FUNCTION no()",
    );
    let ran = ground.shop.run(&[&SWEEP[..], &["--timeout", "3s"]].concat()).exits(3);
    is_partial(&ground, &ran);
}

/// A statement of ours hangs on the way for longer than the server lets a transaction stand about: it takes it back (25P03), so
/// that no worker waits for its locks.
#[test]
fn a_transaction_that_stands_about() {
    let ground = Ground::of(Shop::on_postgres(), BATCHES.len());
    let commits = AtomicUsize::new(0);
    let through = Through::of(&ground, move |flight, _| {
        let is_commit = flight.statement().ends_with("COMMIT") && !flight.is_answered;
        let is_kept = is_commit && commits.fetch_add(1, Ordering::SeqCst) == 1;
        if is_kept { Order::Keep } else { Order::Pass }
    });
    let ran = through.run(&SWEEP).exits(69);
    is_partial(&ground, &ran);
}
