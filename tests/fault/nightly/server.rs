//! The server ends a run's session, or itself (F12): in the middle of a run, in each of its ways, and comes back. Whole batches
//! stay; what was in doubt is asked for or told to be in doubt; and the next run finishes it.

use crate::fault::many::{Many, RECLAIM};
use crate::support::cli::Ran;
use crate::support::figures;
use crate::support::postgres::Cluster;
use crate::support::shop::Shop;
use rustix::process::Signal;
use std::time::Duration;

const DEAD: u32 = 4_000;
const ROUNDS: u64 = 8;

/// Makes sure of a run that something befell; false if it came too late.
fn survived(many: &Many, ran: &Ran, place: &str) -> bool {
    assert!(ran.signal.is_none() && [0, 3, 5, 69, 75].contains(&ran.code), "{place}: {ran:#?}");
    many.is_over();
    let standing = many.standing().unwrap_or_else(|wrong| panic!("{place}: {wrong}"));
    many.is_honest(ran, standing);
    if ran.code == 69 {
        assert!(!ran.stderr.trim().is_empty(), "{place}: it says why");
    }
    many.converges();
    ran.code != 0
}

#[test]
fn sessions_are_terminated() {
    let many = Many::in_queue(Shop::empty_on_postgres(), DEAD);
    let mut faults = 0;
    for round in 0..ROUNDS * 2 {
        many.again();
        let mut running = many.shop.doctor.start(&many.shop.with_db(&RECLAIM));
        assert!(many.begins(&mut running), "round {round}: {:#?}", running.wait());
        std::thread::sleep(Duration::from_millis(round * 2));
        many.shop.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE application_name LIKE 'jobdoctor/%' AND datname = current_database()",
        );
        faults += u64::from(survived(&many, &running.wait(), &format!("round {round}")));
    }
    assert!(faults > ROUNDS / 2, "{faults} were in the middle");
    figures::add(faults, "faults survived");
}

fn restarted(how: Signal) {
    // What is told to be committed must be there afterwards.
    let mut cluster = Cluster::start(5432, &["synchronous_commit=on"], |_| {});
    let many = Many::on(Shop::on(cluster.fresh()), DEAD);
    let mut faults = 0;
    for round in 0..ROUNDS {
        many.again();
        let mut running = many.shop.doctor.start(&many.shop.with_db(&RECLAIM));
        assert!(many.begins(&mut running), "round {round}: {:#?}", running.wait());
        std::thread::sleep(Duration::from_millis(round * 3));
        cluster.stop(how);
        cluster.start_again();
        faults += u64::from(survived(&many, &running.wait(), &format!("{how:?}, round {round}")));
    }
    assert!(faults > ROUNDS / 3, "{faults} were in the middle");
    figures::add(faults, "faults survived");
}

#[test]
fn restarted_fast() {
    restarted(Signal::INT);
}

#[test]
fn restarted_immediately() {
    restarted(Signal::QUIT);
}
