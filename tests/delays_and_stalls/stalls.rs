//! The stall budget through the program: with 1, the first loss requeues and the second fails.

use crate::cli::scene::{incident, orphans};
use crate::support::cli::Doctor;
use serde_json::Value;

fn lost(stalls: &str) -> Doctor {
    let doctor = incident();
    doctor.sql("DELETE FROM jobs WHERE id <> 1; UPDATE jobs SET attempts = 0");
    // A column without NOT NULL, as home-made tables have it.
    doctor.sql("ALTER TABLE jobs DROP COLUMN stalls; ALTER TABLE jobs ADD COLUMN stalls");
    doctor.sql(&format!("UPDATE jobs SET stalls = {stalls}"));
    doctor
}

fn plan(doctor: &Doctor, more: &[&str]) -> Value {
    doctor.on_queue(&[&["reclaim", "--json"], more].concat()).exits(0).document("reclaim")
}

#[test]
fn the_budget_is_spent_at_its_last_loss_and_not_before() {
    for (budget, stalls, expected) in [
        ("0", "0", "fail"),
        ("1", "0", "requeue"),
        ("1", "1", "fail"),
        ("2", "0", "requeue"),
        ("2", "1", "requeue"),
        ("2", "2", "fail"),
        ("2", "3", "fail"),
        ("2", "NULL", "requeue"),
        ("0", "NULL", "fail"),
        ("4294967295", "9", "requeue"),
        ("3", "9223372036854775807", "fail"),
    ] {
        let document = plan(&lost(stalls), &["--max-stalls", budget]);
        assert_eq!(document["steps"][0]["action"], expected, "{budget} allowed, lost {stalls} times: {document:#}");
    }
}

#[test]
fn it_says_why() {
    let doctor = lost("3");
    let document = plan(&doctor, &["--max-stalls", "2"]);
    let reasons = document["steps"][0]["reasons"].as_array().unwrap();
    let last = reasons.last().unwrap();
    assert_eq!((&last["rule"], &last["proves"]), (&"max_stalls".into(), &Value::Null));
    assert_eq!(last["detail"], "lost 3 times already, 2 allowed");
    assert_eq!((&document["steps"][0]["stalls"], &document["steps"][0]["state_after"]), (&3.into(), &"FAILED".into()));
    let table = doctor.on_queue(&["reclaim", "--max-stalls", "2", "-o", "wide"]).exits(0);
    table.shows("lost 3 times already, 2 allowed").says("lost before: 1 (3 times)\n");
    // Within its budget nothing is said of it but that it was lost.
    let within = plan(&doctor, &["--max-stalls", "9"]);
    assert!(within["steps"][0]["reasons"].as_array().unwrap().iter().all(|reason| reason["rule"] != "max_stalls"));
    assert_eq!(within["warnings"].as_array().unwrap().last().unwrap(), "lost before: 1 (3 times)");
}

#[test]
fn those_that_were_lost_before_are_named_as_far_as_the_plan_goes() {
    let doctor = orphans(9);
    doctor.sql("UPDATE jobs SET stalls = id % 3");
    let warning = |more: &[&str]| plan(&doctor, more)["warnings"].as_array().unwrap().last().cloned();
    let fails = "; --max-stalls 2 fails what was lost so often";
    let named = "lost before: 2 (2 times), 5 (2 times), 8 (2 times), 1 (once), 4 (once) and 1 more";
    assert_eq!(warning(&[]), Some(format!("{named}{fails}").into()));
    // Longest silent first: 9, 8, 7.
    assert_eq!(warning(&["--limit", "3"]), Some(format!("lost before: 8 (2 times), 7 (once){fails}").into()));
    assert_eq!(warning(&["--limit", "1"]), None);
}

#[test]
fn what_cannot_be_counted_is_held_and_never_unlimited() {
    for stalls in ["'twice'", "-1", "1.5", "x'00'"] {
        let doctor = lost(stalls);
        let document = plan(&doctor, &["--max-stalls", "5"]);
        assert_eq!(document["summary"]["planned"], 0, "{stalls}: {document:#}");
        assert_eq!(document["skipped"][0]["reason"], "stalls_unreadable", "{stalls}");
        assert!(document["skipped"][0]["stalls"].is_null());
        // Nobody asked, so nobody minds.
        assert_eq!(plan(&doctor, &[])["steps"][0]["action"], "requeue");
    }
}

#[test]
fn asked_to_go_back_it_is_held() {
    let doctor = lost("2");
    let document = plan(&doctor, &["--max-stalls", "2", "--to", "requeue"]);
    assert_eq!(document["skipped"][0]["reason"], "stalls_exhausted");
    assert_eq!(
        document["skipped"][0]["detail"],
        "lost 2 times already, 2 allowed: only a higher --max-stalls requeues it"
    );
    assert_eq!(plan(&doctor, &["--max-stalls", "3", "--to", "requeue"])["steps"][0]["action"], "requeue");
}

/// Its attempts count as ever: whichever is used up first.
#[test]
fn attempts_and_budget_stand_side_by_side() {
    let doctor = lost("0");
    doctor.sql("UPDATE jobs SET attempts = 4");
    let document = plan(&doctor, &["--max-stalls", "9"]);
    assert_eq!(document["steps"][0]["action"], "fail");
    assert!(document["steps"][0]["reasons"].as_array().unwrap().iter().all(|reason| reason["rule"] != "max_stalls"));
    // Somebody wanted it cancelled: that is done, whatever else is used up.
    doctor.sql("UPDATE jobs SET stalls = 9, cancel_requested_at = unixepoch() - 60");
    assert_eq!(plan(&doctor, &["--max-stalls", "1"])["steps"][0]["action"], "cancel");
}
