//! The alert rules of docs/monitoring.md, read and tried by Prometheus' own reader.

use crate::readme::block::text_of;
use crate::support::promtool::{accepts_file, samples};
use crate::support::shop::Shop;
use std::collections::BTreeSet;
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

/// A gauge that nobody writes would never raise an alert.
#[test]
fn they_ask_for_what_is_written() {
    let shop = Shop::on_sqlite();
    shop.run(&["init"]).exits(0);
    shop.in_flight(1, 1, "'web1:1'", 900);
    shop.run(&["sweep", "--textfile", "q.prom"]).exits(0);
    let text = fs::read_to_string(shop.doctor.path("q.prom")).unwrap();
    let written: BTreeSet<String> = samples(&text).into_iter().map(|sample| sample.name).collect();
    let rules = text_of("yaml rules");
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let asked: BTreeSet<String> =
        rules.split(|c| !is_name(c)).filter(|word| word.starts_with("jobdoctor_")).map(str::to_owned).collect();
    assert!(asked.len() >= 4, "{asked:?}");
    assert!(asked.is_subset(&written), "{asked:?} of {written:?}");
}

/// Each alert fires on what it is for, and on nothing else.
#[test]
fn they_fire_on_what_they_are_for() {
    let directory = rules();
    let path = directory.path().join("tests.yml");
    fs::write(&path, include_str!("rules.yml")).unwrap();
    accepts_file("test", &path);
}
