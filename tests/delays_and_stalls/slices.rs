//! What every store must do with waits: each row its own, none lost between two slices.

use crate::support::doctor::{apply_later, built_in, outcomes, planned};
use crate::support::edit::Value::{Ago, Int, Text};
use crate::support::edit::{Edit, insert};
use crate::support::labs::{Lab, as_in_memory, for_each_sql_store};
use crate::support::tables::JOBS;
use jobdoctor::model::{Outcome, Step};
use jobdoctor::preset::Jobs;
use std::time::Duration;

fn dead(id: i64) -> Edit {
    insert(
        "jobs",
        &[
            ("id", Int(id)),
            ("kind", Text("SendMail")),
            ("status", Text("RUNNING")),
            ("run_at", Ago(9000)),
            ("heartbeat_at", Ago(7000)),
            ("attempts", Int(1)),
        ],
    )
}

fn judged(lab: &dyn Lab, jobs: i64) -> (Jobs, Vec<Step>) {
    lab.create(&[JOBS]);
    lab.edit(&(1..=jobs).map(dead).collect::<Vec<_>>());
    let (_, spec, steps) = planned(lab, &built_in("lease"));
    assert_eq!(steps.len(), usize::try_from(jobs).unwrap());
    (spec, steps)
}

/// Now for every other one, later for the rest.
fn alternating(count: usize) -> Vec<Duration> {
    (0..count).map(|n| Duration::from_secs(if n % 2 == 0 { 0 } else { 600 + n as u64 })).collect()
}

#[test]
fn each_row_waits_as_long_as_it_shall() {
    as_in_memory(|lab| {
        let (spec, steps) = judged(lab, 23);
        let report = apply_later(&*lab.store(), &spec, &steps, &alternating(23));
        assert_eq!(outcomes(&report), [Outcome::Moved; 23], "{}", lab.name());
        let rows: Vec<Vec<String>> = (1..=23).map(|id| lab.row(&JOBS, id)).collect();
        for (n, row) in rows.iter().enumerate() {
            let expected = if n % 2 == 0 { "run_at=now" } else { "run_at=another time" };
            assert!(
                row.contains(&expected.to_owned()) && row.contains(&"status=QUEUED".to_owned()),
                "{}: {row:?}",
                lab.name()
            );
            assert!(row.contains(&"attempts=2".to_owned()) && row.contains(&"stalls=1".to_owned()), "once: {row:?}");
        }
        rows
    });
}

/// The same where one row is refused and the others go in pieces, whose slices are other ones.
#[test]
fn each_row_keeps_its_wait_when_one_is_refused() {
    for_each_sql_store(|lab| {
        let (spec, steps) = judged(lab, 40);
        lab.run("UPDATE jobs SET kind = 'k' || id");
        lab.run("CREATE UNIQUE INDEX one_waiting ON jobs (kind) WHERE status = 'QUEUED'");
        lab.run("INSERT INTO jobs (id, kind, status) VALUES (100, 'k17', 'QUEUED')");
        let waits: Vec<Duration> = (1..=40).map(|n| Duration::from_secs(n * 1000)).collect();
        let ends = outcomes(&apply_later(&*lab.store(), &spec, &steps, &waits));
        let refused: Vec<usize> = (0..40).filter(|n| ends[*n] == Outcome::Refused).collect();
        assert_eq!((refused.as_slice(), ends.iter().filter(|end| **end == Outcome::Moved).count()), (&[16][..], 39));
        for id in (1..=40).filter(|id| *id != 17) {
            let (early, late) = (lab.ago(-id * 1000 + 60), lab.ago(-id * 1000 - 60));
            let fits = format!("SELECT run_at BETWEEN {early} AND {late} FROM jobs WHERE id = {id}");
            assert!(lab.ask(&fits), "{}: {id} waits as long as another", lab.name());
        }
        assert!(lab.ask("SELECT status = 'RUNNING' AND attempts = 1 FROM jobs WHERE id = 17"), "{}", lab.name());
    });
}
