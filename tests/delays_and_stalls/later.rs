//! `--delay` and `--jitter` through the program, on both engines.

use crate::cli::scene::{incident, orphans};
use crate::support::cli::Doctor;

/// When the requeued jobs may run, in seconds from an instant, in the order of the plan: longest silent first.
fn seconds_from(doctor: &Doctor, instant: i64) -> Vec<i64> {
    let query = format!("SELECT run_at - {instant} FROM jobs WHERE status = 'QUEUED' AND run_at > 0 ORDER BY id DESC");
    doctor.rows(&query).iter().map(|row| row.parse().unwrap()).collect()
}

fn clock(doctor: &Doctor) -> i64 {
    doctor.rows("SELECT unixepoch()")[0].parse().unwrap()
}

/// Twice the same command is not twice the same instants: two hosts that sweep at once must not agree.
#[test]
fn nobody_can_foresee_the_instants() {
    let run = || {
        let doctor = orphans(30);
        let before = clock(&doctor);
        doctor.on_queue(&["reclaim", "--max-jobs", "9999", "--apply", "--jitter", "7d"]).exits(0);
        seconds_from(&doctor, before)
    };
    let (first, second) = (run(), run());
    let apart = first.iter().zip(&second).filter(|(a, b)| (*a - *b).abs() > 60).count();
    assert!(apart > 20, "{first:?}\n{second:?}");
}

/// Only what goes back waits: the one that fails and the one that is cancelled are done with now.
#[test]
fn other_actions_do_not_wait() {
    let doctor = incident();
    let before = clock(&doctor);
    doctor.on_queue(&["reclaim", "--max-jobs", "9999", "--apply", "--delay", "1h"]).exits(0);
    let ended = doctor
        .rows(&format!("SELECT id, status, run_at IS NULL, finished_at - {before} < 60 FROM jobs WHERE id IN (2, 4)"));
    assert_eq!(ended, ["2 FAILED 1 1", "4 CANCELLED 1 1"]);
    assert_eq!(seconds_from(&doctor, before).len(), 3);
}

#[test]
fn a_dry_run_says_when_and_the_next_command_repeats_it() {
    let doctor = orphans(2);
    let ran = doctor.run(&["reclaim", "--db", "queue.db", "--delay", "30s", "--jitter=2m"]).exits(0);
    ran.says("requeued jobs may run 30s later, spread over 2m")
        .says("jobdoctor reclaim --db queue.db --delay 30s --jitter=2m --expect ");
    assert_eq!(doctor.rows("SELECT DISTINCT status FROM jobs"), ["RUNNING"]);
    let lines = doctor.on_queue(&["reclaim", "--delay", "30s", "-o", "jsonl"]).exits(0).stdout;
    let head: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!((&head["delay_seconds"], &head["jitter_seconds"]), (&30.0.into(), &serde_json::Value::Null));
    // A plan is the same plan, whenever its jobs run.
    assert_eq!(head["digest"], doctor.on_queue(&["reclaim", "--json"]).exits(0).json()["digest"]);
}
