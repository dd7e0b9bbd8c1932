//! 3: the database refused a row. The others move all the same.

use super::scene::{STATE, incident, orphans};
use insta::assert_snapshot;

#[test]
fn by_a_trigger() {
    let doctor = incident();
    doctor.sql(
        "queue.db",
        "CREATE TRIGGER no BEFORE UPDATE ON jobs WHEN old.id = 3 BEGIN SELECT raise(ABORT, 'job 3 is precious'); END",
    );
    let ran = doctor.run(&["reclaim", "--db", "queue.db", "--apply", "--queue", "mail"]);
    assert_snapshot!(ran.whole());
    assert_eq!(ran.code, 3);
    let after = doctor.rows("queue.db", STATE);
    assert_eq!(after[1..3], ["2 FAILED - 5", "3 CLAIMED web2:912 0"]);
    assert_eq!(after[4], "5 QUEUED - 1");
}

#[test]
fn by_a_unique_key() {
    let doctor = incident();
    doctor.sql("queue.db", "CREATE UNIQUE INDEX one ON jobs (kind) WHERE status = 'QUEUED'");
    let ran = doctor.run(&["reclaim", "--db", "queue.db", "--apply", "--kind", "SendInvoice"]);
    // 9 is waiting already.
    assert_snapshot!(ran.whole());
    assert_eq!(ran.code, 3);
}

#[test]
fn by_a_check() {
    let doctor = incident();
    doctor.sql(
        "queue.db",
        "CREATE TABLE strict AS SELECT * FROM jobs; DROP TABLE jobs;
        CREATE TABLE jobs (id INTEGER PRIMARY KEY, queue TEXT, status TEXT, owner_id TEXT, lease_expires_at INTEGER,
            attempts INTEGER CONSTRAINT few CHECK (attempts < 2), max_attempts INTEGER);
        INSERT INTO jobs SELECT id, queue, status, owner_id, lease_expires_at, attempts, max_attempts FROM strict
            WHERE id IN (1, 3)",
    );
    let applied = doctor.run(&["reclaim", "--db", "queue.db", "--apply", "--json"]).exits(3).json();
    let refused = &applied["steps"].as_array().unwrap().iter().find(|step| step["id"] == "1").unwrap();
    assert_eq!((&refused["outcome"], &refused["error"]["constraint"]), (&"refused".into(), &"few".into()));
    assert_eq!(refused["error"]["sqlstate"], "SQLITE_CONSTRAINT_CHECK");
    assert_eq!(doctor.rows("queue.db", "SELECT id, status FROM jobs"), ["1 RUNNING", "3 QUEUED"]);
}

#[test]
fn by_a_trigger_that_says_nothing() {
    let doctor = incident();
    doctor.sql("queue.db", "CREATE TRIGGER no BEFORE UPDATE ON jobs WHEN old.id = 3 BEGIN SELECT raise(IGNORE); END");
    let applied = doctor.run(&["reclaim", "--db", "queue.db", "--apply", "--json"]).exits(3).json();
    assert_eq!(applied["summary"]["outcomes"]["refused"], 1);
    assert_eq!(applied["summary"]["outcomes"]["moved"], 4);
    assert_eq!(doctor.rows("queue.db", STATE)[2], "3 CLAIMED web2:912 0");
}

#[test]
fn one_bad_row_among_many_batches() {
    let doctor = orphans(1100);
    doctor.sql(
        "queue.db",
        "CREATE TRIGGER no BEFORE UPDATE ON jobs WHEN old.id IN (7, 700) BEGIN SELECT raise(ABORT, 'no'); END",
    );
    let ran = doctor.run(&["reclaim", "--db", "queue.db", "--max-jobs", "1100", "--apply", "-o", "none"]).exits(3);
    assert_snapshot!(ran.stderr, @r"
    recovered 1,098 orphaned jobs, 2 refused by the database
    warning: refused by no: 700, 7
    ");
    let after = doctor.rows("queue.db", "SELECT status, attempts, count(*) FROM jobs GROUP BY 1, 2");
    assert_eq!(after, ["QUEUED 1 1098", "RUNNING 0 2"]);
}
