//! Deliberately mutants of the guard: with any one part of it taken out, the scenario that only that part tells apart
//! overwrites what another session wrote. A part that no scenario stands on would be a part that nobody tests.

use super::scenarios::{Queue, Scenario, all};
use crate::support::doctor::{apply, column_of, do_not_compare, forget_evidence, outcomes};
use crate::support::labs::{Lab, MemoryLab, for_each_store};
use jobdoctor::model::Outcome;
use jobdoctor::preset::{Jobs, StateSource};

/// The guard without that column, wherever it stands.
fn without(mut spec: Jobs, column: &str) -> Jobs {
    do_not_compare(&mut spec, column);
    if matches!(&spec.claim.state, StateSource::Column(state) if state.name == column) {
        // The verify asks for a state in flight besides.
        spec.states.extend(spec.queue.states.done.clone());
    }
    spec
}

/// Judges with the mutant, lets the scenario happen, and applies with the mutant.
fn play(lab: &dyn Lab, scenario: &Scenario, mutant: impl Fn(Jobs) -> Jobs, trust: bool) -> Outcome {
    lab.clear();
    scenario.queue.set_up(lab);
    lab.edit(&scenario.before);
    let store = lab.store();
    let spec = mutant(scenario.queue.spec(&*store));
    let mut steps = scenario.queue.steps(&*store, &spec);
    steps.truncate(1);
    if trust {
        forget_evidence(&mut steps);
    }
    lab.edit(&scenario.edits);
    outcomes(&apply(&*store, &spec, &steps))[0]
}

#[test]
fn every_column_of_the_precondition_has_a_scenario_that_needs_it() {
    for queue in Queue::ALL {
        let lab = MemoryLab::new();
        queue.set_up(&lab);
        let spec = queue.spec(&*lab.store());
        for column in spec.claim.precondition.iter().map(column_of) {
            let needed = all().iter().any(|scenario| scenario.queue == queue && scenario.alone == Some(column));
            assert!(needed, "{queue:?}: no scenario stands on {column} alone");
        }
    }
}

#[test]
fn without_a_column_of_its_precondition_the_write_overwrites() {
    for_each_store(|lab| {
        for scenario in all() {
            let Some(column) = scenario.alone else { continue };
            let place = format!("{}: {:?}: {}", lab.name(), scenario.queue, scenario.name);
            assert_eq!(play(lab, &scenario, |spec| spec, true), scenario.ends, "whole: {place}");
            let ends = play(lab, &scenario, |spec| without(spec, column), true);
            assert_eq!(ends, Outcome::Moved, "the mutant without {column} was caught by something else: {place}");
        }
    });
}

#[test]
fn without_its_holds_the_write_overwrites() {
    for_each_store(|lab| {
        let scenario = named("an operator pauses it");
        let mutant = |mut spec: Jobs| {
            spec.skips.clear();
            spec
        };
        assert_eq!(play(lab, &scenario, mutant, false), Outcome::Moved, "{}", lab.name());
    });
}

/// The lock on the owner's row is what makes a heartbeat count that is not committed yet.
#[test]
fn without_its_evidence_row_the_write_runs_ahead_of_an_open_heartbeat() {
    for_each_store(|lab| {
        for scenario in [named("its owner comes back to life"), named("its missing owner comes back")] {
            // Where one writes at a time, nothing is open while we write.
            if !lab.locks_rows() {
                continue;
            }
            lab.clear();
            scenario.queue.set_up(lab);
            lab.edit(&scenario.before);
            let (store, spec, whole) = scenario.queue.planned(lab);
            let mut mutant = whole.clone();
            forget_evidence(&mut mutant);
            let beat = lab.hold(&scenario.edits);
            let place = format!("{}: {}", lab.name(), scenario.name);
            assert_eq!(outcomes(&apply(&*store, &spec, &whole[..1])), [Outcome::Locked], "{place}");
            assert_eq!(outcomes(&apply(&*store, &spec, &mutant[..1])), [Outcome::Moved], "{place}");
            beat.commit();
        }
    });
}

fn named(name: &str) -> Scenario {
    all().into_iter().find(|scenario| scenario.name == name).unwrap()
}
