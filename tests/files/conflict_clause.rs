//! A table of SQLite that declares itself what becomes of a row that violates a constraint. The statement decides: a requeue never
//! deletes another job, and no step is lost without a word.

use crate::support::cli::Doctor;
use std::fs;

const CLAUSES: [&str; 5] = ["REPLACE", "IGNORE", "FAIL", "ROLLBACK", "ABORT"];
/// A trigger that counts as an application may: with a clause of its own, and without.
const TRIGGERS: [(&str, &str); 3] = [
    ("", "SELECT 1 WHERE 'INSERT OR REPLACE INTO' <> new.queue OR replace(new.queue, 'a', 'b') <> ''"),
    (
        "counts",
        "INSERT OR REPLACE INTO counted SELECT new.status, 1 + coalesce(max(n), 0) FROM counted WHERE status = new.status",
    ),
    ("notes", "REPLACE INTO counted VALUES (new.status, 1)"),
];

/// Job 1 is dead and has waiting job 2 for its twin; job 3 is dead and alone; job 4 lives.
fn queue(constraint: &str, trigger: &str) -> Doctor {
    let doctor = Doctor::new();
    doctor.sql(&format!(
        "CREATE TABLE jobs (id INTEGER PRIMARY KEY, queue TEXT, status TEXT NOT NULL, owner_id TEXT, lease_token TEXT,
                claimed_at INTEGER, heartbeat_at INTEGER, lease_expires_at INTEGER, attempts INTEGER NOT NULL DEFAULT 0,
                dedupe TEXT{constraint});
             CREATE TABLE counted (status TEXT PRIMARY KEY, n INTEGER);
             CREATE TRIGGER counter AFTER UPDATE ON jobs BEGIN {trigger}; END;
             INSERT INTO jobs (id, queue, status, owner_id, claimed_at, heartbeat_at, lease_expires_at, dedupe) VALUES
                (1, 'q', 'RUNNING', 'web1:1', unixepoch() - 900, unixepoch() - 900, unixepoch() - 800, 'same'),
                (2, 'q', 'QUEUED', NULL, NULL, NULL, NULL, 'same'),
                (3, 'q', 'RUNNING', 'web1:1', unixepoch() - 900, unixepoch() - 900, unixepoch() - 800, 'other'),
                (4, 'q', 'RUNNING', 'web1:2', unixepoch() - 900, unixepoch(), unixepoch() + 900, 'third');"
    ));
    doctor
}

const ROWS: &str = "SELECT id, status, dedupe FROM jobs ORDER BY id";

#[test]
fn a_requeue_never_deletes_its_twin() {
    for clause in CLAUSES {
        for (name, trigger) in TRIGGERS {
            let constraint = format!(", UNIQUE (status, dedupe) ON /*/ the table's */ conflict {clause}");
            let doctor = queue(&constraint, trigger);
            let before = fs::read(doctor.path("queue.db")).unwrap();
            if !name.is_empty() && clause != "ABORT" {
                for words in [&["reclaim"][..], &["reclaim", "--apply"], &["sweep", "--apply"]] {
                    doctor.on_queue(words).exits(78).says("table jobs").says("trigger counter");
                }
                doctor.on_queue(&["check"]).exits(78);
                doctor.on_queue(&["stale"]).exits(0);
                assert_eq!(fs::read(doctor.path("queue.db")).unwrap(), before);
                continue;
            }
            let ran = doctor.on_queue(&["reclaim", "--apply", "--json"]).exits(3);
            let outcomes = ran.json()["summary"]["outcomes"].clone();
            assert_eq!((&outcomes["moved"], &outcomes["refused"]), (&1.into(), &1.into()), "{clause}: {outcomes}");
            assert_eq!(doctor.rows(ROWS), ["1 RUNNING same", "2 QUEUED same", "3 QUEUED other", "4 RUNNING third"]);
        }
    }
}

/// What a trigger writes to may decide, too, and so may the triggers of that.
#[test]
fn a_clause_behind_a_trigger_is_seen() {
    let behind = [
        ("DROP TABLE counted; CREATE TABLE counted (status PRIMARY KEY ON CONFLICT REPLACE, n)", 78),
        ("CREATE TRIGGER next AFTER INSERT ON counted BEGIN INSERT OR REPLACE INTO notes VALUES (new.status); END", 78),
        (
            "DROP TABLE counted; CREATE VIEW counted AS SELECT 1 AS status, 1 AS n;
             CREATE TRIGGER next INSTEAD OF INSERT ON counted BEGIN INSERT OR REPLACE INTO notes VALUES (new.status); END",
            78,
        ),
        (
            "CREATE TRIGGER next AFTER INSERT ON counted BEGIN INSERT INTO notes VALUES (new.status) ON CONFLICT DO NOTHING; END",
            0,
        ),
    ];
    for (more, code) in behind {
        let doctor = queue(", UNIQUE (status, dedupe) ON CONFLICT REPLACE", "INSERT INTO counted VALUES (new.id, 1)");
        doctor.sql(&format!("DELETE FROM jobs WHERE id = 2; CREATE TABLE notes (text PRIMARY KEY); {more}"));
        doctor.on_queue(&["check"]).exits(code);
        doctor.on_queue(&["reclaim", "--apply"]).exits(code);
    }
}

