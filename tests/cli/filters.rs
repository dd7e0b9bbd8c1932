//! Which claims are asked for.

use super::scene::incident;

fn found(filter: &[&str]) -> Vec<String> {
    let doctor = incident();
    let listed = doctor.on_queue(&[&["stale", "-o", "name"], filter].concat()).exits(0).stdout;
    let mut listed: Vec<String> = listed.lines().map(str::to_owned).collect();
    listed.sort();
    // What is listed as dead is what is planned.
    let plan = doctor.on_queue(&[&["reclaim", "-o", "name"], filter].concat()).exits(0).stdout;
    let mut planned: Vec<String> = plan.lines().map(str::to_owned).collect();
    planned.sort();
    let dead: Vec<String> = listed.iter().filter(|id| *id != "8").cloned().collect();
    assert_eq!(planned, dead);
    listed
}

#[test]
fn each_of_them_and_all_together() {
    for (filter, expected) in [
        ("--queue media", "1 8"),
        ("--queue m*", "1 2 3 5 8"),
        ("--queue reports --queue media", "1 4 8"),
        ("--queue MEDIA", ""),
        ("--kind Send*", "2 3 5"),
        ("--kind {SendReminder,MonthlyReport}", "2 4"),
        ("--owner web2:*", "2 3 4"),
        ("--owner *:91?", "2 3 4"),
        // A claim without an owner matches no pattern.
        ("--owner *", "1 2 3 4 8"),
        // A host is named whole.
        ("--host web2", "2 3 4"),
        ("--host web1", ""),
        ("--host web10", "8"),
        ("--host web", ""),
        ("--host web2:911", "2"),
        ("--state CLAIMED", "3"),
        ("--state CLAIMED --state RUNNING", "1 2 3 4 5 8"),
        ("--id 2", "2"),
        ("--id 2 --id 1 --id 2", "1 2"),
        ("--queue mail --host web2", "2 3"),
        ("--id 1 --queue mail", ""),
        // The longest silent.
        ("--limit 1", "5"),
        ("--limit 3", "1 2 5"),
        ("--limit 99", "1 2 3 4 5 8"),
    ] {
        assert_eq!(found(&filter.split(' ').collect::<Vec<_>>()).join(" "), expected, "{filter}");
    }
}
