//! 4: refused by a guard, and nothing was written.

use super::scene::{STATE, calm, incident};
use crate::support::cli::{Doctor, fails};

fn written(doctor: &Doctor) -> bool {
    doctor.rows("queue.db", STATE) != incident().rows("queue.db", STATE)
}

#[test]
fn as_many_steps_as_allowed() {
    let doctor = incident();
    doctor.run(&["sweep", "--db", "queue.db", "--apply", "--max-jobs", "5"]).exits(0);
    assert!(written(&doctor));
}

#[test]
fn a_dry_run_is_never_refused() {
    incident().run(&["reclaim", "--db", "queue.db", "--max-jobs", "1"]).exits(0);
}

#[test]
fn max_jobs_of_the_target() {
    let doctor = incident();
    std::fs::write(doctor.path("config.toml"), "[target.app]\ndb = \"queue.db\"\nmax_jobs = 4\n").unwrap();
    doctor.run(&["sweep", "--config", "config.toml", "--apply"]).exits(4);
    assert!(!written(&doctor));
    // A flag beats the file.
    doctor.run(&["sweep", "--config", "config.toml", "--apply", "--max-jobs", "9"]).exits(0);
    assert!(written(&doctor));
}

#[test]
fn a_read_only_target() {
    let doctor = incident();
    std::fs::write(doctor.path("config.toml"), "[target.app]\ndb = \"queue.db\"\nread_only = true\n").unwrap();
    let ran = doctor.run(&["reclaim", "--config", "config.toml", "--apply", "--id", "1"]);
    assert!(ran.stderr.contains("target app is read-only"), "{ran:#?}");
    assert_eq!(ran.code, 4);
    assert!(!written(&doctor));
    doctor.run(&["reclaim", "--config", "config.toml"]).exits(0);
    doctor.run(&["stale", "--config", "config.toml"]).exits(0);
}

/// An exit of 4 without a word would be a riddle in cron's mail.
#[test]
fn a_sweep_of_a_read_only_target_says_so_though_idle() {
    let doctor = calm();
    std::fs::write(doctor.path("config.toml"), "[target.app]\ndb = \"queue.db\"\nread_only = true\n").unwrap();
    let ran = doctor.run(&["sweep", "--config", "config.toml", "--apply"]).exits(4);
    assert!(ran.stderr.contains("read-only"), "{ran:#?}");
}

#[test]
fn init_of_a_read_only_target() {
    let doctor = Doctor::new();
    std::fs::write(doctor.path("config.toml"), "[target.app]\ndb = \"queue.db\"\nread_only = true\n").unwrap();
    fails(&doctor, &["init", "--config", "config.toml"], 4);
    assert_eq!(doctor.files(), ["config.toml"]);
}
