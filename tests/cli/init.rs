//! What `init` makes.

use super::scene::incident;
use crate::support::cli::{Doctor, fails};
use insta::assert_snapshot;

#[test]
fn printed_only() {
    let doctor = Doctor::new();
    assert_snapshot!(doctor.on_queue(&["init", "--print"]).whole());
    assert_eq!(doctor.files(), [""; 0]);
}

#[test]
fn what_is_printed_is_what_is_run() {
    let doctor = Doctor::new();
    doctor.run(&["init", "--db", "made.db"]).exits(0);
    doctor.sql_in("printed.db", &doctor.on_queue(&["init", "--print"]).exits(0).stdout);
    let schema = "SELECT type, name, sql FROM sqlite_schema ORDER BY name";
    assert_eq!(doctor.rows_in("made.db", schema), doctor.rows_in("printed.db", schema));
}

#[test]
fn printed_for_postgres() {
    let doctor = Doctor::new();
    let arguments = ["init", "--db", "host=/tmp user=app dbname=app", "--schema", "work", "--table", "task", "--print"];
    assert_snapshot!(doctor.run(&arguments).whole());
}

#[test]
fn a_table_beside_what_is_there() {
    let doctor = incident();
    doctor.on_queue(&["init", "--table", "tasks"]).exits(0);
    assert_eq!(doctor.rows("SELECT count(*) FROM tasks"), ["0"]);
    doctor.on_queue(&["stale", "--preset", "lease", "--table", "tasks"]).exits(0);
}

#[test]
fn no_ledger_where_the_library_would_refuse_its_table() {
    let doctor = Doctor::new();
    doctor.sql(include_str!("../../fixtures/schemas/litequeue/sqlite/0.14.sql"));
    let ran = fails(&doctor, &["init", "--ledger", "--db", "queue.db"], 78);
    ran.says("preset litequeue takes no ledger: litequeue opens no file");
    assert_eq!(doctor.rows("SELECT name FROM sqlite_schema WHERE type = 'table'"), ["Queue"]);
    let said = doctor.on_queue(&["check"]).exits(0).stdout;
    assert!(said.contains("ledger: litequeue opens no file") && !said.contains("init --ledger"), "{said}");
}
