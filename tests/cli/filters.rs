//! Which claims are asked for.

use super::scene::incident;

fn found(filter: &[&str]) -> Vec<String> {
    let doctor = incident();
    let listed = doctor.run(&[&["stale", "--db", "queue.db", "-o", "name"], filter].concat()).exits(0).stdout;
    let mut listed: Vec<String> = listed.lines().map(str::to_owned).collect();
    listed.sort();
    // What is listed as dead is what is planned.
    let plan = doctor.run(&[&["reclaim", "--db", "queue.db", "-o", "name"], filter].concat()).exits(0).stdout;
    let mut planned: Vec<String> = plan.lines().map(str::to_owned).collect();
    planned.sort();
    let dead: Vec<String> = listed.iter().filter(|id| *id != "8").cloned().collect();
    assert_eq!(planned, dead);
    listed
}

#[test]
fn queue() {
    assert_eq!(found(&["--queue", "media"]), ["1", "8"]);
    assert_eq!(found(&["--queue", "m*"]), ["1", "2", "3", "5", "8"]);
    assert_eq!(found(&["--queue", "reports", "--queue", "media"]), ["1", "4", "8"]);
    assert_eq!(found(&["--queue", "MEDIA"]), [""; 0]);
}

#[test]
fn kind() {
    assert_eq!(found(&["--kind", "Send*"]), ["2", "3", "5"]);
    assert_eq!(found(&["--kind", "{SendReminder,MonthlyReport}"]), ["2", "4"]);
}

#[test]
fn owner() {
    assert_eq!(found(&["--owner", "web2:*"]), ["2", "3", "4"]);
    assert_eq!(found(&["--owner", "*:91?"]), ["2", "3", "4"]);
    // A claim without an owner matches no pattern.
    assert_eq!(found(&["--owner", "*"]), ["1", "2", "3", "4", "8"]);
}

#[test]
fn host_is_named_whole() {
    assert_eq!(found(&["--host", "web2"]), ["2", "3", "4"]);
    assert_eq!(found(&["--host", "web1"]), [""; 0]);
    assert_eq!(found(&["--host", "web10"]), ["8"]);
    assert_eq!(found(&["--host", "web"]), [""; 0]);
    assert_eq!(found(&["--host", "web2:911"]), ["2"]);
}

#[test]
fn state() {
    assert_eq!(found(&["--state", "CLAIMED"]), ["3"]);
    assert_eq!(found(&["--state", "CLAIMED", "--state", "RUNNING"]), ["1", "2", "3", "4", "5", "8"]);
}

#[test]
fn id() {
    assert_eq!(found(&["--id", "2"]), ["2"]);
    assert_eq!(found(&["--id", "2", "--id", "1", "--id", "2"]), ["1", "2"]);
}

#[test]
fn all_of_them_must_hold() {
    assert_eq!(found(&["--queue", "mail", "--host", "web2"]), ["2", "3"]);
    assert_eq!(found(&["--id", "1", "--queue", "mail"]), [""; 0]);
}

#[test]
fn limit_is_the_longest_silent() {
    assert_eq!(found(&["--limit", "1"]), ["5"]);
    assert_eq!(found(&["--limit", "3"]), ["1", "2", "5"]);
    assert_eq!(found(&["--limit", "99"]), ["1", "2", "3", "4", "5", "8"]);
}
