//! A wrong reclaim, and taking it back: `host-70` is swept in place of `host-7`, while its workers are cut off for a moment.

use super::script::host;
use super::{Incident, played};
use crate::readme::session::Session;
use crate::support::cli::until;
use crate::support::shop::Shop;
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn on_sqlite_what_nobody_has_touched_is_given_back_byte_for_byte() {
    played(Shop::on_sqlite, take_it_back);
}

#[test]
fn on_postgres_what_nobody_has_touched_is_given_back_byte_for_byte() {
    played(Shop::on_postgres, take_it_back);
}

fn ids(document: &Value, with: impl Fn(&Value) -> bool) -> BTreeSet<i64> {
    let lists = ["steps", "skipped"].map(|list| document[list].as_array().expect("a list").iter());
    lists
        .into_iter()
        .flatten()
        .filter(|step| with(step))
        .map(|step| step["id"].as_str().expect("an id").parse().expect("a number"))
        .collect()
}

fn take_it_back(incident: &mut Incident) {
    let operator = Session::at(&incident.shop.address());
    let say = |command: &str| -> Value { serde_json::from_str(&operator.say(command)).expect("a document") };
    let fleet = &incident.fleet;
    // Only busy workers are left, which take a job now and then.
    fleet.pause(|owner| matches!(host(owner), "host-8" | "host-70"));
    // One that was paused between two jobs holds one less. A claim of this very second may be a new worker's.
    let held = "SELECT id FROM jobs WHERE status = 'RUNNING' AND owner_id LIKE 'host-70:%'";
    let fresh = format!("{held} AND claimed_at >= {}", incident.shop.at(-1));
    until("no claim is of this second", || incident.shop.rows(&fresh).is_empty());
    let held = incident.shop.rows(held).len();
    assert!((10..=12).contains(&held), "{held} jobs are in flight");
    let before = incident.shop.image();
    let swept = say("jobdoctor sweep --restart --host host-70 --apply --json -q");
    let moved = ids(&swept, |step| step["outcome"] == "moved");
    assert_eq!(moved.len(), held, "{swept:#}");
    // By the state, not by a picture of the rows: a worker may take a job before one can be made.
    let begun = "SELECT id FROM jobs WHERE status <> 'QUEUED'";
    let touched = || -> BTreeSet<i64> {
        let begun = incident.shop.rows(begun);
        begun.iter().map(|id| id.parse().expect("a number")).filter(|id| moved.contains(id)).collect()
    };
    until("others have begun with some of the jobs", || touched().len() > 1);
    fleet.pause(|_| true);
    let now = incident.shop.image();
    let touched = touched();
    assert!(touched.len() < moved.len(), "media and reports have nobody who could");

    let run = swept["run_id"].as_str().expect("the id of the run");
    let plan = say(&format!("jobdoctor undo {run} --json -q"));
    assert_eq!(incident.shop.image(), now, "{plan:#}");
    let undone = say(&format!("jobdoctor undo {run} --apply --json -q || test $? = 3"));
    let revertible = ids(&undone, |step| step["outcome"] == "moved");
    let left = ids(&undone, |step| step["outcome"] != "moved");
    assert_eq!(left, touched, "{undone:#}");
    assert_eq!(revertible, &moved - &touched, "{undone:#}");
    let end = incident.shop.image();
    for (id, row) in &end {
        assert_eq!(row, if revertible.contains(id) { &before[id] } else { &now[id] }, "job {id}");
    }

    // Its workers come back, and go on with what was given back as if nothing had happened.
    fleet.go_on();
    let lost = || -> BTreeSet<i64> {
        let id = |entry: &String| entry.split(' ').next().expect("an id").parse().expect("a number");
        fleet.log(|log| log.lost.iter().map(id).collect())
    };
    until("they find the others lost", || lost().is_superset(&touched));
    until("they send heartbeats", || {
        let alive = incident.shop.image();
        revertible.iter().all(|id| alive[id] != end[id])
    });
    assert_eq!(lost(), touched);
}
