//! 3: the database refused a row. The others move all the same.

use super::scene::incident;
use crate::support::cli::{Doctor, each};
use crate::support::labs::without_server;
use crate::support::shop::{Shop, on_both};
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;

#[test]
fn by_a_unique_key() {
    let doctor = incident();
    doctor.sql("CREATE UNIQUE INDEX one ON jobs (kind) WHERE status = 'QUEUED'");
    let ran = doctor.on_queue(&["reclaim", "--apply", "--kind", "SendInvoice"]);
    // 9 is waiting already.
    assert_snapshot!(ran.whole());
    assert_eq!(ran.code, 3);
}

/// Only the application's connections have the function.
#[test]
fn by_a_check_that_calls_a_function_of_the_application() {
    let doctor = incident();
    doctor.sql(
        "PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = substr(sql, 1, length(sql) - 1) || ', CHECK (ours(status)))'
         WHERE name = 'jobs'",
    );
    let ran = doctor.on_queue(&["reclaim", "--apply"]);
    assert_eq!(ran.code, 78, "{ran:#?}");
    ran.says("unknown function: ours()");
}

/// A deferred constraint is looked at when the transaction commits, and names no row: on Postgres only where something of the
/// application's own defers it again.
#[test]
fn at_the_commit() {
    for shop in [Shop::on_sqlite(), Shop::on_postgres()] {
        shop.sql(
            "CREATE TABLE known (id bigint, status text, PRIMARY KEY (id, status));
            INSERT INTO known VALUES (1, 'RUNNING'), (2, 'RUNNING'), (3, 'RUNNING'), (1, 'QUEUED'), (3, 'QUEUED');
            CREATE TABLE jobs (id bigint PRIMARY KEY, status text, owner_id text, lease_expires_at {time},
                attempts integer DEFAULT 0,
                FOREIGN KEY (id, status) REFERENCES known (id, status) DEFERRABLE INITIALLY DEFERRED);
            INSERT INTO jobs VALUES (1, 'RUNNING', 'a', {ago 1000}, 0), (2, 'RUNNING', 'b', {ago 1000}, 0),
                (3, 'RUNNING', 'c', {ago 1000}, 0);",
        );
        if shop.is_postgres() {
            shop.sql(
                "CREATE FUNCTION later() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN SET CONSTRAINTS ALL DEFERRED; RETURN NEW; END $$;
                CREATE TRIGGER later BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION later()",
            );
        }
        let ran = shop.run(&["reclaim", "--apply", "--json"]).exits(3).json();
        assert_eq!(shop.states(), ["1 QUEUED 1", "2 RUNNING 0", "3 QUEUED 1"]);
        // What was not moved comes first.
        assert_eq!(each(&ran, "steps", "outcome"), ["refused", "moved", "moved"], "{ran:#}");
        let said = ran["steps"][0]["error"]["message"].as_str().unwrap();
        assert!(said.to_lowercase().contains("foreign key constraint"), "{said}");
        // And so does an undo: the record has each job once.
        shop.sql("DELETE FROM known WHERE id = 1 AND status = 'RUNNING'");
        let run = ran["run_id"].as_str().unwrap();
        assert_eq!(recorded(&shop, run), ["1 moved", "2 refused", "3 moved"]);
        let undone = shop.run(&["undo", run, "--apply", "--json"]).exits(3).json();
        assert_eq!(shop.states(), ["1 QUEUED 1", "2 RUNNING 0", "3 RUNNING 0"], "{undone:#}");
        assert_eq!(undone["summary"]["outcomes"]["refused"], 1, "{undone:#}");
    }
}

fn recorded(shop: &Shop, run: &str) -> Vec<String> {
    steps(&shop.json(&["history", run], 0), &["id", "outcome"])
}

/// These words of each step, sorted.
fn steps(document: &Value, keys: &[&str]) -> Vec<String> {
    let step = |step: &Value| keys.iter().map(|key| step[key].as_str().unwrap()).collect::<Vec<_>>().join(" ");
    let mut steps: Vec<String> = document["steps"].as_array().unwrap().iter().map(step).collect();
    steps.sort();
    steps
}

