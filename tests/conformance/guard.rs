//! The heart: whatever happens to a job between the snapshot and the write, the write leaves alone what it had not judged.

use super::scenarios::{Queue, Scenario, all};
use crate::support::doctor::{apply, apply_within, limits_waiting, outcomes};
use crate::support::labs::{Lab, for_each_store};
use jobdoctor::model::{Outcome, Step};
use jobdoctor::preset::Jobs;
use jobdoctor::store::StoreErrorKind;
use std::time::Duration;

/// A lab in which job 1 has been judged, and what was decided.
struct Judged<'l> {
    lab: &'l dyn Lab,
    spec: Jobs,
    steps: Vec<Step>,
}

impl Judged<'_> {
    fn new<'l>(lab: &'l dyn Lab, scenario: &Scenario) -> Judged<'l> {
        lab.clear();
        scenario.queue.set_up(lab);
        lab.edit(&scenario.before);
        let (_, spec, steps) = scenario.queue.planned(lab);
        Judged { lab, spec, steps }
    }

    fn apply(&self, steps: &[Step]) -> Vec<Outcome> {
        outcomes(&apply(&*self.lab.store(), &self.spec, steps))
    }

    fn place(&self, scenario: &Scenario) -> String {
        format!("{}: {:?}: {}", self.lab.name(), scenario.queue, scenario.name)
    }
}

fn each(test: impl Fn(&Scenario, &Judged<'_>)) {
    for_each_store(|lab| {
        for scenario in all() {
            test(&scenario, &Judged::new(lab, &scenario));
        }
    });
}

#[test]
fn undisturbed_jobs_are_moved() {
    for_each_store(|lab| {
        for queue in Queue::ALL {
            lab.clear();
            queue.set_up(lab);
            let (store, spec, steps) = queue.planned(lab);
            assert_eq!(outcomes(&apply(&*store, &spec, &steps)), [Outcome::Moved; 2], "{}", lab.name());
        }
    });
}

#[test]
fn what_was_committed_before_the_write_stands() {
    each(|scenario, judged| {
        let place = judged.place(scenario);
        judged.lab.edit(&scenario.edits);
        let written = scenario.queue.image(judged.lab);
        assert_eq!(judged.apply(&judged.steps[..1]), [scenario.ends], "{place}");
        assert_eq!(scenario.queue.image(judged.lab), written, "{place}");
        // And it holds nobody else back.
        assert_eq!(judged.apply(&judged.steps), [scenario.ends, Outcome::Moved], "{place}");
    });
}

#[test]
fn what_is_committed_after_the_write_stands() {
    each(|scenario, judged| {
        let place = judged.place(scenario);
        let before = scenario.queue.image(judged.lab);
        let mut other = judged.lab.hold(&scenario.edits);
        let written: Vec<String> = scenario.queue.tables().iter().map(|table| other.image(table)).collect();
        let report = apply(&*judged.lab.store(), &judged.spec, &judged.steps[..1]);
        if judged.lab.locks_rows() {
            assert_eq!(outcomes(&report), [Outcome::Locked], "{place}");
        } else {
            // One writer at a time: ours gives up, and says that it has not tried.
            assert_eq!(report.results[0].outcome, Outcome::NotTried, "{place}");
            assert_eq!(report.stop.map(|error| error.kind), Some(StoreErrorKind::Busy), "{place}");
        }
        assert_eq!(scenario.queue.image(judged.lab), before, "{place}");
        other.commit();
        assert_eq!(scenario.queue.image(judged.lab), written, "{place}");
        assert_eq!(judged.apply(&judged.steps), [scenario.ends, Outcome::Moved], "{place}");
    });
}

#[test]
fn an_open_transaction_holds_nobody_else_back() {
    each(|scenario, judged| {
        if judged.lab.locks_rows() {
            let place = judged.place(scenario);
            let other = judged.lab.hold(&scenario.edits);
            assert_eq!(judged.apply(&judged.steps), [Outcome::Locked, Outcome::Moved], "{place}");
            other.commit();
            assert_eq!(judged.apply(&judged.steps[..1]), [scenario.ends], "{place}");
        }
    });
}

#[test]
fn where_one_writes_at_a_time_the_write_waits_its_turn() {
    each(|scenario, judged| {
        if !judged.lab.locks_rows() {
            let place = judged.place(scenario);
            let mut other = judged.lab.hold(&scenario.edits);
            let written: Vec<String> = scenario.queue.tables().iter().map(|table| other.image(table)).collect();
            let committing = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(30));
                other.commit();
            });
            let limits = limits_waiting(Duration::from_secs(10));
            let report = apply_within(&*judged.lab.store(), &judged.spec, &judged.steps[..1], &limits);
            committing.join().unwrap();
            assert_eq!(outcomes(&report), [scenario.ends], "{place}");
            assert_eq!(scenario.queue.image(judged.lab), written, "{place}");
        }
    });
}

#[test]
fn what_is_taken_back_did_not_happen() {
    each(|scenario, judged| {
        let place = judged.place(scenario);
        judged.lab.hold(&scenario.edits).rollback();
        assert_eq!(judged.apply(&judged.steps), [Outcome::Moved, Outcome::Moved], "{place}");
    });
}
