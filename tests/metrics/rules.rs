//! The alert rules of docs/monitoring.md, read and tried by Prometheus' own reader.

use crate::readme::block::text_of;
use crate::support::promtool::accepts_file;
use std::fs;

fn rules() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("rules.yml"), text_of("yaml rules")).unwrap();
    directory
}

#[test]
fn prometheus_reads_them() {
    accepts_file("check", &rules().path().join("rules.yml"));
}

#[test]
fn they_fire_on_what_they_are_for() {
    let directory = rules();
    let path = directory.path().join("tests.yml");
    fs::write(&path, include_str!("rules.yml")).unwrap();
    accepts_file("test", &path);
}
