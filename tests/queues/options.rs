//! What only the operator knows is said with --option, or with `options` of the target.

use super::tables::tables;
use crate::support::cli::{Doctor, fails};
use crate::support::postgres::TestDatabase;
use std::fs;

/// One lock of an hour ago, whose job has failed twice.
fn locked() -> TestDatabase {
    let database = tables("delayed-job", "4.2.0").made();
    database
        .client()
        .batch_execute(
            "INSERT INTO delayed_jobs (id, priority, attempts, handler, run_at, locked_at, locked_by, created_at, updated_at)
               VALUES (1, 0, 2, '', now(), now() - interval '1 hour', 'host:web1 pid:7', now(), now())",
        )
        .unwrap();
    database
}

#[test]
fn by_flag_by_target_and_the_flag_counts() {
    let (doctor, database) = (Doctor::new(), locked());
    let url = database.url();
    let planned = |arguments: &[&str]| {
        let document = doctor.run(&[&["reclaim", "--json"], arguments].concat()).exits(0).json();
        document["steps"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| step["action"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert!(planned(&["--db", &url]).is_empty(), "an hour is less than the library's four");
    let shorter = ["--db", &url, "--option", "max_run_time=30m"];
    assert_eq!(planned(&shorter), ["requeue"]);
    assert_eq!(planned(&[&shorter[..], &["--option", "max_attempts=3"]].concat()), ["fail"]);
    let config = doctor.path("config.toml");
    let target = format!("[target.app]\ndb = \"{url}\"\noptions = {{ max_run_time = \"30m\", max_attempts = 3 }}\n");
    fs::write(&config, target).unwrap();
    let by_target = ["--config", config.to_str().unwrap()];
    assert_eq!(planned(&by_target), ["fail"]);
    assert_eq!(planned(&[&by_target[..], &["--option", "max_attempts=25"]].concat()), ["requeue"]);
    let env = doctor.run(&[&["env"], &by_target[..]].concat()).exits(0);
    assert!(env.stdout.contains("max_run_time=30m, max_attempts=3"), "{}", env.whole());
}

#[test]
fn what_the_preset_does_not_know_is_refused() {
    let (doctor, database) = (Doctor::new(), locked());
    let url = database.url();
    let said = |option: &str, code: i32| fails(&doctor, &["stale", "--db", &url, "--option", option], code).stderr;
    assert!(said("max_attempt=3", 78).contains("there is no option `max_attempt`, did you mean `max_attempts`?"));
    assert!(said("max_attempts=many", 78).contains("option max_attempts: `many` is not a number of 0 or more"));
    assert!(said("max_run_time=2 fortnights", 78).contains("option max_run_time: "));
    assert!(said("time_zone=Europe/Atlantis", 78).contains("Europe/Atlantis"));
    let usage = doctor.run(&["stale", "--db", &url, "--option", "max_attempts"]).exits(2);
    assert!(usage.stderr.contains("must be NAME=VALUE"), "{}", usage.whole());
}

/// A scheduler that beats once an hour, and was seen 40 minutes ago.
#[test]
fn a_threshold_of_the_application_is_asked_for_until_it_is_said() {
    let (doctor, database) = (Doctor::new(), tables("db-scheduler", "2026-06").made());
    let row = "INSERT INTO scheduled_tasks (task_name, task_instance, execution_time, picked, picked_by, last_heartbeat, version)
               VALUES ('mail', '1', now(), true, 'web1', now() - interval '40 minutes', 1)";
    database.client().batch_execute(row).unwrap();
    let url = database.url();
    let run = |arguments: &[&str]| doctor.run(&[arguments, &["--db", &url]].concat()).exits(0);
    let hourly = ["--option", "heartbeat_interval=1h"];
    assert_eq!(run(&["stale", "-o", "name"]).stdout, "mail/1\n");
    assert_eq!(run(&[&["stale", "-o", "name"], &hourly[..]].concat()).stdout, "");
    let seven_minutes = ["--option", "heartbeat_interval=7m"];
    assert_eq!(run(&[&["stale", "-o", "name"], &seven_minutes[..]].concat()).stdout, "", "42 minutes are six beats");
    for (option, whole) in [("missed_heartbeats=0", "0 * 5m"), ("heartbeat_interval=9y", "6 * 9y")] {
        let refused = fails(&doctor, &["stale", "--db", &url, "--option", option], 78).stderr;
        let why = format!(
            "`{{options.missed_heartbeats}} * {{options.heartbeat_interval}}` is {whole}, which is no threshold"
        );
        assert!(refused.contains(&why), "{refused}");
    }
    let asks =
        |ran: String| ran.contains("heartbeat_interval (5m) and missed_heartbeats (6) are set in the application");
    for command in ["check", "reclaim"] {
        let document = |more: &[&str]| run(&[&[command, "--json"], more].concat()).stdout;
        assert!(asks(document(&[])), "{command} names the option");
        assert!(!asks(document(&hourly)), "{command} asks for what was said");
    }
}

/// A longer `retry` than the preset was told of: the locks of all claims lie too far ahead.
#[test]
fn a_queue_of_unknown_claims_is_told_the_option_that_they_lack() {
    let doctor = Doctor::new();
    doctor.sql("q.db", include_str!("../../fixtures/schemas/django-q/sqlite/1.11.1.sql"));
    let row = "INSERT INTO django_q_ormq (key, payload, lock) VALUES ('shop', 'x:1:y', datetime('now', '+20 hours'));";
    doctor.sql("q.db", &row.repeat(3));
    let check = doctor.run(&["check", "--db", "q.db"]).exits(78).stdout;
    let unknown = check.split("claims that cannot be judged").nth(1).unwrap();
    let remedy = unknown.lines().take_while(|line| !line.starts_with("warning")).collect::<Vec<_>>().join(" ");
    assert!(remedy.contains("--option retry=") && !remedy.contains("time_zone="), "{check}");
}

/// A threshold of nothing on the row calls no claim dead.
#[test]
fn a_row_that_allows_no_silence_is_unknown() {
    let doctor = Doctor::new();
    let mapping = "[mapping.m]\ntime = { default = 'epoch s' }\nstates = { waiting = ['new'], in_flight = ['on'] }
        [mapping.m.claim]\ntable = 'q'\nkey = 'id'\nstate = 'status'
        liveness = [{ by = 'heartbeat', column = 'beat', silent_after = 'patience' }]
        [mapping.m.action]\nrequeue = { to = 'new' }";
    fs::write(doctor.path("m.toml"), mapping).unwrap();
    doctor.sql(
        "q.db",
        "CREATE TABLE q (id integer primary key, status text, beat integer, patience);
         INSERT INTO q SELECT column1, 'on', unixepoch() - 40, column2 FROM (VALUES (1, 0), (2, -1), (3, 0.5), (4, 'x'), (5, 1e30), (6, 1))",
    );
    let list = doctor.run(&["stale", "--config", "m.toml", "--preset", "m", "--db", "q.db", "--json"]).exits(0).json();
    assert_eq!((&list["summary"]["stuck"], &list["summary"]["unknown"]), (&1.into(), &5.into()), "{list:#}");
}
