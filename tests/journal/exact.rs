//! An undo of what nobody has touched leaves every row byte for byte what it was before the run.

use super::queue::{on_both, on_postgres, without_encoding};
use crate::support::cli::{each, is_valid};

fn outcomes(document: &serde_json::Value) -> String {
    let counts = document["summary"]["outcomes"].as_object().unwrap();
    let counts = counts.iter().filter(|(_, n)| **n != 0).map(|(name, n)| format!("{name} {n}"));
    counts.collect::<Vec<_>>().join(", ")
}

#[test]
fn apply_look_and_take_back() {
    on_both(|queue| {
        let before = queue.dump("jobs");
        let applied = queue.json(&["reclaim", "--apply"], 0);
        is_valid("reclaim", &applied);
        let run = applied["run_id"].as_str().unwrap();
        assert_eq!(applied["undoable"], true);
        assert_eq!(applied["journal"], queue.journal(run).display().to_string());
        let moved = queue.dump("jobs");
        assert_eq!(before.iter().zip(&moved).filter(|(before, moved)| before != moved).count(), 4);

        let listed = queue.json(&["history"], 0);
        is_valid("history", &listed);
        let listed = &listed["runs"][0];
        assert_eq!((&listed["run_id"], &listed["moved"], &listed["undoable"]), (&run.into(), &4.into(), &4.into()));
        let told = queue.json(&["history", run], 0);
        is_valid("history-run", &told);
        assert_eq!(told["steps"].as_array().unwrap().len(), 4);

        let planned = queue.json(&["undo", run], 0);
        is_valid("undo", &planned);
        assert_eq!((&planned["applied"], &planned["summary"]["planned"]), (&false.into(), &4.into()));
        assert_eq!(queue.dump("jobs"), moved, "a dry run writes nothing");

        let undone = queue.json(&["undo", run, "--apply"], 0);
        is_valid("undo", &undone);
        assert_eq!(outcomes(&undone), "moved 4");
        assert_eq!(undone["warnings"], serde_json::json!([]));
        assert_eq!(queue.dump("jobs"), before);

        // An undo is a run like any other.
        let undo = undone["run_id"].as_str().unwrap();
        assert_eq!(outcomes(&queue.json(&["undo", undo, "--apply"], 0)), "moved 4");
        assert_eq!(queue.dump("jobs"), moved);
        let listed = queue.json(&["history"], 0)["runs"].as_array().unwrap().clone();
        assert_eq!(
            listed.iter().filter_map(|run| run["undoes"].as_str()).collect::<Vec<_>>(),
            [undo, run],
            "newest first"
        );
    });
}

#[test]
fn the_second_time_there_is_nothing_left() {
    on_both(|queue| {
        let run = queue.reclaimed();
        queue.run(&["undo", &run, "--apply"]).exits(0);
        let before = queue.dump("jobs");
        let again = queue.json(&["undo", &run, "--apply"], 3);
        assert_eq!(outcomes(&again), "");
        let skipped = again["skipped"].as_array().unwrap();
        assert!(skipped.len() == 4 && skipped.iter().all(|job| job["reason"] == "as_before"), "{again:#}");
        assert!(again["warnings"][0].as_str().unwrap().contains("reverted already"), "{again:#}");
        assert_eq!(queue.dump("jobs"), before);
        assert_eq!(std::fs::read_dir(queue.journals()).unwrap().count(), 2, "what writes nothing records nothing");
    });
}

/// A trigger that keeps its own time of the last change is no reason to refuse; but the row is not what it was, and that is said.
#[test]
fn what_a_trigger_writes_beside_is_said() {
    on_both(|queue| {
        queue.sql("ALTER TABLE jobs ADD COLUMN version integer");
        queue.sql(queue.pick(
            "CREATE TRIGGER t AFTER UPDATE OF status ON jobs BEGIN
             UPDATE jobs SET version = coalesce(version, 0) + 1 WHERE id = new.id; END",
            "CREATE FUNCTION t() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN NEW.version = coalesce(OLD.version, 0) + 1; RETURN NEW; END $$;
             CREATE TRIGGER t BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION t();",
        ));
        let run = queue.reclaimed();
        queue.run(&["undo", &run, "--apply"]).exits(0).says("a trigger has written to other columns");
        let states = queue.rows("SELECT status || ' ' || coalesce(version, 0) FROM jobs ORDER BY id");
        assert_eq!(states, ["RUNNING 2", "CLAIMED 2", "RUNNING 2", "RUNNING 2", "RUNNING 0"]);
    });
}

