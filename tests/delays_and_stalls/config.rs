//! The same as settings of a target.

use crate::cli::scene::{incident, orphans};
use crate::support::cli::{Doctor, fails};

fn write(doctor: &Doctor, settings: &str) {
    std::fs::write(doctor.path("config.toml"), format!("[target.app]\ndb = \"queue.db\"\n{settings}")).unwrap();
}

#[test]
fn a_target_has_a_delay_and_a_flag_beats_it() {
    let doctor = orphans(2);
    write(&doctor, "delay = \"10m\"\njitter = \"1h\"\n");
    let said = |more: &[&str]| {
        let document = doctor.run(&[&["sweep", "--config", "config.toml", "--json"], more].concat()).exits(0).json();
        (document["delay_seconds"].as_f64(), document["jitter_seconds"].as_f64())
    };
    assert_eq!(said(&[]), (Some(600.0), Some(3600.0)));
    assert_eq!(said(&["--delay", "30s"]), (Some(30.0), Some(3600.0)));
    // It is about jobs that go back; where none does, nothing is said of it.
    assert_eq!(said(&["--to", "fail"]), (None, None));
    doctor.run(&["sweep", "--config", "config.toml", "--apply"]).exits(0);
    let late = doctor.rows("SELECT count(*) FROM jobs WHERE run_at >= unixepoch() + 540");
    assert_eq!(late, ["2"]);
}

#[test]
fn a_target_has_a_budget_and_a_flag_beats_it() {
    let doctor = incident();
    doctor.sql("DELETE FROM jobs WHERE id <> 1; UPDATE jobs SET stalls = 2, attempts = 0");
    write(&doctor, "max_stalls = 2\n");
    let action = |more: &[&str]| {
        let arguments = [&["reclaim", "--config", "config.toml", "--json"], more].concat();
        doctor.run(&arguments).exits(0).json()["steps"][0]["action"].as_str().unwrap().to_owned()
    };
    assert_eq!(action(&[]), "fail");
    assert_eq!(action(&["--max-stalls", "3"]), "requeue");
    // What reclaim would do is what the others say that it would.
    let stale = doctor.run(&["stale", "--config", "config.toml", "--json"]).exits(0).json();
    assert_eq!((&stale["jobs"][0]["action"], &stale["jobs"][0]["stalls"]), (&"fail".into(), &2.into()));
    let show = doctor.run(&["show", "1", "--config", "config.toml", "--json"]).exits(0).json();
    assert_eq!(show["jobs"][0]["would"]["action"], "fail");
}

#[test]
fn values_that_make_no_sense() {
    let doctor = orphans(1);
    for (settings, complaint) in [
        ("delay = \"8d\"\n", "the longest is 7d"),
        ("jitter = \"5M\"\n", "5 minutes is 5m"),
        ("delay = 30\n", "delay"),
        ("max_stalls = -1\n", "max_stalls"),
        ("max_stalls = 5000000000\n", "must be a number up to"),
        ("max_stall = 1\n", "max_stalls"),
    ] {
        write(&doctor, settings);
        let said = fails(&doctor, &["reclaim", "--config", "config.toml"], 78).stderr;
        assert!(said.contains(complaint) && said.contains("line 3"), "{settings}: {said}");
    }
}
