//! What `owners` prints, in every format.

use super::scene::{calm, incident};
use crate::support::cli::each;

/// The list is made for `xargs jobdoctor sweep --restart --owner`: the mutant that prints the living too takes their jobs. A
/// filter hides claims, not the life that they show.
#[test]
fn names_are_of_the_dead_alone() {
    let doctor = incident();
    let names = |more: &[&str]| doctor.on_queue(&[&["owners", "-o", "name"], more].concat()).exits(0).stdout;
    assert_eq!(names(&[]), "media1:2207\nweb2:911\nweb2:912\n");
    assert_eq!(names(&["--host", "web1"]), "");
    assert_eq!(names(&["--limit", "1", "--owner", "web2*"]), "web2:911\n");
    // Its other job, of another queue, shows that it lives; and one name is no pattern for others.
    doctor.sql(
        "INSERT INTO jobs (id, queue, status, owner_id, claimed_at, heartbeat_at, lease_expires_at)
        SELECT 21, 'reports', 'RUNNING', 'media1:2207', unixepoch() - 60, unixepoch(), unixepoch() + 60;
        UPDATE jobs SET owner_id = 'web[12]*' || char(92) WHERE id = 2;
        UPDATE jobs SET owner_id = 'web1:4211' || char(10) || 'web10:7' WHERE id IN (3, 4)",
    );
    assert_eq!(names(&["--queue", "m*"]), "web[[]12[]][*]\\\\\n");
    let listed = doctor.on_queue(&["owners", "--queue", "media", "--dead", "--json"]).exits(0).json();
    assert_eq!((&listed["owners"], &listed["summary"]["owners"]), (&serde_json::json!([]), &2.into()));
    let swept =
        doctor.run(&["sweep", "--restart", "--db", "queue.db", "--owner", names(&[]).trim(), "--json"]).exits(0).json();
    assert_eq!(each(&swept, "steps", "id"), ["2"]);
}

#[test]
fn an_owner_that_has_used_most_of_its_lease_is_late() {
    let doctor = calm();
    let status = || {
        let owners = doctor.on_queue(&["owners", "--json"]).exits(0).json();
        (owners["owners"][0]["status"].as_str().unwrap().to_owned(), owners["summary"]["late"].clone())
    };
    doctor.sql("UPDATE jobs SET heartbeat_at = unixepoch() - 5400, lease_expires_at = unixepoch() + 100 WHERE id = 6");
    assert_eq!(status(), ("late".to_owned(), 1.into()));
    // By its own heartbeat, and not by the lease of a worker that says nothing of when it renewed it.
    doctor.sql("UPDATE jobs SET lease_expires_at = NULL, heartbeat_at = unixepoch() - 270 WHERE id = 6");
    assert_eq!(status(), ("late".to_owned(), 1.into()));
    doctor.sql("UPDATE jobs SET lease_expires_at = unixepoch() + 50, heartbeat_at = NULL WHERE id = 6");
    assert_eq!(status(), ("alive".to_owned(), 0.into()));
    // One fresh claim is life.
    doctor.sql(
        "UPDATE jobs SET heartbeat_at = unixepoch() - 5400, lease_expires_at = unixepoch() + 100 WHERE id = 6;
        INSERT INTO jobs (id, status, owner_id, claimed_at, heartbeat_at, lease_expires_at)
        SELECT 21, 'RUNNING', 'web1:4211', unixepoch() - 5, unixepoch() - 5, unixepoch() + 995",
    );
    assert_eq!(status(), ("alive".to_owned(), 0.into()));
}

#[test]
fn an_owner_in_trouble_is_not_dead() {
    let owners = incident().on_queue(&["owners", "--json"]).exits(0).json();
    let owner = owners["owners"].as_array().unwrap().iter().find(|owner| owner["owner"] == "web10:7").unwrap();
    // Its deadline has passed, but its lease runs.
    assert_eq!((&owner["status"], &owner["stuck"]), (&"alive".into(), &1.into()));
    assert_eq!((&owners["summary"]["dead"], &owners["summary"]["silent"]), (&3.into(), &1.into()));
}
