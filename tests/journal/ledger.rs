//! The ledger: rows in the same transaction as the actions, readable from any host.

use super::queue::{on_both, on_postgres, on_sqlite};
use crate::support::cli::fails;
use crate::support::shop::Shop;
use serde_json::json;
use std::fs;

const ROWS: &str = "SELECT id || ' ' || action || ' ' || state || ' ' || state_after || ' ' || attempts || ' ' \
                    || attempts_after || ' ' || rules || ' ' || coalesce(reason, '-') FROM jobdoctor_ledger ORDER BY id";

fn count(queue: &Shop) -> String {
    queue.rows("SELECT cast(count(*) AS text) FROM jobdoctor_ledger").concat()
}

#[test]
fn init_makes_the_ledger_alone() {
    on_both(|queue| {
        let tables = queue.pick(
            "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1",
            "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
        );
        let before = queue.dump("jobs");
        let printed = queue.run(&["init", "--ledger", "--print"]).exits(0).stdout;
        assert_eq!(queue.rows(tables), ["jobs"], "it was only printed");
        queue.run(&["init", "--ledger"]).exits(0);
        assert_eq!(queue.rows(tables), ["jobdoctor_ledger", "jobs"]);
        assert_eq!(queue.dump("jobs"), before);
        fails(&queue.doctor, &["init", "--ledger", "--db", &queue.url], 78).says("already");
        // What is printed is what is run.
        queue.sql("DROP TABLE jobdoctor_ledger");
        queue.sql(&printed);
        let checked = queue.json(&["check"], 0);
        let found = checked["findings"].as_array().unwrap().iter().find(|finding| finding["id"] == "ledger").unwrap();
        assert_eq!(found["severity"], "ok");
        assert!(found["detail"].as_str().unwrap().contains("records each action"), "{found}");
        queue.reclaimed();
        assert_eq!(count(queue), "4");
    });
}

#[test]
fn a_ledger_wants_a_queue() {
    let queue = on_sqlite();
    queue.sql("DROP TABLE jobs; CREATE TABLE other (x)");
    fails(&queue.doctor, &["init", "--ledger", "--db", "queue.db"], 78);
    fails(&queue.doctor, &["init", "--ledger", "--db", "new.db"], 66);
    assert_eq!(queue.doctor.files(), ["queue.db"]);
}

/// A schema may let an INSERT succeed and keep nothing: rules and triggers of Postgres, a trigger of SQLite.
#[test]
fn rows_that_it_does_not_take_end_the_batch() {
    let trigger = "CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
        CREATE TRIGGER swallow BEFORE INSERT ON jobdoctor_ledger FOR EACH ROW EXECUTE FUNCTION swallow()";
    let rule = "CREATE RULE swallow AS ON INSERT TO jobdoctor_ledger DO INSTEAD NOTHING";
    let one_row =
        "CREATE TRIGGER swallow BEFORE INSERT ON jobdoctor_ledger WHEN new.id = '2' BEGIN SELECT RAISE(IGNORE); END";
    for on_postgres in [trigger, rule] {
        on_both(|queue| {
            queue.run(&["init", "--ledger"]).exits(0);
            queue.sql(queue.pick(one_row, on_postgres));
            let checked = queue.run(&["check"]).stdout;
            assert!(checked.contains("jobdoctor_ledger") && checked.contains("swallow"), "{checked}");
            let before = queue.dump("jobs");
            for words in [&["reclaim", "--apply"][..], &["sweep", "--apply", "--min-interval", "1h"]] {
                let ran = queue.run(words).exits(78);
                ran.says(queue.pick("took 1 of 2 rows", "took 0 of 2 rows")).says("a trigger or a rule");
                assert_eq!((queue.dump("jobs"), count(queue)), (before.clone(), "0".to_owned()));
            }
        });
    }
}

#[test]
fn what_stands_in_it() {
    on_both(|queue| {
        queue.run(&["init", "--ledger"]).exits(0);
        queue.run(&["reclaim", "--apply", "--reason", "INC-42"]).exits(0);
        assert_eq!(
            queue.rows(ROWS),
            [
                "1 requeue RUNNING QUEUED 0 1 [\"lease_expired\"] INC-42",
                "2 requeue CLAIMED QUEUED 1 2 [\"lease_expired\"] INC-42",
                "3 fail RUNNING FAILED 4 5 [\"lease_expired\"] INC-42",
                "4 cancel RUNNING CANCELLED 0 1 [\"lease_expired\"] INC-42",
            ]
        );
        let all = queue.dump("jobdoctor_ledger").concat();
        assert!(!all.contains("it's") && !all.contains("69742773"), "no payload is in it");
    });
}