/// A statement of a mapping's own that cannot be made to say OR ABORT.
#[test]
fn a_step_names_what_it_writes_to_in_braces() {
    let steps = [
        ("UPDATE jobs SET status = 'QUEUED' WHERE id IN :ids", 78),
        ("UPDATE main.jobs SET status = 'QUEUED' WHERE id IN :ids", 78),
        ("UPDATE /* */ {jobs} SET status = 'QUEUED' WHERE id IN :ids", 78),
        ("insert into counted select status, 2 from {jobs} where id in :ids", 78),
        ("UPDATE {Jobs} SET status = 'QUEUED' WHERE id IN :ids", 78),
        ("INSERT INTO {counted} SELECT status, 2 FROM {jobs} WHERE id IN :ids", 78),
        ("WITH \"a'b\" AS (SELECT 1) UPDATE jobs SET status = 'QUEUED' WHERE id IN :ids", 78),
        ("UPDATE OR IGNORE jobs SET status = 'QUEUED' WHERE id IN :ids", 78),
        ("WITH x AS (SELECT 1)UPDATE jobs SET status = 'QUEUED' WHERE id IN :ids", 78),
        ("WITH x AS (SELECT 1)UPDATE {jobs} SET status = 'QUEUED' WHERE id IN :ids", 3),
        ("update\n  {jobs} SET status = 'QUEUED' WHERE id IN :ids AND dedupe <> 'update x; into y'", 3),
    ];
    // What wakes workers is a statement as any other.
    let wakes =
        [("INSERT INTO counted VALUES ('woken', 1)", 78), ("UPDATE {jobs} SET status = 'QUEUED' WHERE id = 3", 3)];
    let wakes = wakes.map(|(sql, code)| (steps[9].0, format!("notify.w = {{ sql = \"{sql}\" }}"), code));
    let steps = steps.map(|(step, code)| (step, String::new(), code));
    for (step, wake, code) in steps.into_iter().chain(wakes) {
        let doctor = queue(", UNIQUE (status, dedupe) ON CONFLICT REPLACE", "SELECT 1");
        let mapping = format!(
            "[mapping.m]
            time = {{ default = 'epoch s' }}
            states = {{ waiting = ['QUEUED'], in_flight = ['RUNNING'] }}
            claim = {{ table = 'jobs', key = 'id', state = 'status', liveness = [{{ by = 'lease', column = 'lease_expires_at' }}] }}
            action.requeue = {{ to = 'QUEUED', step = [{{ rows = 'each', sql = \"\"\"{step}\"\"\" }}] }}
            {wake}"
        );
        fs::write(doctor.path("m.toml"), mapping).unwrap();
        let words = ["reclaim", "--apply", "--db", "queue.db", "--config", "m.toml", "--preset", "m"];
        doctor.run(&words).exits(code);
        assert_eq!(doctor.rows("SELECT count(*) FROM jobs"), ["4"], "{step} {wake}");
    }
}

#[test]
fn an_undo_never_deletes_a_job_that_runs() {
    for clause in CLAUSES {
        let doctor = queue(&format!(", UNIQUE (status, dedupe) ON CONFLICT {clause}"), "SELECT 1");
        doctor.sql("DELETE FROM jobs WHERE id <> 3");
        doctor.on_queue(&["reclaim", "--apply"]).exits(0);
        doctor.sql(
            "INSERT INTO jobs SELECT 5, queue, 'RUNNING', 'web1:9', NULL, unixepoch(), unixepoch(),
            unixepoch() + 900, 0, dedupe FROM jobs",
        );
        let run = doctor.on_queue(&["history", "-o", "name"]).exits(0).stdout;
        doctor.on_queue(&["undo", run.trim(), "--apply"]).exits(3);
        assert_eq!(doctor.rows(ROWS), ["3 QUEUED other", "5 RUNNING other"], "{clause}");
    }
}

#[test]
fn a_ledger_that_replaces_rows_refuses_them() {
    let doctor = queue("", "SELECT 1");
    doctor.on_queue(&["init", "--ledger"]).exits(0);
    let ledger = &doctor.rows("SELECT sql FROM sqlite_schema WHERE name = 'jobdoctor_ledger'")[0];
    let replacing = ledger
        .replace("PRIMARY KEY (run_id, key)", "PRIMARY KEY (run_id, key), UNIQUE (job_table) ON CONFLICT REPLACE");
    doctor.sql(&format!("DROP TABLE jobdoctor_ledger; {replacing}"));
    doctor.sql("DELETE FROM jobs WHERE id = 1");
    doctor.on_queue(&["reclaim", "--apply"]).exits(0);
    doctor.sql("UPDATE jobs SET status = 'RUNNING', lease_expires_at = unixepoch() - 800 WHERE id = 3");
    // The row of the first run is in the way.
    doctor.on_queue(&["reclaim", "--apply"]).exits(78);
    assert_eq!(doctor.rows("SELECT count(*) FROM jobdoctor_ledger"), ["1"]);
}