/// Wherever in its batch a job stands that is failed for a refused requeue, every reader of the record has each job once.
#[test]
fn a_refused_requeue_that_became_a_fail_stands_anywhere_in_its_batch() {
    on_both(|shop| {
        shop.sql("CREATE UNIQUE INDEX one ON jobs (kind) WHERE status = 'QUEUED'");
        for with_twin in 1..16_usize {
            shop.sql("DELETE FROM jobs");
            let mut expected = Vec::new();
            for job in 1..=4 {
                let (has_twin, insert) = (with_twin >> (job - 1) & 1 == 1, "INSERT INTO jobs (id, queue, kind, status");
                shop.sql(&format!(
                    "{insert}, owner_id, heartbeat_at) VALUES ({job}, 'q', 'k{job}', 'RUNNING', 'w', {{ago 9000}})"
                ));
                if has_twin {
                    shop.sql(&format!("{insert}) VALUES (9{job}, 'q', 'k{job}', 'QUEUED')"));
                }
                expected.push(format!("{job} {} 1", if has_twin { "FAILED" } else { "QUEUED" }));
            }
            let before = shop.states();
            let ran = shop.run(&["sweep", "--if-refused", "fail", "--apply", "--json"]).exits(0).json();
            assert_eq!(shop.states()[..4], expected, "{with_twin:b}");
            let run = ran["run_id"].as_str().unwrap();
            assert_eq!(recorded(shop, run), ["1 moved", "2 moved", "3 moved", "4 moved"], "{with_twin:b}");
            let runs = shop.run(&["history", "--json"]).exits(0).json();
            let listed = runs["runs"].as_array().unwrap().iter().find(|listed| listed["run_id"] == run).unwrap();
            assert_eq!(listed["outcomes"]["moved"], 4, "{listed}");
            shop.run(&["sweep", "--max-stalls", "3"]).exits(0);
            shop.run(&["undo", run, "--apply"]).exits(0);
            assert_eq!(shop.states(), before, "{with_twin:b}");
            if with_twin == 0b0101 {
                // Killed before the second batch: head, intent and result of the first.
                let path = shop.doctor.path(ran["journal"].as_str().unwrap());
                let lines: Vec<String> =
                    fs::read_to_string(&path).unwrap().lines().map(|line| format!("{line}\n")).collect();
                fs::write(&path, lines[..3].concat()).unwrap();
                assert_eq!(recorded(shop, run), ["1 refused", "2 moved", "3 refused", "4 moved"]);
            }
        }
    });
}

