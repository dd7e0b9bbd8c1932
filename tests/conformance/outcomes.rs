//! The seven ends of a step, told apart; and a commit whose answer is lost.

use super::scenarios::Queue;
use crate::support::cli::until;
use crate::support::doctor::{apply, apply_within, built_in, limits_waiting, outcomes, planned};
use crate::support::edit::Value::{Int, Text};
use crate::support::edit::{delete, set};
use crate::support::labs::{Journal, Lab, PostgresLab, SqlLab, SqliteLab, for_each_store, store_at};
use crate::support::proxy::{Cut, Proxy};
use jobdoctor::model::Outcome;
use jobdoctor::store::StoreErrorKind;
use std::time::{Duration, Instant};

#[test]
fn one_batch_in_which_every_job_ends_otherwise() {
    let lab = PostgresLab::new();
    Queue::Lease.set_up(&lab);
    lab.run("DELETE FROM jobs WHERE id = 3");
    for id in 3..=5 {
        lab.run(&format!(
            "INSERT INTO jobs SELECT {id}, queue, kind, status, run_at, owner_id, lease_token, claimed_at, heartbeat_at, \
             lease_expires_at, attempts FROM jobs WHERE id = 1"
        ));
    }
    lab.run("CREATE UNIQUE INDEX u ON jobs (stalls) WHERE stalls = 1; UPDATE jobs SET stalls = 10 WHERE id < 5");
    lab.run("INSERT INTO jobs (id, status, stalls) VALUES (100, 'QUEUED', 1)");
    let (store, spec, steps) = planned(&lab, &built_in("lease"));
    lab.edit(&[set("jobs", ("id", Int(2)), &[("owner_id", Text("w9"))]), delete("jobs", ("id", Int(3)))]);
    let held = lab.hold(&[set("jobs", ("id", Int(4)), &[("owner_id", Text("w9"))])]);
    let ends = outcomes(&apply(&*store, &spec, &steps));
    held.rollback();
    use Outcome::{Changed, Gone, Locked, Moved, Refused};
    assert_eq!(ends, [Moved, Changed, Gone, Locked, Refused]);
}

#[test]
fn where_nothing_can_be_tried_nothing_is_written() {
    for_each_store(|lab| {
        let Some(lab) = lab.sql() else { return };
        Queue::Lease.set_up(lab);
        let (store, spec, steps) = Queue::Lease.planned(lab);
        // The table is not what it was when the preset was resolved.
        lab.run("ALTER TABLE jobs RENAME COLUMN lease_token TO ticket");
        let before = lab.image("jobs");
        let report = apply(&*store, &spec, &steps);
        assert!(report.results.iter().all(|result| result.outcome == Outcome::NotTried), "{}", lab.name());
        assert_eq!(report.stop.map(|error| error.kind), Some(StoreErrorKind::Unfit), "{}", lab.name());
        assert_eq!(lab.image("jobs"), before, "{}", lab.name());
    });
}

/// SQLite's own patience is longer than that, and must not count.
#[test]
fn who_may_wait_for_no_lock_waits_for_none() {
    for journal in [Journal::Wal, Journal::Rollback] {
        let lab = SqliteLab::new(journal);
        Queue::Lease.set_up(&lab);
        let (store, spec, steps) = Queue::Lease.planned(&lab);
        let _writer = lab.hold(&[set("jobs", ("id", Int(3)), &[("owner_id", Text("w9"))])]);
        let tried = |_| {
            let begun = Instant::now();
            let report = apply_within(&*store, &spec, &steps, &limits_waiting(Duration::ZERO));
            assert_eq!(report.stop.map(|error| error.kind), Some(StoreErrorKind::Busy));
            begun.elapsed()
        };
        // The quickest of several: a machine may be busy now and then.
        let quickest = (0..10).map(tried).min().unwrap();
        assert!(quickest < Duration::from_millis(90), "{}: {quickest:?}", lab.name());
    }
}

/// What comes of a commit that the connection does not survive, and what is in the table.
fn cut(cut: Cut, comes_back: bool) -> (Vec<Outcome>, Option<StoreErrorKind>, usize) {
    let lab = PostgresLab::new();
    Queue::Lease.set_up(&lab);
    let (direct, spec, steps) = Queue::Lease.planned(&lab);
    let proxy = Proxy::before(lab.database.socket(), cut, comes_back);
    let report = apply(&*store_at(&lab.database.url_through(&proxy.socket())), &spec, &steps);
    assert!(proxy.has_cut());
    // The server notices a lost client only when it talks to it again.
    let others = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state LIKE '%in transaction%'";
    let mut client = lab.database.client();
    until("nobody else is in a transaction", || client.query(others, &[]).unwrap().is_empty());
    let queued = client.query("SELECT 1 FROM jobs WHERE status = 'QUEUED' AND attempts = 2", &[]).unwrap().len();
    let ends = report.results.iter().map(|result| result.outcome).collect();
    // And what came after it must find everything in order, once.
    let again = outcomes(&apply(&*direct, &spec, &steps));
    let left = if queued == 2 { Outcome::Changed } else { Outcome::Moved };
    assert_eq!(again, [left; 2]);
    (ends, report.stop.map(|error| error.kind), queued)
}

#[test]
fn a_commit_that_did_not_arrive_was_not_tried() {
    assert_eq!(
        cut(Cut::BeforeTheServer, true),
        (vec![Outcome::NotTried; 2], Some(StoreErrorKind::Lost), 0),
        "the server says that it is aborted"
    );
}

#[test]
fn a_commit_whose_answer_was_lost_is_asked_for() {
    assert_eq!(cut(Cut::AfterTheServer, true), (vec![Outcome::Moved; 2], None, 2));
}

#[test]
fn a_commit_that_nobody_can_be_asked_about_is_unknown() {
    assert_eq!(cut(Cut::AfterTheServer, false), (vec![Outcome::Unknown; 2], Some(StoreErrorKind::Lost), 2));
}

#[test]
fn a_batch_that_moves_nothing_has_nothing_unknown() {
    let lab = PostgresLab::new();
    Queue::Lease.set_up(&lab);
    let (_, spec, steps) = Queue::Lease.planned(&lab);
    lab.run("UPDATE jobs SET heartbeat_at = now()");
    let proxy = Proxy::before(lab.database.socket(), Cut::AfterTheServer, true);
    let report = apply(&*store_at(&lab.database.url_through(&proxy.socket())), &spec, &steps);
    let ends: Vec<Outcome> = report.results.iter().map(|result| result.outcome).collect();
    assert_eq!(ends, [Outcome::Changed; 2], "{report:?}");
}
