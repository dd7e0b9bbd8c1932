//! Several doctors at once: one death costs one attempt, and each job has one who says that he moved it.

use crate::support::doctor::{apply_within, built_in, limits_waiting, planned};
use crate::support::edit::Value::{Ago, Int, Text};
use crate::support::edit::insert;
use crate::support::labs::for_each_sql_store;
use crate::support::tables::JOBS;
use jobdoctor::model::Outcome;
use jobdoctor::store::{Address, Surroundings};
use std::sync::Barrier;
use std::time::Duration;

const DOCTORS: usize = 4;
const JOBS_EACH: i64 = 300;

#[test]
fn doctors_over_the_same_steps_count_each_death_once() {
    for_each_sql_store(|lab| {
        lab.create(&[JOBS]);
        let rows: Vec<_> = (0..JOBS_EACH)
            .map(|id| {
                let cells =
                    [("id", Int(id)), ("status", Text("RUNNING")), ("heartbeat_at", Ago(900)), ("attempts", Int(0))];
                insert("jobs", &cells)
            })
            .collect();
        lab.edit(&rows);
        let (_, spec, steps) = planned(lab, &built_in("lease"));
        assert_eq!(steps.len() as i64, JOBS_EACH);
        let barrier = Barrier::new(DOCTORS);
        let address = lab.address();
        let ends: Vec<Vec<Outcome>> = std::thread::scope(|scope| {
            let doctors: Vec<_> = (0..DOCTORS)
                .map(|n| {
                    let (spec, steps, barrier, address) = (&spec, &steps, &barrier, &address);
                    scope.spawn(move || {
                        let store = jobdoctor::store::open(&Address::parse(address, &Surroundings::default()).unwrap());
                        // Not all in the same order, so that they meet in the middle.
                        let mut mine = steps.clone();
                        if n % 2 == 1 {
                            mine.reverse();
                        }
                        barrier.wait();
                        let limits = limits_waiting(Duration::from_secs(20));
                        let batches = mine.chunks(50).map(|batch| apply_within(&*store, spec, batch, &limits));
                        batches
                            .flat_map(|report| {
                                assert!(report.stop.is_none(), "{:?}", report.stop);
                                report.results.into_iter().map(|result| result.outcome)
                            })
                            .collect()
                    })
                })
                .collect();
            doctors.into_iter().map(|doctor| doctor.join().unwrap()).collect()
        });
        let all: Vec<Outcome> = ends.into_iter().flatten().collect();
        let moved = all.iter().filter(|end| **end == Outcome::Moved).count();
        assert_eq!(moved as i64, JOBS_EACH, "{}: each by one", lab.name());
        let allowed = [Outcome::Moved, Outcome::Changed, Outcome::Locked];
        assert!(all.iter().all(|end| allowed.contains(end)), "{}", lab.name());
        for id in 0..JOBS_EACH {
            let row = lab.row(&JOBS, id);
            assert!(row.contains(&"attempts=1".to_owned()), "{}: {id}: {row:?}", lab.name());
        }
    });
}