/// The column takes `a` and `A` for one key, its unique index does not: a statement on either would touch both.
#[test]
fn by_an_index_that_tells_more_keys_apart_than_the_column() {
    for shop in [Shop::on_sqlite(), Shop::on_postgres()] {
        let (folds, exact, time) = match shop.is_postgres() {
            true => ("blind", "\"C\"", "timestamptz"),
            false => ("NOCASE", "BINARY", "integer"),
        };
        if shop.is_postgres() {
            shop.sql("CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
        }
        shop.sql(&format!(
            "CREATE TABLE jobs (id text COLLATE {folds} NOT NULL, status text, owner_id text, heartbeat_at {time}, attempts integer);
             CREATE UNIQUE INDEX keys ON jobs (id COLLATE {exact});
             INSERT INTO jobs VALUES ('a', 'RUNNING', 'w', {{ago 9000}}, 0), ('A', 'RUNNING', 'w', {{ago 9000}}, 0),
               ('b', 'RUNNING', 'w', {{ago 9000}}, 0)"
        ));
        let done = shop.run(&["reclaim", "--apply", "--preset", "lease", "--json"]).exits(3).json();
        let outcomes = &done["summary"]["outcomes"];
        assert_eq!((&outcomes["moved"], &outcomes["refused"]), (&1.into(), &2.into()), "{done}");
        assert_eq!(shop.rows("SELECT id FROM jobs WHERE status = 'QUEUED'"), ["b"]);
    }
}

/// An index for full text that was never filled: the file is whole, and the row is refused.
#[test]
fn by_a_virtual_table_behind_a_trigger() {
    let doctor = Doctor::new();
    doctor.sql_in(
        "q.db",
        "CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT, owner_id TEXT, heartbeat_at INTEGER, attempts INTEGER, note TEXT);
         CREATE VIRTUAL TABLE ft USING fts5 (note, content = 'jobs', content_rowid = 'id');
         CREATE TRIGGER index_note AFTER UPDATE OF status ON jobs BEGIN
           INSERT INTO ft (ft, rowid, note) VALUES ('delete', old.id, old.note); END;
         INSERT INTO jobs VALUES (1, 'RUNNING', 'w', 1700000000, 0, 'hello')",
    );
    let ran = doctor.run(&["reclaim", "--apply", "--db", "q.db", "--preset", "lease"]).exits(3);
    ran.says("refused (a virtual table that a trigger writes to");
}

/// A key of another table, one that the fail meets as well, and two orphans of one key: each end is what was tried, and no
/// advice is given that was followed, or that cannot be.
#[test]
fn a_refusal_is_told_as_what_was_tried() {
    on_both(|shop| {
        let if_refused = ["--if-refused", "fail"];
        let ends = |arguments: &[&str], code| {
            let ran = shop.run(&[&["reclaim", "-o", "json"], arguments].concat()).exits(code);
            (steps(&ran.json(), &["id", "action", "state_after", "outcome"]), ran.stderr)
        };
        shop.in_flight(1, 2, "'w'", 9000);
        shop.sql("UPDATE jobs SET kind = 'k'; CREATE UNIQUE INDEX one ON jobs (kind) WHERE status = 'QUEUED'");
        let plan = |words: &[&str]| shop.run(&[&["reclaim", "--json"], words].concat()).exits(0).json();
        let [plain, or_fail] = [plan(&[]), plan(&if_refused)];
        assert_eq!(each(&or_fail, "steps", "if_refused"), ["fail", "fail"]);
        assert_ne!(plain["digest"], or_fail["digest"]);
        shop.run(&["reclaim", "--if-refused", "fail"]).says("2 requeue or fail where its key is taken");
        // What is rolled back holds no key afterwards.
        let (end, said) = ends(&[&if_refused[..], &["--dry-run=server"]].concat(), 3);
        assert_eq!(end, ["1 requeue QUEUED moved", "2 requeue QUEUED refused"]);
        assert!(said.contains("not failed instead: no job that holds its key was seen"), "{said}");
        let expected = ["1 requeue QUEUED moved", "2 fail FAILED moved"];
        // A saved plan keeps what it says.
        shop.run(&["reclaim", "--save-plan", "plain.json"]).exits(0);
        let other = shop.run(&["reclaim", "--if-refused", "fail", "--plan", "plain.json", "--apply"]);
        assert_ne!(other.code, 0, "{other:#?}");
        shop.run(&["reclaim", "--if-refused", "fail", "--save-plan", "plan.json"]).exits(0);
        let of_plan = [&if_refused[..], &["--plan", "plan.json", "--apply"]].concat();
        assert_eq!(ends(&of_plan, 0).0, expected);
        let recorded = shop.json(&["history", "last"], 0);
        let why = recorded["steps"].as_array().unwrap().iter().find(|step| step["id"] == "2").unwrap();
        assert!(why["error"]["constraint"].as_str().is_some(), "{why:#}");
        shop.sql("DROP INDEX one; DELETE FROM jobs");
        // Another job has both keys already.
        shop.in_flight(1, 3, "'w'", 9000);
        shop.sql(
            "UPDATE jobs SET kind = 'k'; UPDATE jobs SET status = 'QUEUED' WHERE id = 2;
            UPDATE jobs SET status = 'FAILED' WHERE id = 3; CREATE UNIQUE INDEX pair ON jobs (kind, status)",
        );
        let (end, said) = ends(&[&if_refused[..], &["--apply"]].concat(), 3);
        assert_eq!(end, ["1 requeue QUEUED refused"]);
        assert!(said.contains("not failed instead") && !said.contains("fail them with"), "{said}");
        let (end, said) = ends(&["--to", "fail", "--apply"], 3);
        assert_eq!(end, ["1 fail FAILED refused"]);
        assert!(said.contains("refused by ") && !said.contains("fail them with"), "{said}");
        shop.sql("DROP INDEX pair; DELETE FROM jobs");
        shop.in_flight(1, 1, "'w'", 9000);
        shop.sql("CREATE TABLE other (id integer UNIQUE); INSERT INTO other VALUES (1)");
        shop.sql(match shop.is_postgres() {
            true => {
                "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN IF NEW.status = 'QUEUED' THEN INSERT INTO other VALUES (NEW.id); END IF; RETURN NEW; END $$;
                CREATE TRIGGER note BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION note()"
            }
            false => {
                "CREATE TRIGGER note BEFORE UPDATE ON jobs WHEN new.status = 'QUEUED'
                    BEGIN INSERT INTO other VALUES (new.id); END"
            }
        });
        let (end, said) = ends(&[&if_refused[..], &["--apply"]].concat(), 3);
        assert_eq!(end, ["1 requeue QUEUED refused"]);
        assert!(
            said.contains("not failed instead: no job that holds its key was seen") && !said.contains("fail them with")
        );
    });
}

/// The row that holds the key is seen by the plan, whatever the column's type and the index make of the values. A column without a type
/// keeps the text `7`.
#[test]
fn a_twin_is_seen_as_its_index_compares_values() {
    let config = |db: &str, time: &str, state: &str| {
        format!(
            "[target.s]\ndb = \"{db}\"\npreset = \"o\"\nif_refused = \"fail\"\n[mapping.o]\ntime = {{ default = \"{time}\" }}\n\
             states = {{ waiting = [\"{state}\"], in_flight = [\"working\"], failed = [\"dead\"] }}\nowner = {{ id = \"worker\" }}\n\
             claim = {{ table = \"q\", key = \"id\", state = \"status\", claimed_at = \"at\", \
             liveness = [{{ by = \"age\", column = \"at\", silent_after = \"2m\" }}] }}\n\
             action = {{ requeue = {{ to = \"{state}\", clear = [\"worker\"] }}, fail = {{ to = \"dead\" }} }}\n"
        )
    };
    let is_failed = |shop: &Shop, table: &str, task: &str, state: &str| {
        shop.sql(&format!(
            "{table}; INSERT INTO q (id, task, status, worker, at) VALUES (1, 'a', 'working', 'w', {{ago 9000}}),
               (2, {task}, '{state}', NULL, NULL), (3, 'b', 'working', 'w', {{ago 9000}})"
        ));
        let time = if shop.is_postgres() { "native" } else { "epoch s" };
        fs::write(shop.doctor.path("c.toml"), config(&shop.url, time, state)).unwrap();
        let plan = shop.doctor.run(&["reclaim", "--config", "c.toml", "--json"]).exits(0).json();
        assert!(plan["warnings"].to_string().contains("will refuse to requeue 1 (job 2 has"), "{table}: {plan:#}");
        shop.doctor.run(&["reclaim", "--config", "c.toml", "--apply"]).exits(0);
        assert_eq!(
            shop.rows("SELECT id, status FROM q ORDER BY id"),
            ["1 dead", &format!("2 {state}"), &format!("3 {state}")],
            "{table}"
        );
    };
    for (kind, state) in
        [("", "7"), ("STRING", "new"), ("TEXT", "7"), ("BLOB", "7"), ("\"a 'kind'\"", "new"), ("VARCHAR(9)", "7")]
    {
        for key in ["UNIQUE (task, status)", "CHECK (true)"] {
            let index = if key.starts_with("UNIQUE") {
                String::new()
            } else {
                format!("; CREATE UNIQUE INDEX u ON q (task) WHERE status = '{state}'")
            };
            let table = format!(
                "CREATE TABLE Q (id INTEGER PRIMARY KEY, task, status {kind}, worker TEXT, at INT, {key}){index}"
            );
            is_failed(&Shop::on_sqlite(), &table, "'a'", state);
        }
    }
    if without_server() {
        return;
    }
    let table = "CREATE TABLE q (id bigint PRIMARY KEY, task KIND, sub text, status text, worker text, at timestamptz)";
    let shop = Shop::on_postgres();
    let is_15 = shop.rows("SHOW server_version_num")[0].parse::<u32>().unwrap() >= 150_000;
    let cases = [
        ("text", "UNIQUE INDEX u ON q (task, sub) NULLS NOT DISTINCT WHERE status = 'new'", "'a'", is_15),
        ("citext", "UNIQUE INDEX u ON q (task) WHERE status = 'new'", "'A'", true),
        ("text", "UNIQUE INDEX u ON q (task COLLATE blind, status)", "'A'", true),
        ("text COLLATE blind", "UNIQUE INDEX u ON q (task, status)", "'A'", true),
    ];
    shop.sql("CREATE EXTENSION citext; CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
    for (kind, index, task, _) in cases.iter().filter(|case| case.3) {
        is_failed(
            &shop,
            &format!("DROP TABLE IF EXISTS q; {}; CREATE {index}", table.replace("KIND", kind)),
            task,
            "new",
        );
    }
}
