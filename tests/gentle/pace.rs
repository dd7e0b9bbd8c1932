//! How much a run asks of the workers: small batches, and large ones only where the operator says that no worker waits.

use crate::cli::scene::orphans;
use crate::support::cli::Doctor;
use serde_json::Value;
use std::fs;

const APPLY: [&str; 6] = ["reclaim", "--db", "queue.db", "--max-jobs", "9999", "--apply"];

/// How many jobs each batch had, as the journal was told.
fn batches(doctor: &Doctor) -> Vec<usize> {
    let journal = fs::read_dir(doctor.home(".local/state/jobdoctor/journal")).unwrap().next().unwrap().unwrap();
    let lines: Vec<Value> =
        fs::read_to_string(journal.path()).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let intents = lines.iter().filter(|line| line["type"] == "intent");
    intents.map(|intent| intent["changes"].as_array().unwrap().len()).collect()
}

#[test]
fn batches_begin_small_and_at_most_double() {
    let doctor = orphans(300);
    doctor.run(&APPLY).exits(0);
    let batches = batches(&doctor);
    assert_eq!((batches[0], batches.iter().sum::<usize>()), (20, 300), "{batches:?}");
    assert!(batches.windows(2).all(|pair| pair[1] <= 2 * pair[0]), "{batches:?}");
}

#[test]
fn without_workers_all_goes_at_once() {
    let doctor = orphans(300);
    doctor.run(&[&APPLY[..], &["--fast"]].concat()).exits(0);
    assert_eq!(batches(&doctor), [300]);
}

#[test]
fn a_dry_run_is_neither_fast_nor_slow() {
    let doctor = orphans(1);
    let ran = doctor.run(&["reclaim", "--db", "queue.db", "--fast"]).exits(2);
    assert!(ran.stderr.contains("--apply"), "{ran:#?}");
}