/// The values of columns that the database makes itself are never written.
#[test]
fn generated_columns_follow_by_themselves() {
    on_both(|queue| {
        queue.sql("DELETE FROM jobs WHERE id > 1");
        queue.sql(queue.pick(
            "ALTER TABLE jobs ADD COLUMN tag text GENERATED ALWAYS AS (status || attempts) VIRTUAL",
            "ALTER TABLE jobs ADD COLUMN tag text GENERATED ALWAYS AS (status || attempts) STORED",
        ));
        let tag = || queue.rows("SELECT tag FROM jobs");
        assert_eq!(tag(), ["RUNNING0"]);
        let run = queue.applied(&["reclaim"]);
        assert_eq!(tag(), ["QUEUED1"]);
        queue.run(&["undo", &run, "--apply"]).exits(0);
        assert_eq!(tag(), ["RUNNING0"]);
    });
}

/// Types that know no equality, that are padded, or that only their own text says exactly.
#[test]
fn types_of_postgres() {
    let queue = on_postgres();
    queue.sql(
        "CREATE TYPE mood AS ENUM ('ok', 'not ok'); CREATE DOMAIN short AS varchar(9) CHECK (value <> '');
         CREATE SCHEMA \"Odd Place\"; CREATE TYPE \"Odd Place\".\"Odd Type\" AS ENUM ('a''b');
         ALTER TABLE jobs ADD a json, ADD b jsonb[], ADD c point, ADD d char(4), ADD e numeric(20, 6), ADD f bytea, ADD g mood,
            ADD h short, ADD i \"Odd Place\".\"Odd Type\"[], ADD j interval, ADD k double precision, ADD l int[], ADD m timestamp(3),
            ADD n \"char\", ADD o bit(3), ADD p xml;
         UPDATE jobs SET a = '{\"x\" : 1, \"x\":2}', b = ARRAY['{\"a\": null}', 'null', NULL]::jsonb[], c = '(1,2.5)', d = 'ab',
            e = 1.500000, f = '\\x00ff27', g = 'not ok', h = 'x', i = '{\"a''b\",NULL}', j = '1 mon -1 day 00:00:00.000001',
            k = 0.1::float8 + 0.2::float8, l = '[0:1]={1,2}', m = '2020-01-01 00:00:00.123', n = 'x', o = '101', p = '<a b=\"c\"/>'",
    );
    let mapping = r#"
[mapping.odd]
states   = { waiting = ["QUEUED"], in_flight = ["RUNNING", "CLAIMED"] }
attempts = { counted = "not in the table" }
[mapping.odd.claim]
table    = "jobs"
key      = "id"
state    = "status"
liveness = [{ by = "lease", column = "lease_expires_at" }]
[mapping.odd.action.requeue]
to    = "QUEUED"
clear = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"]
"#;
    std::fs::write(queue.doctor.path("config.toml"), mapping).unwrap();
    let with = ["--config", "config.toml", "--preset", "odd"];
    let before = queue.dump("jobs");
    let run = queue.applied(&[&["reclaim"][..], &with].concat());
    assert_ne!(queue.dump("jobs"), before);
    let undone = queue.json(&[&["undo", &run, "--apply"][..], &with].concat(), 0);
    assert_eq!(outcomes(&undone), "moved 4");
    assert_eq!(queue.dump("jobs"), before);
}

/// What is in no encoding is listed, judged, moved and given back like any other job, and spoils nothing for the others.
#[test]
fn bytes_that_are_no_text() {
    let queue = without_encoding();
    queue.sql(
        "ALTER TABLE jobs ALTER id DROP IDENTITY; ALTER TABLE jobs ALTER id TYPE text;
         UPDATE jobs SET id = E'k\\xff', owner_id = E'web\\xff:1', queue = E'\\xc3', kind = E'caf\\xe9' WHERE id = '1';
         UPDATE jobs SET id = E'k\\xfe', lease_token = E'\\xfe\\\\377', payload = E'\\x80' WHERE id = '2';
         UPDATE jobs SET owner_id = 'caf\u{e9}' WHERE id = '3'",
    );
    queue.run(&["init", "--ledger"]).exits(0);
    let before = queue.dump("jobs");
    let listed = queue.json(&["stale"], 0);
    is_valid("stale", &listed);
    let mut owners = each(&listed, "jobs", "owner");
    owners.sort_unstable();
    assert_eq!(owners, ["caf\u{e9}", "web1:2", "web2:1", "web\u{fffd}:1"]);
    for (read, code) in [("owners", 0), ("stats", 0), ("check", 0), ("health", 1)] {
        queue.run(&[read]).exits(code);
    }
    assert!(queue.run(&["show", "4"]).exits(0).stdout.contains("verdict"));
    let run = queue.reclaimed();
    let moved = queue.dump("jobs");
    for journals in [true, false] {
        if !journals {
            // Then the ledger has it.
            std::fs::remove_dir_all(queue.journals()).unwrap();
        }
        queue.run(&["history", &run]).exits(0);
        let undo = queue.json(&["undo", &run, "--apply"], 0);
        assert_eq!(outcomes(&undo), "moved 4");
        assert_eq!(queue.dump("jobs"), before);
        if journals {
            queue.run(&["undo", undo["run_id"].as_str().unwrap(), "--apply"]).exits(0);
            assert_eq!(queue.dump("jobs"), moved);
        }
    }
}
