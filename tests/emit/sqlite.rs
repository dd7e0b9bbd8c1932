//! Scripts for sqlite3.

use super::without_run;
use crate::cli::scene::{JOBS, STATE, incident, orders, orphans};
use crate::support::cli::Doctor;
use crate::support::shells::sqlite3;
use std::fs;

/// Every row of a table, value by value with its storage class, but for what differs from run to run: times since `begun` are `now`.
fn image(doctor: &Doctor, file: &str, table: &str, begun: &str) -> Vec<String> {
    let connection = doctor.connect(file);
    let columns: Vec<String> = connection
        .prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    let value = |column: &String| {
        format!("iif(typeof(\"{column}\") = 'integer' AND \"{column}\" >= {begun}, 'now', quote(\"{column}\"))")
    };
    let values: Vec<String> = columns.iter().map(value).collect();
    let sql = format!("SELECT {} FROM \"{table}\" ORDER BY 1", values.join(" || ' ' || "));
    doctor.rows(file, &sql).iter().map(|row| without_run(row)).collect()
}

fn script(doctor: &Doctor, arguments: &[&str]) -> String {
    doctor.run(&[arguments, &["--emit-sql"]].concat()).exits(0).stdout
}

#[test]
fn a_script_leaves_what_apply_leaves() {
    for more in [&[][..], &["--to", "fail"], &["--to", "cancel"], &["--rule", "deadline_passed"]] {
        let doctor = incident();
        fs::copy(doctor.path("queue.db"), doctor.path("other.db")).unwrap();
        let begun = &doctor.rows("queue.db", "SELECT unixepoch()")[0];
        let image = |file| image(&doctor, file, "jobs", begun);
        let before = image("queue.db");
        let ran = doctor.run(&[&["reclaim", "--db", "queue.db", "--emit-sql"], more].concat()).exits(0);
        assert_eq!(image("queue.db"), before, "nothing is written yet");
        let applied = sqlite3(&doctor.path("queue.db"), &ran.stdout).exits(0);
        assert_eq!(applied.stderr, "");
        doctor.run(&[&["reclaim", "--db", "other.db", "--apply"], more].concat()).exits(0);
        let by_hand = image("queue.db");
        assert_eq!(by_hand, image("other.db"), "{more:?}");
        assert!(by_hand.iter().any(|row| row.contains("worker presumed dead (run)")), "{by_hand:#?}");
        let tables = "SELECT name FROM sqlite_schema ORDER BY name";
        assert_eq!(doctor.rows("queue.db", tables), doctor.rows("other.db", tables), "nothing of ours stays");
    }
}

