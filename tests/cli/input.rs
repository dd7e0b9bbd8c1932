//! 66: no such file, not a database, no such job. And nothing is ever made in its place.

use super::scene::incident;
use crate::support::cli::{Doctor, fails};
use insta::assert_snapshot;

#[test]
fn a_missing_file() {
    let doctor = Doctor::new();
    assert_snapshot!(fails(&doctor, &["stale", "--db", "queue.db"], 66).stderr, @r"
error: there is no file queue.db
hint: nothing was created; `jobdoctor init` makes a database, `jobdoctor demo` an example
");
    for arguments in [
        &["stale", "--db", "queue.db"][..],
        &["show", "1", "--db", "queue.db"],
        &["owners", "--db", "queue.db"],
        &["reclaim", "--db", "queue.db"],
        &["reclaim", "--db", "queue.db", "--apply"],
        &["sweep", "--db", "queue.db", "--apply"],
        &["check", "--db", "queue.db"],
        &["stale", "--db", "none/queue.db"],
    ] {
        fails(&doctor, arguments, 66);
        assert_eq!(doctor.files(), [""; 0], "{arguments:?} made something");
    }
}

#[test]
fn a_directory() {
    let doctor = Doctor::new();
    std::fs::create_dir(doctor.path("queue.db")).unwrap();
    assert_snapshot!(fails(&doctor, &["reclaim", "--db", "queue.db", "--apply"], 66).stderr);
}

#[test]
fn not_a_database() {
    let doctor = Doctor::new();
    std::fs::write(doctor.path("queue.db"), "id,status\n1,RUNNING\n").unwrap();
    assert_snapshot!(fails(&doctor, &["stale", "--db", "queue.db"], 66).stderr);
    fails(&doctor, &["init", "--db", "queue.db"], 66);
    assert_eq!(std::fs::read_to_string(doctor.path("queue.db")).unwrap(), "id,status\n1,RUNNING\n");
}

#[test]
fn a_database_that_was_cut_off() {
    let doctor = incident();
    let whole = std::fs::read(doctor.path("queue.db")).unwrap();
    std::fs::write(doctor.path("queue.db"), &whole[..4000]).unwrap();
    fails(&doctor, &["stale", "--db", "queue.db"], 66);
}

#[test]
fn no_such_job() {
    let doctor = incident();
    assert_snapshot!(fails(&doctor, &["show", "99", "abc", "--db", "queue.db"], 66).stderr);
    let ran = doctor.run(&["show", "1", "99", "abc", "--db", "queue.db", "-o", "json"]).exits(66);
    assert_eq!(ran.json()["not_found"], serde_json::json!(["99", "abc"]), "the job that is there is shown");
}

#[test]
fn ids_that_are_not_there_are_named_by_reclaim() {
    let doctor = incident();
    let ran = doctor.run(&["reclaim", "--db", "queue.db", "--id", "1", "--id", "99"]).exits(3);
    assert_snapshot!(ran.whole());
    let ran = doctor.run(&["reclaim", "--db", "queue.db", "--id", "99", "--apply"]).exits(3);
    assert!(ran.stderr.contains("99"), "an exit of 3 says why: {ran:#?}");
}
