//! What only the operator knows is said with --option, or with `options` of the target.

use super::tables::shop;
use crate::support::cli::{Doctor, fails};
use crate::support::shop::Shop;
use std::fs;

/// One lock of an hour ago, whose job has failed twice.
fn locked() -> Shop {
    shop(
        "delayed-job",
        "4.2.0",
        "INSERT INTO delayed_jobs (id, priority, attempts, handler, run_at, locked_at, locked_by, created_at, updated_at)
           VALUES (1, 0, 2, '', now(), now() - interval '1 hour', 'host:web1 pid:7', now(), now())",
    )
}

#[test]
fn by_flag_by_target_and_the_flag_counts() {
    let shop = locked();
    let planned = |arguments: &[&str]| {
        let document = shop.doctor.run(&[&["reclaim", "--json"], arguments].concat()).exits(0).json();
        let steps = document["steps"].as_array().unwrap();
        steps.iter().map(|step| step["action"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(planned(&["--db", &shop.url]).is_empty(), "an hour is less than the library's four");
    let shorter = ["--db", &shop.url, "--option", "max_run_time=30m"];
    assert_eq!(planned(&shorter), ["requeue"]);
    assert_eq!(planned(&[&shorter[..], &["--option", "max_attempts=3"]].concat()), ["fail"]);
    let options = "options = { max_run_time = \"30m\", max_attempts = 3 }";
    let target = format!("[target.app]\ndb = \"{}\"\n{options}\n", shop.url);
    fs::write(shop.doctor.path("config.toml"), target).unwrap();
    let by_target = ["--config", "config.toml"];
    assert_eq!(planned(&by_target), ["fail"]);
    assert_eq!(planned(&[&by_target[..], &["--option", "max_attempts=25"]].concat()), ["requeue"]);
    shop.doctor.run(&[&["env"], &by_target[..]].concat()).exits(0).shows("max_run_time=30m, max_attempts=3");
}

#[test]
fn what_the_preset_does_not_know_is_refused() {
    let shop = locked();
    for (option, why) in [
        ("max_attempt=3", "there is no option `max_attempt`, did you mean `max_attempts`?"),
        ("max_attempts=many", "option max_attempts: `many` is not a number of 0 or more"),
        ("max_run_time=2 fortnights", "option max_run_time: "),
        ("time_zone=Europe/Atlantis", "Europe/Atlantis"),
    ] {
        let said = fails(&shop.doctor, &shop.with_db(&["stale", "--option", option]), 78).stderr;
        assert!(said.contains(why), "{said}");
    }
    shop.run(&["stale", "--option", "max_attempts"]).exits(2).says("must be NAME=VALUE");
}

/// A scheduler that beats once an hour, and was seen 40 minutes ago.
#[test]
fn a_threshold_of_the_application_is_asked_for_until_it_is_said() {
    let row = "INSERT INTO scheduled_tasks (task_name, task_instance, execution_time, picked, picked_by, last_heartbeat, version)
               VALUES ('mail', '1', now(), true, 'web1', now() - interval '40 minutes', 1)";
    let shop = shop("db-scheduler", "2026-06", row);
    let stale = |option: &[&str]| shop.run(&[&["stale", "-o", "name"], option].concat()).exits(0).stdout;
    let hourly = ["--option", "heartbeat_interval=1h"];
    assert_eq!(stale(&[]), "mail/1\n");
    assert_eq!(stale(&hourly), "");
    assert_eq!(stale(&["--option", "heartbeat_interval=7m"]), "", "42 minutes are six beats");
    for (option, whole) in [("missed_heartbeats=0", "0 * 5m"), ("heartbeat_interval=9y", "6 * 9y")] {
        let refused = fails(&shop.doctor, &shop.with_db(&["stale", "--option", option]), 78).stderr;
        let why = format!("`{whole}` is no threshold");
        assert!(refused.contains(&why), "{refused}");
    }
    let asks = "heartbeat_interval (5m) and missed_heartbeats (6) are set in the application";
    for command in ["check", "reclaim"] {
        for (more, is_asked) in [(&[][..], true), (&hourly, false)] {
            let said = shop.run(&[&[command, "--json"], more].concat()).exits(0).stdout;
            assert_eq!(said.contains(asks), is_asked, "{command} {more:?}: {said}");
        }
    }
}

/// A longer `retry` than the preset was told of: the locks of all claims lie too far ahead.
#[test]
fn a_queue_of_unknown_claims_is_told_the_option_that_they_lack() {
    let doctor = Doctor::new();
    doctor.sql_in("q.db", include_str!("../../fixtures/schemas/django-q/sqlite/1.11.1.sql"));
    let row = "INSERT INTO django_q_ormq (key, payload, lock) VALUES ('shop', 'x:1:y', datetime('now', '+20 hours'));";
    doctor.sql_in("q.db", &row.repeat(3));
    let check = doctor.run(&["check", "--db", "q.db"]).exits(78).stdout;
    let unknown = check.split("claims that cannot be judged").nth(1).unwrap();
    let remedy = unknown.lines().take_while(|line| !line.starts_with("warning")).collect::<Vec<_>>().join(" ");
    assert!(remedy.contains("--option retry=") && !remedy.contains("time_zone="), "{check}");
}
