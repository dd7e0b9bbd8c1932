//! 78: the preset, the mapping or the tables do not fit.

use super::scene::{STATE, calm, incident, orders, simple};
use crate::support::cli::{Doctor, fails};
use insta::assert_snapshot;

#[test]
fn an_unknown_preset() {
    assert_snapshot!(fails(&incident(), &["stale", "--db", "queue.db", "--preset", "leese"], 78).stderr);
}

#[test]
fn a_preset_of_another_engine() {
    assert_snapshot!(fails(&incident(), &["stale", "--db", "queue.db", "--preset", "procrastinate"], 78).stderr);
}

#[test]
fn a_preset_of_other_tables() {
    assert_snapshot!(fails(&orders(), &["stale", "--db", "orders.db", "--preset", "lease"], 78).stderr);
}

#[test]
fn a_mapping_whose_column_is_missing() {
    let doctor = orders();
    doctor.sql("orders.db", "ALTER TABLE order_queue RENAME COLUMN started TO started_at");
    let arguments = ["stale", "--db", "orders.db", "--config", "config.toml", "--preset", "orders"];
    assert_snapshot!(fails(&doctor, &arguments, 78).stderr);
    assert_snapshot!(fails(&doctor, &[&["check"], &arguments[1..]].concat(), 78).stderr);
}

#[test]
fn a_mapping_whose_owners_have_no_table() {
    let doctor = orders();
    doctor.sql("orders.db", "DROP TABLE worker_pings");
    let arguments = ["reclaim", "--db", "orders.db", "--config", "config.toml", "--preset", "orders", "--apply"];
    assert_snapshot!(fails(&doctor, &arguments, 78).stderr);
}

#[test]
fn no_queue_is_recognised() {
    let doctor = Doctor::new();
    doctor.sql("queue.db", "CREATE TABLE users (id INTEGER PRIMARY KEY)");
    assert_snapshot!(fails(&doctor, &["stale", "--db", "queue.db"], 78).stderr);
    assert_snapshot!(fails(&simple(), &["stale", "--db", "queue.db"], 78).stderr);
    // An empty file is a database without tables.
    std::fs::write(doctor.path("empty.db"), "").unwrap();
    fails(&doctor, &["stale", "--db", "empty.db"], 78);
}

// Two queues in one database: no two presets are found by themselves on SQLite, so that is in postgres.rs.

#[test]
fn a_state_that_nobody_knows() {
    let doctor = incident();
    doctor.sql("queue.db", "UPDATE jobs SET status = 'PAUSED' WHERE id = 9");
    assert_snapshot!(fails(&doctor, &["reclaim", "--db", "queue.db", "--apply"], 78).stderr);
    // Who names the preset means it.
    doctor.run(&["reclaim", "--db", "queue.db", "--preset", "lease", "--apply"]).exits(0);
    assert_eq!(doctor.rows("queue.db", STATE)[8], "9 PAUSED - 0");
}

#[test]
fn a_table_that_is_not_there() {
    let ran = fails(&calm(), &["stale", "--db", "queue.db", "--preset", "lease", "--table", "jbos"], 78);
    assert_snapshot!(ran.stderr, @"error: preset lease: there is no table `jbos` in this database, did you mean `jobs`?");
}

#[test]
fn a_name_is_an_identifier() {
    let doctor = incident();
    for table in ["jobs; DROP TABLE jobs", "jobs\" --", "(SELECT 1)"] {
        let arguments = ["reclaim", "--db", "queue.db", "--preset", "lease", "--apply", "--table", table];
        fails(&doctor, &arguments, 78);
    }
    assert_eq!(doctor.rows("queue.db", STATE), incident().rows("queue.db", STATE));
}
