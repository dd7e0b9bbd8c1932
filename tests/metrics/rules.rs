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

/// Each alert is in the table that its link leads to, and no other is.
#[test]
fn each_alert_has_a_line_about_what_to_do() {
    let page = include_str!("../../docs/monitoring.md");
    let (_, table) = page.split_once("\n### When an alert fires\n").unwrap();
    let rules = text_of("yaml rules");
    let link = "runbook_url: \"docs/monitoring.md#when-an-alert-fires\"";
    let mut alerts: Vec<&str> = rules.split("- alert: ").skip(1).filter_map(|rule| rule.lines().next()).collect();
    assert_eq!(rules.matches(link).count(), alerts.len());
    let rows = table.lines().skip_while(|line| !line.starts_with("| ---")).take_while(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| row.split(" | ").next());
    let mut named: Vec<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    alerts.sort_unstable();
    named.sort_unstable();
    assert_eq!(named, alerts);
}
