//! 78: somebody alters the tables between the snapshot and the write. The plan was made for others: nothing is written.

use super::waiting::Waiting;
use crate::cli::scene::{incident, orders};
use crate::support::cli::{Doctor, Ran};
use crate::support::files::Writer;

fn dump(doctor: &Doctor, file: &str) -> Vec<String> {
    let mut all = doctor.rows_in(file, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name");
    for table in doctor.rows_in(file, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") {
        let columns = doctor.rows_in(file, &format!("SELECT name FROM pragma_table_info('{table}')"));
        let values: Vec<String> = columns.iter().map(|column| format!("quote(\"{column}\")")).collect();
        all.extend(
            doctor.rows_in(file, &format!("SELECT '{table}', {} FROM \"{table}\" ORDER BY 2", values.join(", "))),
        );
    }
    all
}

/// Alters the tables of a file after the program has looked and before it writes. Gives what it said, and what was in the
/// file before it could write and after.
fn altered(doctor: &Doctor, arguments: &[&str], file: &str, mode: &str, sql: &str) -> (Ran, Vec<String>, Vec<String>) {
    doctor.sql_in(file, &format!("PRAGMA journal_mode = {mode}"));
    let mut other = Writer::at(&doctor.path(file), "BEGIN IMMEDIATE;");
    let waiting = Waiting::start(doctor, arguments);
    other.run(&format!("{sql}; COMMIT;"));
    let ran = waiting.end();
    other.end();
    let after = dump(doctor, file);
    // The same done to another copy, where nobody but the other one was.
    let reference = Doctor::new();
    std::fs::copy(doctor.path("reference"), reference.path(file)).unwrap();
    reference.sql_in(file, sql);
    (ran, dump(&reference, file), after)
}

const APPLY: &[&str] = &["reclaim", "--apply", "--db", "queue.db"];

fn prepared(before: &str) -> Doctor {
    let doctor = incident();
    doctor.sql(&format!("CREATE TABLE log (id INTEGER); {before}"));
    std::fs::copy(doctor.path("queue.db"), doctor.path("reference")).unwrap();
    doctor
}

#[test]
fn so_that_the_plan_means_something_else() {
    let trigger = "CREATE TRIGGER late AFTER UPDATE ON jobs BEGIN INSERT INTO log VALUES (NEW.id); END";
    let harmless = "CREATE TRIGGER late AFTER UPDATE ON jobs BEGIN SELECT 1; END";
    let alterations = [
        ("", "ALTER TABLE jobs RENAME COLUMN heartbeat_at TO beat_at"),
        ("", "ALTER TABLE jobs RENAME COLUMN error_detail TO detail"),
        ("", "ALTER TABLE jobs DROP COLUMN error_detail"),
        ("", "ALTER TABLE jobs ADD COLUMN extra TEXT"),
        ("", "DROP TABLE jobs"),
        ("", "ALTER TABLE jobs RENAME TO old_jobs"),
        ("", "ALTER TABLE jobs RENAME TO old_jobs; CREATE TABLE jobs AS SELECT * FROM old_jobs"),
        (
            "",
            "ALTER TABLE jobs RENAME TO old_jobs; CREATE VIEW jobs AS SELECT * FROM old_jobs; \
             CREATE TRIGGER t INSTEAD OF UPDATE ON jobs BEGIN \
             UPDATE old_jobs SET status = 'QUEUED' WHERE id = NEW.id; END",
        ),
        ("", trigger),
        ("", "CREATE TRIGGER late BEFORE UPDATE ON JOBS BEGIN INSERT INTO log VALUES (NEW.id); END"),
        (trigger, "DROP TRIGGER late"),
        (
            harmless,
            "DROP TRIGGER late; CREATE TRIGGER late AFTER UPDATE ON jobs BEGIN INSERT INTO log VALUES (NEW.id); END",
        ),
    ];
    for (n, (before, sql)) in alterations.into_iter().enumerate() {
        // The journal's mode makes no difference to this, so each is tried in one of them.
        let mode = ["wal", "delete"][n % 2];
        let doctor = prepared(before);
        let (ran, expected, after) = altered(&doctor, APPLY, "queue.db", mode, sql);
        let ran = ran.exits(78);
        assert_eq!(ran.stdout, "", "{mode}: {sql}: {ran:#?}");
        assert!(ran.stderr.contains("the schema of queue.db changed since the snapshot"), "{sql}: {ran:#?}");
        assert!(ran.stderr.contains("hint: ") && ran.stderr.contains("run it again"), "{sql}: {ran:#?}");
        assert_eq!(after, expected, "{mode}: {sql}");
    }
}

#[test]
fn in_a_table_that_the_verdict_rested_on() {
    for sql in [
        "ALTER TABLE worker_pings RENAME COLUMN seen_at TO seen",
        "DROP TABLE worker_pings",
        "CREATE TRIGGER t AFTER UPDATE ON worker_pings BEGIN SELECT 1; END",
    ] {
        let doctor = orders();
        std::fs::copy(doctor.path("orders.db"), doctor.path("reference")).unwrap();
        let arguments = ["reclaim", "--apply", "--db", "orders.db", "--config", "config.toml", "--preset", "orders"];
        let (ran, expected, after) = altered(&doctor, &arguments, "orders.db", "wal", sql);
        let ran = ran.exits(78);
        assert!(ran.stderr.contains("changed since the snapshot"), "{sql}: {ran:#?}");
        assert!(ran.stderr.contains("worker_pings") || sql.contains("TRIGGER"), "{sql}: {ran:#?}");
        assert_eq!(after, expected, "{sql}");
    }
}

/// What does not touch the meaning of our statements is no reason to stop.
#[test]
fn elsewhere() {
    for sql in [
        "CREATE TABLE other (id INTEGER)",
        "ALTER TABLE log ADD COLUMN at INTEGER",
        "CREATE INDEX late ON jobs (kind)",
        "DROP INDEX jobs_lease",
        "CREATE VIEW mail AS SELECT * FROM jobs WHERE queue = 'mail'",
        "ANALYZE",
        "PRAGMA user_version = 7",
    ] {
        let doctor = prepared("");
        let (ran, ..) = altered(&doctor, APPLY, "queue.db", "wal", sql);
        let ran = ran.exits(0);
        assert!(ran.stderr.contains("requeued 3 jobs, failed 1 job, cancelled 1 job"), "{sql}: {ran:#?}");
    }
}