/// A batch that the database refuses leaves no rows; of one that it takes in part, only what was moved is in the ledger.
#[test]
fn the_rows_are_the_outcomes() {
    on_both(|queue| {
        queue.run(&["init", "--ledger"]).exits(0);
        queue.sql(queue.pick(
            "CREATE TRIGGER t BEFORE UPDATE ON jobs WHEN NEW.id = 2 BEGIN SELECT RAISE(ABORT, 'not this one'); END",
            "CREATE FUNCTION t() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN IF NEW.id = 2 THEN RAISE 'not this one'; END IF; RETURN NEW; END $$;
             CREATE TRIGGER t BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION t();",
        ));
        let document = queue.json(&["reclaim", "--apply"], 3);
        assert_eq!(document["summary"]["outcomes"]["moved"], 3);
        assert_eq!(queue.rows("SELECT id FROM jobdoctor_ledger ORDER BY 1"), ["1", "3", "4"]);
        // The journal says the same.
        let run = document["run_id"].as_str().unwrap();
        let told = queue.json(&["history", run], 0);
        let of = |outcome: &str| {
            let steps = told["steps"].as_array().unwrap().iter().filter(|step| step["outcome"] == outcome);
            steps.map(|step| step["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let mut moved = of("moved");
        moved.sort();
        assert_eq!(
            (moved, of("refused")),
            (vec!["1".to_owned(), "3".to_owned(), "4".to_owned()], vec!["2".to_owned()])
        );
    });
}

#[test]
fn a_ledger_that_refuses_keeps_the_jobs_where_they_are() {
    on_both(|queue| {
        queue.run(&["init", "--ledger"]).exits(0);
        let before = queue.dump("jobs");
        queue.sql(queue.pick(
            "CREATE TRIGGER t BEFORE INSERT ON jobdoctor_ledger BEGIN SELECT RAISE(ABORT, 'full'); END",
            "ALTER TABLE jobdoctor_ledger ADD CHECK (run_id = '')",
        ));
        fails(&queue.doctor, &["reclaim", "--apply", "--db", &queue.url], 78).says("ledger");
        assert_eq!(queue.dump("jobs"), before);
        assert!(!queue.journals().exists(), "and no intent of it was told");
    });
}

#[test]
fn a_table_of_that_name_that_is_none() {
    on_both(|queue| {
        queue.sql("CREATE TABLE jobdoctor_ledger (run_id text)");
        let before = queue.dump("jobs");
        for arguments in [&["reclaim", "--apply"][..], &["check"], &["history"]] {
            fails(&queue.doctor, &[arguments, &["--db", &queue.url]].concat(), 78).says("lacks columns");
        }
        assert_eq!(queue.dump("jobs"), before);
        queue.run(&["stale"]).exits(0);
    });
}

#[test]
fn a_role_that_may_not_write_it() {
    let queue = on_postgres();
    queue.run(&["init", "--ledger"]).exits(0);
    let database = queue.server();
    let role = format!("{}_ops", database.name());
    queue.sql(&format!("CREATE ROLE {role} LOGIN; GRANT SELECT, UPDATE ON jobs TO {role}"));
    let url = queue.url.replace("user=doctor", &format!("user={role}"));
    let before = queue.dump("jobs");
    let ran = fails(&queue.doctor, &["reclaim", "--apply", "--db", &url], 77);
    let grant = ran.stderr.lines().find_map(|line| line.strip_prefix("hint: ")).unwrap().to_owned();
    assert_eq!(grant, format!("GRANT INSERT, SELECT ON \"public\".\"jobdoctor_ledger\" TO \"{role}\""));
    assert_eq!(queue.dump("jobs"), before);
    fails(&queue.doctor, &["check", "--db", &url], 77).says(&grant);
    fails(&queue.doctor, &["history", "--db", &url], 77).says("GRANT SELECT ON");
    queue.sql(&grant);
    let document = queue.doctor.run(&["reclaim", "--apply", "--json", "--db", &url]).exits(0).json();
    let run = document["run_id"].as_str().unwrap();
    assert_eq!(count(&queue), "4");
    queue.doctor.run(&["undo", run, "--apply", "--db", &url]).exits(0);
    assert_eq!(queue.dump("jobs"), before);
    queue.sql(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

/// A role that may not read every column of the jobs: what it may read is what the fingerprint covers.
#[test]
fn a_role_that_may_not_read_the_payload() {
    let queue = on_postgres();
    let database = queue.server();
    let role = format!("{}_narrow", database.name());
    let columns = "id, queue, kind, status, run_at, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at, attempts,
        max_attempts, stalls, max_runtime_seconds, deadline_at, cancel_requested_at, error_code, error_detail, finished_at";
    queue.sql(&format!("CREATE ROLE {role} LOGIN; GRANT SELECT ({columns}), UPDATE ON jobs TO {role}"));
    let url = queue.url.replace("user=doctor", &format!("user={role}"));
    let before = queue.dump("jobs");
    let document = queue.doctor.run(&["reclaim", "--apply", "--json", "--db", &url]).exits(0).json();
    assert_eq!(document["undoable"], true);
    let run = document["run_id"].as_str().unwrap();
    queue.doctor.run(&["undo", run, "--apply", "--db", &url]).exits(0);
    assert_eq!(queue.dump("jobs"), before);
    // A role that may not even read what it writes moves jobs all the same; but there is no way back.
    queue.sql(&format!("REVOKE SELECT (error_detail) ON jobs FROM {role}"));
    let document = queue.doctor.run(&["reclaim", "--apply", "--json", "--db", &url]).exits(0).json();
    assert_eq!((&document["undoable"], &document["summary"]["outcomes"]["moved"]), (&false.into(), &4.into()));
    assert!(document["warnings"].to_string().contains("cannot be undone"), "{document:#}");
    queue.sql(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

#[test]
fn a_run_of_another_host() {
    on_both(|queue| {
        queue.run(&["init", "--ledger"]).exits(0);
        let before = queue.dump("jobs");
        let run = queue.reclaimed();
        let listed = queue.json(&["history"], 0);
        assert_eq!(listed["runs"][0]["recorded_in"], serde_json::json!(["journal", "ledger"]));
        fs::remove_dir_all(queue.journals()).unwrap();
        assert_eq!(queue.doctor.run(&["history", "--json"]).exits(0).json()["summary"]["runs"], 0);
        let listed = queue.json(&["history"], 0);
        let first = &listed["runs"][0];
        assert_eq!(json!([first["run_id"], first["moved"], first["outcomes"]]), json!([run, 4, null]));
        assert_eq!(first["recorded_in"], serde_json::json!(["ledger"]));
        let told = queue.json(&["history", &run], 0);
        assert_eq!(told["steps"].as_array().unwrap().len(), 4);
        let undone = queue.json(&["undo", &run, "--apply"], 0);
        assert_eq!(
            (&undone["undoes"]["recorded_in"], &undone["summary"]["outcomes"]["moved"]),
            (&"ledger".into(), &4.into())
        );
        assert_eq!(queue.dump("jobs"), before);
        assert_eq!(count(queue), "8", "the undo is in the ledger too");
        // And can be taken back from there.
        let undo = undone["run_id"].as_str().unwrap();
        fs::remove_dir_all(queue.journals()).unwrap();
        assert_eq!(queue.json(&["undo", undo, "--apply"], 0)["summary"]["outcomes"]["moved"], 4);
        let states = queue.rows("SELECT status FROM jobs ORDER BY id");
        assert_eq!(states, ["QUEUED", "QUEUED", "FAILED", "CANCELLED", "RUNNING"]);
    });
}

#[test]
fn in_another_schema() {
    let queue = on_postgres();
    queue.sql("CREATE SCHEMA work; ALTER TABLE jobs SET SCHEMA work");
    queue.run(&["init", "--ledger", "--schema", "work"]).exits(0);
    queue.run(&["reclaim", "--apply", "--schema", "work"]).exits(0);
    assert_eq!(queue.rows("SELECT count(*)::text FROM work.jobdoctor_ledger"), ["4"]);
    // A ledger of another schema is none of this queue's.
    queue.sql("ALTER TABLE work.jobdoctor_ledger SET SCHEMA public; UPDATE work.jobs SET status = 'RUNNING', lease_expires_at = '2020-01-01'");
    queue.run(&["reclaim", "--apply", "--schema", "work"]).exits(0);
    assert_eq!(queue.rows("SELECT count(*)::text FROM jobdoctor_ledger"), ["4"]);
}

#[test]
fn a_row_that_nobody_of_ours_wrote() {
    on_both(|queue| {
        queue.run(&["init", "--ledger"]).exits(0);
        let run = queue.reclaimed();
        fs::remove_dir_all(queue.journals()).unwrap();
        let before = queue.dump("jobs");
        let row = "SELECT \"row\" FROM jobdoctor_ledger WHERE id = '1'";
        let restore = queue.rows(row).concat();
        for (column, value) in [("row", "{"), ("row", "{\"values\":[]}"), ("key", "[[]]"), ("action", "explode")] {
            queue.sql("CREATE TABLE saved AS SELECT * FROM jobdoctor_ledger");
            queue.sql(&format!("UPDATE jobdoctor_ledger SET \"{column}\" = '{value}' WHERE id = '1'"));
            fails(&queue.doctor, &["undo", &run, "--apply", "--db", &queue.url], 2);
            assert_eq!(queue.dump("jobs"), before, "{column} {value}");
            queue.sql(
                "DELETE FROM jobdoctor_ledger; INSERT INTO jobdoctor_ledger SELECT * FROM saved; DROP TABLE saved",
            );
        }
        assert_eq!(queue.rows(row).concat(), restore);
        queue.run(&["undo", &run, "--apply"]).exits(0);
    });
}
