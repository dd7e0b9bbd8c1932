//! Whoever owns a SQLite file has written its schema, and can have it say anything. It stays a matter of that file: nothing is
//! loaded, no other file is touched, and every run comes to its end.

use crate::cli::scene::{INCIDENT, JOBS};
use crate::support::cli::Doctor;
use crate::support::files::Frozen;

/// What takes the place of the table, or stands beside it, once the queue has become `behind`.
const SCHEMAS: [(&str, &str); 11] = [
    ("a view that loads code", "CREATE VIEW jobs AS SELECT * FROM behind WHERE load_extension('./evil.so') IS NULL"),
    ("a view that writes files", "CREATE VIEW jobs AS SELECT * FROM behind WHERE writefile('evil', 'x') IS NULL"),
    ("a view that reads files", "CREATE VIEW jobs AS SELECT * FROM behind WHERE readfile('/etc/passwd') IS NULL"),
    (
        "a view of another file",
        "PRAGMA writable_schema = on; INSERT INTO sqlite_schema VALUES ('view', 'jobs', 'jobs', 0, \
        'CREATE VIEW jobs AS SELECT * FROM other.jobs')",
    ),
    (
        "a view of the catalog",
        "CREATE VIEW jobs AS SELECT b.* FROM behind AS b, pragma_database_list AS d WHERE d.seq = 0",
    ),
    (
        "a view with a trigger",
        "CREATE VIEW jobs AS SELECT * FROM behind; \
        CREATE TRIGGER t INSTEAD OF UPDATE ON jobs BEGIN DELETE FROM behind; END",
    ),
    (
        "a table of full text",
        "CREATE VIRTUAL TABLE jobs USING fts5(id, status, owner_id, attempts, heartbeat_at, lease_expires_at); \
        INSERT INTO jobs SELECT id, status, owner_id, attempts, heartbeat_at, lease_expires_at FROM behind",
    ),
    (
        "a table that nothing knows",
        "CREATE TABLE jobs (id); PRAGMA writable_schema = on; UPDATE sqlite_schema SET rootpage = 0, \
        sql = 'CREATE VIRTUAL TABLE jobs USING nowhere(x)' WHERE name = 'jobs'",
    ),
    (
        "tables that are called like the pragmas",
        "ALTER TABLE behind RENAME TO jobs; CREATE TABLE pragma_table_xinfo (name, type, pk); \
        CREATE TABLE pragma_index_list (name)",
    ),
    (
        "a check that calls itself on",
        "CREATE TABLE jobs AS SELECT * FROM behind; CREATE TABLE more (x); \
        CREATE TRIGGER t AFTER UPDATE ON jobs BEGIN INSERT INTO more VALUES (1); END; \
        CREATE TRIGGER u AFTER INSERT ON more BEGIN UPDATE jobs SET attempts = attempts + 1; END",
    ),
    (
        "a trigger that frees the others",
        "ALTER TABLE behind RENAME TO jobs; CREATE TRIGGER t AFTER UPDATE OF status ON jobs \
        BEGIN UPDATE jobs SET status = 'SUCCEEDED' WHERE id = 6; END",
    ),
];

fn hostile(sql: &str) -> Doctor {
    let doctor = Doctor::new();
    doctor.sql(&format!("{JOBS}{INCIDENT} ALTER TABLE jobs RENAME TO behind; DROP INDEX jobs_lease;"));
    doctor.sql(sql);
    std::fs::write(doctor.path("evil.so"), "no code").unwrap();
    doctor
}

#[test]
fn a_hostile_schema_stays_in_its_file() {
    for (name, sql) in SCHEMAS {
        let doctor = hostile(sql);
        let before = Frozen::of(&doctor.path(""));
        for look in [&["stale"][..], &["owners"], &["show", "1"], &["check"], &["reclaim"], &["stats"]] {
            let ran = doctor.run(&[look, &["--db", "queue.db", "--timeout", "5s"]].concat());
            assert!(ran.signal.is_none() && ran.code != 70, "{name}: {look:?}: {ran:#?}");
            assert!(!ran.stdout.contains("root:"), "{name}: {look:?}: {ran:#?}");
            before.must_be_unchanged();
        }
        let ran = doctor.run(&["reclaim", "--apply", "--db", "queue.db", "--timeout", "5s"]);
        assert!(ran.signal.is_none() && ran.code != 70, "{name}: {ran:#?}");
        assert_eq!(doctor.files(), ["evil.so", "queue.db"], "{name}: {ran:#?}");
    }
}

/// A view without an end keeps a snapshot no longer than its time.
#[test]
fn a_view_without_an_end_meets_the_time_limit() {
    let doctor = hostile(
        "CREATE VIEW jobs AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT b.* FROM behind AS b, n",
    );
    for look in [&["stale"][..], &["reclaim"], &["reclaim", "--apply"]] {
        let ran = doctor.run(&[look, &["--preset", "lease", "--db", "queue.db", "--timeout", "1s"]].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (75, ""), "{look:?}: {ran:#?}");
    }
}

/// S10 on SQLite: a table that nobody can read without an error, beside the queue, is in nobody's way.
#[test]
fn a_whole_day_reaches_nothing_but_the_queue() {
    let doctor = Doctor::new();
    doctor.sql(&format!("{JOBS}{INCIDENT}"));
    doctor.run(&["init", "--ledger", "--db", "queue.db"]).exits(0);
    doctor.sql(
        "CREATE TABLE secrets (x); PRAGMA writable_schema = on; UPDATE sqlite_schema SET rootpage = 0, \
         sql = 'CREATE VIRTUAL TABLE secrets USING nowhere(x)' WHERE name = 'secrets'",
    );
    let error = doctor.connect("queue.db").execute_batch("SELECT * FROM secrets").unwrap_err();
    assert!(error.to_string().contains("no such module"), "{error}");
    let run = |arguments: &[&str]| doctor.run(&[arguments, &["--db", "queue.db"]].concat()).exits(0);
    for look in [&["stale"][..], &["show", "1"], &["owners"], &["stats"], &["check"], &["reclaim"], &["sweep"]] {
        run(look);
    }
    let done = run(&["reclaim", "--apply", "-o", "json"]).json();
    let id = done["run_id"].as_str().unwrap();
    run(&["history", id]);
    run(&["undo", id]);
    run(&["undo", id, "--apply"]);
}