#[test]
fn it_says_what_and_how_many() {
    let doctor = incident();
    let ran = doctor.run(&["reclaim", "--db", "queue.db", "--emit-sql"]).exits(0);
    assert!(ran.stderr.contains("a script of 3 batches for 5 jobs; nothing was written"), "{ran:#?}");
    let digest = doctor.run(&["reclaim", "--db", "queue.db", "--json"]).json()["digest"].as_str().unwrap().to_owned();
    assert!(ran.stdout.starts_with(".bail on\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains(&format!("-- digest: {digest}\n-- reason: jobdoctor: worker presumed dead (run ")));
    assert!(ran.stdout.contains("-- database: queue.db\n"));
    let by_hand = sqlite3(&doctor.path("queue.db"), &ran.stdout).exits(0);
    assert_eq!(by_hand.stdout, "batch 1 of 3: 3 of 3 moved\nbatch 2 of 3: 1 of 1 moved\nbatch 3 of 3: 1 of 1 moved\n");
    // A ticket that is worked off twice.
    let again = sqlite3(&doctor.path("queue.db"), &ran.stdout).exits(0);
    assert_eq!(again.stdout, "batch 1 of 3: 0 of 3 moved\nbatch 2 of 3: 0 of 1 moved\nbatch 3 of 3: 0 of 1 moved\n");
}

#[test]
fn what_changed_meanwhile_is_left_alone_and_not_counted() {
    for meanwhile in [
        // It showed life, it was finished, it is gone, it was claimed anew by an owner of the same name.
        "UPDATE jobs SET heartbeat_at = heartbeat_at + 1 WHERE id = 1",
        "UPDATE jobs SET status = 'SUCCEEDED' WHERE id = 1",
        "DELETE FROM jobs WHERE id = 1",
        "UPDATE jobs SET lease_token = 'A' WHERE id = 1",
        "UPDATE jobs SET lease_token = CAST('a' AS BLOB) WHERE id = 1",
        "UPDATE jobs SET attempts = 1.5 WHERE id = 1",
    ] {
        let doctor = incident();
        let script = script(&doctor, &["reclaim", "--db", "queue.db"]);
        doctor.sql("queue.db", meanwhile);
        let before = doctor.rows("queue.db", "SELECT quote(status), quote(attempts) FROM jobs WHERE id = 1");
        let ran = sqlite3(&doctor.path("queue.db"), &script).exits(0);
        assert!(ran.stdout.contains(": 2 of 3 moved"), "{meanwhile}: {}", ran.stdout);
        let after = doctor.rows("queue.db", "SELECT quote(status), quote(attempts) FROM jobs WHERE id = 1");
        assert_eq!(before, after, "{meanwhile}");
    }
}

/// Letters that differ in case only are two values, whatever the column calls equal.
#[test]
fn a_collation_makes_no_precondition_weaker() {
    let doctor = Doctor::new();
    doctor.sql("queue.db", &JOBS.replace("lease_token TEXT", "lease_token TEXT COLLATE NOCASE"));
    let job = "INSERT INTO jobs (id, status, owner_id, lease_token, lease_expires_at)
        VALUES (1, 'RUNNING', 'web1:1', 'a', unixepoch() - 5000)";
    doctor.sql("queue.db", job);
    let script = script(&doctor, &["reclaim", "--db", "queue.db"]);
    doctor.sql("queue.db", "UPDATE jobs SET lease_token = 'A'");
    assert!(sqlite3(&doctor.path("queue.db"), &script).exits(0).stdout.contains("0 of 1 moved"));
}

#[test]
fn every_batch_is_a_transaction() {
    let doctor = orphans(1_201);
    let script = script(&doctor, &["reclaim", "--db", "queue.db"]);
    assert_eq!(script.matches("BEGIN IMMEDIATE;").count(), 3);
    let ran = sqlite3(&doctor.path("queue.db"), &script).exits(0);
    let lines = ["1 of 3: 500 of 500", "2 of 3: 500 of 500", "3 of 3: 201 of 201"];
    assert_eq!(ran.stdout, lines.map(|line| format!("batch {line} moved\n")).concat());
    assert_eq!(doctor.rows("queue.db", "SELECT status, count(*) FROM jobs GROUP BY 1"), ["QUEUED 1201"]);
    // A copy that lost its end, as a paste does, does what is whole.
    let doctor = orphans(600);
    let script = self::script(&doctor, &["reclaim", "--db", "queue.db"]);
    let cut = &script[..script.rfind("COMMIT;").unwrap()];
    sqlite3(&doctor.path("queue.db"), cut);
    assert_eq!(doctor.rows("queue.db", "SELECT status, count(*) FROM jobs GROUP BY 1"), ["QUEUED 500", "RUNNING 100"]);
}

/// A trigger that swallows an update: no error, and no row.
#[test]
fn a_statement_that_touches_too_few_takes_its_batch_back() {
    let swallow = "CREATE TRIGGER no BEFORE UPDATE ON jobs WHEN NEW.id = 3 BEGIN SELECT RAISE(IGNORE); END";
    let revert = "CREATE TRIGGER no AFTER UPDATE OF status ON jobs WHEN NEW.id = 3 AND NEW.status = 'QUEUED'
        BEGIN UPDATE jobs SET status = 'PAUSED' WHERE id = 3; END";
    for trigger in [swallow, revert] {
        let doctor = incident();
        doctor.sql("queue.db", trigger);
        let before = doctor.rows("queue.db", STATE);
        let script = script(&doctor, &["reclaim", "--db", "queue.db"]);
        let ran = sqlite3(&doctor.path("queue.db"), &script).exits(1);
        assert!(ran.stderr.contains("this batch is rolled back"), "{ran:#?}");
        assert_eq!(ran.stdout, "");
        assert_eq!(doctor.rows("queue.db", STATE), before);
    }
}

#[test]
fn one_that_the_database_refuses_takes_its_batch_back() {
    let doctor = incident();
    doctor.sql("queue.db", "CREATE UNIQUE INDEX one ON jobs (status) WHERE status = 'QUEUED'");
    let before = doctor.rows("queue.db", STATE);
    let script = script(&doctor, &["reclaim", "--db", "queue.db"]);
    let ran = sqlite3(&doctor.path("queue.db"), &script).exits(1);
    assert!(ran.stderr.contains("UNIQUE constraint failed"), "{ran:#?}");
    assert_eq!(doctor.rows("queue.db", STATE), before);
}

/// A home-made queue: owners in a table of their own, a mapping, epoch milliseconds.
#[test]
fn a_queue_whose_owners_have_rows() {
    let (by_hand, applied) = (orders(), orders());
    let arguments = ["reclaim", "--db", "orders.db", "--preset", "orders", "--config", "config.toml"];
    let script = script(&by_hand, &arguments);
    sqlite3(&by_hand.path("orders.db"), &script).exits(0);
    applied.run(&[&arguments[..], &["--apply"]].concat()).exits(0);
    let state = "SELECT id, status, worker, tries FROM order_queue ORDER BY id";
    assert_eq!(by_hand.rows("orders.db", state), applied.rows("orders.db", state));
    // The owner's heartbeat came meanwhile.
    let doctor = orders();
    let script = self::script(&doctor, &arguments);
    doctor.sql("orders.db", "UPDATE worker_pings SET seen_at = seen_at + 1 WHERE name = 'packer-1'");
    let ran = sqlite3(&doctor.path("orders.db"), &script).exits(0);
    assert_eq!(
        doctor.rows("orders.db", "SELECT id FROM order_queue WHERE status = 'working' ORDER BY id"),
        ["1", "2", "4"]
    );
    assert!(ran.stdout.contains(": 1 of 2 moved") && ran.stdout.contains(": 0 of 1 moved"), "{}", ran.stdout);
}

#[test]
fn sweep_has_it_too() {
    let doctor = incident();
    let script = script(&doctor, &["sweep", "--restart", "--host", "web2", "--db", "queue.db"]);
    sqlite3(&doctor.path("queue.db"), &script).exits(0);
    let moved = "SELECT id FROM jobs WHERE error_detail IS NOT NULL ORDER BY id";
    assert_eq!(doctor.rows("queue.db", moved), ["2", "3", "4"]);
}

/// Its time is that of the run, not of the making; to the millisecond here.
#[test]
fn now_is_the_time_of_the_run() {
    let doctor = Doctor::new();
    doctor.sql(
        "jobs.db",
        "CREATE TABLE tasks (id INTEGER PRIMARY KEY, state TEXT, began INTEGER, at INTEGER);
        INSERT INTO tasks VALUES (1, 'busy', unixepoch() * 1000 - 5000000, NULL)",
    );
    fs::write(
        doctor.path("config.toml"),
        "[mapping.tasks]\ntime = { default = 'epoch ms' }\nstates = { waiting = ['free'], in_flight = ['busy'] }\n\
        [mapping.tasks.claim]\ntable = 'tasks'\nkey = 'id'\nstate = 'state'\nclaimed_at = 'began'\n\
        liveness = [{ by = 'age', column = 'began', silent_after = '1m' }]\n\
        [mapping.tasks.action]\nrequeue = { to = 'free', stamp = ['at'], attempts = 'keep' }\n\
        [mapping.tasks.attempts]\ncounted = 'not in the table'\n",
    )
    .unwrap();
    let now = || -> i64 {
        let sql = "SELECT CAST(round(unixepoch('subsec') * 1000) AS INTEGER)";
        doctor.rows("jobs.db", sql)[0].parse().unwrap()
    };
    let script = script(&doctor, &["reclaim", "--db", "jobs.db", "--preset", "tasks", "--config", "config.toml"]);
    let made = now();
    crate::support::cli::until("a later millisecond", || now() > made);
    let begun = now();
    sqlite3(&doctor.path("jobs.db"), &script).exits(0);
    let at: i64 = doctor.rows("jobs.db", "SELECT at FROM tasks")[0].parse().unwrap();
    assert!((begun..=now()).contains(&at), "{begun} {at}");
}
