//! A home-made table, by a mapping in the config file; its heartbeats are in another table.

use super::scene::orders;
use crate::support::ages::while_ages_go_on;
use crate::support::cli::is_valid;
use insta::assert_snapshot;

const WHERE: [&str; 6] = ["--db", "orders.db", "--config", "config.toml", "--preset", "orders"];

#[test]
fn stale() {
    assert_snapshot!(orders().run(&[&["stale"], &WHERE[..]].concat()).whole());
}

#[test]
fn show() {
    assert_snapshot!(orders().run(&[&["show", "1", "3"], &WHERE[..]].concat()).whole());
}

#[test]
fn owners() {
    // A fresh heartbeat has its age in seconds.
    while_ages_go_on(|| assert_snapshot!(orders().run(&[&["owners"], &WHERE[..]].concat()).whole()));
}

#[test]
fn reclaim() {
    let doctor = orders();
    let planned = doctor.run(&[&["reclaim"], &WHERE[..]].concat());
    assert_snapshot!(planned.whole());
    let applied = doctor.run(&[&["reclaim", "--apply", "--json"], &WHERE[..]].concat()).exits(0).json();
    is_valid("reclaim", &applied);
    assert_eq!(applied["summary"]["outcomes"]["moved"], 3);
    assert_eq!(
        doctor.rows("orders.db", "SELECT id, status, worker, started IS NULL, tries FROM order_queue"),
        ["1 new - 1 1", "2 working packer-2 0 0", "3 new - 1 2", "4 dead packer-1 0 5", "5 new - 1 0"]
    );
    let again = doctor.run(&[&["reclaim", "--apply", "--json"], &WHERE[..]].concat()).exits(0).json();
    assert_eq!(again["summary"]["planned"], 0);
}

#[test]
fn a_worker_that_came_back_keeps_its_jobs() {
    let doctor = orders();
    doctor.sql("orders.db", "UPDATE worker_pings SET seen_at = unixepoch() * 1000");
    let planned = doctor.run(&[&["reclaim", "-o", "name"], &WHERE[..]].concat()).exits(0);
    assert_eq!(planned.stdout, "3\n");
}

#[test]
fn a_target_that_names_it() {
    let doctor = orders();
    let mapping = std::fs::read_to_string(doctor.path("config.toml")).unwrap();
    let target = format!("[target.shop]\ndb = \"orders.db\"\npreset = \"orders\"\n\n{mapping}");
    std::fs::write(doctor.path("config.toml"), target).unwrap();
    let found = doctor.run(&["stale", "--config", "config.toml", "--target", "shop", "--json"]).exits(0).json();
    assert_eq!((&found["target"]["name"], &found["target"]["preset"]), (&"shop".into(), &"orders".into()));
    assert_eq!(found["summary"]["stuck"], 3);
}
