//! 4: refused by a guard, and nothing was written.

use super::scene::{STATE, calm, incident};
use crate::support::cli::{Doctor, fails};

fn written(doctor: &Doctor) -> bool {
    doctor.rows(STATE) != incident().rows(STATE)
}

fn target(doctor: &Doctor, setting: &str) {
    let text = format!("[target.app]\ndb = \"queue.db\"\n{setting}\n");
    std::fs::write(doctor.path("config.toml"), text).unwrap();
}

#[test]
fn max_jobs_of_the_target() {
    let doctor = incident();
    target(&doctor, "max_jobs = 4");
    // A dry run is never refused, and a flag beats the file.
    doctor.run(&["sweep", "--config", "config.toml"]).exits(0);
    doctor.run(&["sweep", "--config", "config.toml", "--apply"]).exits(4);
    assert!(!written(&doctor));
    doctor.run(&["sweep", "--config", "config.toml", "--apply", "--max-jobs", "5"]).exits(0);
    assert!(written(&doctor));
}

#[test]
fn a_read_only_target() {
    let doctor = incident();
    target(&doctor, "read_only = true");
    let ran = doctor.run(&["reclaim", "--config", "config.toml", "--apply", "--id", "1"]).exits(4);
    ran.says("target app is read-only");
    assert!(!written(&doctor));
    doctor.run(&["reclaim", "--config", "config.toml"]).exits(0);
    doctor.run(&["stale", "--config", "config.toml"]).exits(0);
    // An exit of 4 without a word would be a riddle in cron's mail.
    let doctor = calm();
    target(&doctor, "read_only = true");
    doctor.run(&["sweep", "--config", "config.toml", "--apply"]).exits(4).says("read-only");
    let doctor = Doctor::new();
    target(&doctor, "read_only = true");
    fails(&doctor, &["init", "--config", "config.toml"], 4);
    assert_eq!(doctor.files(), ["config.toml"]);
}
