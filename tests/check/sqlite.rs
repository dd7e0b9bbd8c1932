use super::{columns, configure, findings, finds, run, warns};
use crate::support::cli::{Doctor, is_valid};
use serde_json::Value;

/// A queue whose columns are declared otherwise as said, with a mapping that is altered as said.
fn queue(otherwise: &[(&str, &str)], changes: &[(&str, &str)]) -> Doctor {
    let doctor = Doctor::new();
    doctor.sql_in("u.db", &format!("CREATE TABLE q ({})", columns("integer", otherwise)));
    configure(&doctor, "u.db", "epoch s", changes);
    doctor
}

fn with_claims(otherwise: &[(&str, &str)], changes: &[(&str, &str)]) -> Doctor {
    let doctor = queue(otherwise, changes);
    doctor.sql_in(
        "u.db",
        "PRAGMA foreign_keys = OFF; INSERT INTO q (id, status, worker, started, pinged) VALUES
         (1, 'working', 'w1', unixepoch() - 1000, unixepoch() - 1000), (2, 'working', 'w2', unixepoch(), unixepoch())",
    );
    doctor
}

fn moved(doctor: &Doctor, code: i32) -> u64 {
    run(doctor, &["reclaim", "--apply"], code)["summary"]["outcomes"]["moved"].as_u64().unwrap()
}

#[test]
fn a_queue_that_fits_is_said_to_and_does() {
    let doctor = with_claims(&[], &[]);
    assert_eq!(findings(&doctor, 0), [""; 0]);
    assert_eq!(run(&doctor, &["check"], 0)["not_tried"], serde_json::json!(["values", "triggers", "keys"]));
    assert_eq!(moved(&doctor, 0), 1);
}

/// Both kinds of declarations that SQLite cannot enforce, and the way out for those whose application does not either.
#[test]
fn a_foreign_key_that_cannot_be_enforced() {
    for (worker, other, says) in [
        ("text references workers(id)", "SELECT 1", "no such table: main.workers"),
        ("text references w2(id)", "CREATE TABLE w2 (id text)", "foreign key mismatch"),
    ] {
        let doctor = with_claims(&[("worker", worker)], &[]);
        doctor.sql_in("u.db", other);
        finds(
            &doctor,
            78,
            &["error", says, "config.toml, mapping m, line 19, key `action.requeue`", "foreign_keys = false"],
        );
        doctor.run(&["reclaim", "--apply", "--config", "config.toml"]).exits(78);
        configure(&doctor, "u.db", "epoch s", &[("preset =", "foreign_keys = false\npreset =")]);
        assert_eq!(findings(&doctor, 0), [""; 0], "{says}");
        assert_eq!(moved(&doctor, 0), 1, "{says}");
    }
}

const ACTIONS: &str = "[mapping.m.action.requeue]
to = \"new\"
clear = [\"worker\", \"started\", \"pinged\"]
[mapping.m.action.fail]
to = \"dead\"
set = { note = \":reason\" }
";

/// SQLite makes a text of each number that is put into a column of texts, so that no job's attempts could be read.
#[test]
fn columns_and_statements_that_cannot_be_are_found_with_their_place() {
    let (fail, note) = ("line 22, key `action.fail`", "line 24, key `action.fail.set.note`");
    let notify = ("[mapping.m.owner]", "[mapping.m.notify.all]\nsql = \"NOTIFY jobs\"\n[mapping.m.owner]");
    for (column, change, says) in [
        (("worker", "text not null"), ("", ""), &["error", "clear[1]`): column worker is NOT NULL"][..]),
        (("", ""), (":reason", "nofunc(1)"), &["error: fail", "no such function: nofunc", fail]),
        (("", ""), (":reason", "k.note"), &["error: fail", "no such column: k.note", fail]),
        (("note", "text as (status)"), ("", ""), &["error: fail", "cannot UPDATE generated column \"note\"", note]),
        (("tries", "text default 0"), ("", ""), &["line 6, key `attempts.column`", "must be an integer"]),
        (("tries", "varchar(9)"), ("", ""), &["line 6, key `attempts.column`", "must be an integer"]),
        (("", ""), (ACTIONS, ""), &["error", "config.toml, mapping m", "neither a requeue nor a fail"]),
        (("", ""), notify, &["SELECT pg_notify("]),
    ] {
        finds(&queue(&[column], &[change]), 78, says);
    }
}

#[test]
fn an_apply_that_fails_says_where() {
    let doctor =
        with_claims(&[], &[("clear = [\"worker\", \"started\", \"pinged\"]", "set = { note = \"nofunc(1)\" }")]);
    let ran = doctor.run(&["reclaim", "--apply", "--config", "config.toml"]).exits(78);
    ran.says("line 19, key `action.requeue`: no such function");
}

/// A column of REAL affinity makes reals of integers; what is whole is the count that was meant.
#[test]
fn attempts_in_a_column_of_reals_are_counted() {
    let doctor = with_claims(&[("tries", "real not null default 0")], &[]);
    doctor.sql_in("u.db", "INSERT INTO q SELECT 3, 'working', 'w3', 1000000000, 1000000000, 1.5, null");
    assert_eq!(findings(&doctor, 0), [""; 0]);
    assert_eq!(moved(&doctor, 0), 1, "half an attempt is none");
    assert_eq!(
        doctor.rows_in("u.db", "SELECT status || ' ' || tries FROM q ORDER BY id"),
        ["new 1.0", "working 0.0", "working 1.5"]
    );
}

#[test]
fn mappings_that_leave_something_out() {
    let doctor = with_claims(&[], &[]);
    doctor.sql_in("u.db", "INSERT INTO q (id, status) VALUES (9, 'paused')");
    finds(
        &doctor,
        78,
        &[
            "key `states`: 1 row of main.q is in states that m does not declare: paused",
            "paused",
            "config.toml, mapping m",
        ],
    );
    let nothing = [
        ("state = \"status\"\n", "where = \"j.status = 'working'\"\n"),
        ("attempts = { column", "# attempts = { column"),
        ("[mapping.m.states]\nwaiting = [\"new\"]\nin_flight = [\"working\"]\nfailed = [\"dead\"]\n", ""),
        ("clear = [\"worker\", \"started\", \"pinged\"]\n", ""),
    ];
    let doctor = with_claims(&[], &nothing);
    doctor.run(&["check", "--config", "config.toml"]).exits(78).says("the action writes nothing");
}

/// What the target asks of each run is refused by each run.
#[test]
fn a_budget_and_a_delay_of_the_target_that_the_queue_cannot_have() {
    for (setting, says) in [("max_stalls = 2", "nothing counts how often"), ("delay = \"30s\"", "cannot be requeued")] {
        let target = format!("preset = \"m\"\n{setting}");
        let uncounted =
            ("attempts = { column = \"tries\", max = 5, counted = \"at reclaim\", exhausted = \"fail\" }", "");
        let doctor = with_claims(&[], &[("preset = \"m\"", target.as_str()), uncounted]);
        finds(&doctor, 78, &["error", says]);
        assert_eq!(doctor.run(&["reclaim", "--config", "config.toml"]).code, 2, "{setting}");
    }
}

/// Rows that are no matter of the queue are named as such, and no more is said of them.
#[test]
fn states_that_are_ignored() {
    let states = ("failed = [\"dead\"]", "failed = [\"dead\"]\nignored = [\"template\"]");
    for (changes, code) in [(vec![], 78), (vec![states], 0)] {
        let doctor = with_claims(&[], &changes);
        doctor.sql_in("u.db", "INSERT INTO q (id, status) VALUES (7, 'template')");
        let found = findings(&doctor, code).join("\n");
        assert_eq!(
            found.contains("line 7, key `states`: 1 row of main.q is in states that m does not declare: template"),
            code == 78,
            "{found}"
        );
    }
}

/// A program that reads the document finds it at every end after start-up.
#[test]
fn there_is_a_document_where_nothing_fits() {
    let doctor = with_claims(&[("status", "")], &[("column = \"pinged\"", "column = \"punged\"")]);
    let document = run(&doctor, &["check"], 78);
    is_valid("check", &document);
    assert!(document["findings"][0]["detail"].as_str().unwrap().contains("punged"), "{document:#}");
    assert_eq!((&document["can_list"], &document["target"]), (&Value::Bool(false), &Value::Null));
}

const DELETES: &str = "[target.t]\ndb = \"u.db\"\npreset = \"laravel\"\n";

#[test]
fn what_goes_with_a_deleted_row_is_named() {
    let doctor = Doctor::new();
    let schema = include_str!("../../fixtures/schemas/laravel/sqlite/8.83.sql");
    doctor.sql_in(
        "u.db",
        &format!(
            "{schema}
             CREATE TABLE audit (job_id integer REFERENCES \"JOBS\"(id) ON DELETE CASCADE, n integer PRIMARY KEY);
             CREATE TABLE notes (id integer PRIMARY KEY, n integer REFERENCES audit(n) ON DELETE SET NULL);
             CREATE TABLE others (n integer REFERENCES notes(id) ON DELETE CASCADE, job_id integer REFERENCES jobs(id) ON UPDATE CASCADE);
             CREATE UNIQUE INDEX u ON jobs (id, reserved_at);
             CREATE TABLE held (id integer, at integer, UNIQUE (id, at),
                 FOREIGN KEY (id, at) REFERENCES jobs (id, RESERVED_AT) ON UPDATE CASCADE);
             CREATE TABLE log (id integer, at integer, FOREIGN KEY (id, at) REFERENCES held (id, at) ON UPDATE SET NULL);
             INSERT INTO jobs (queue, payload, attempts, reserved_at, available_at, created_at) VALUES ('q', '{{\"maxTries\":3}}', 1, 1, 1, 1);
             UPDATE jobs SET reserved_at = unixepoch() - 900;"
        ),
    );
    std::fs::write(doctor.path("config.toml"), DELETES).unwrap();
    let named = |words: &[&str]| warns(&run(&doctor, words, 0).to_string(), "audit, notes", "held, log");
    assert_eq!(named(&["check"]), (true, true));
    assert_eq!(named(&["reclaim", "--to", "fail"]), (true, false));
    assert_eq!(named(&["reclaim", "--to", "requeue"]), (false, true));
    std::fs::write(doctor.path("config.toml"), format!("{DELETES}foreign_keys = false\n")).unwrap();
    assert_eq!(named(&["check"]), (false, false));
}

/// A cancel of a job that waits for too long deletes it.
#[test]
fn what_goes_with_a_deleted_job_that_waits_is_named() {
    let doctor = Doctor::new();
    doctor.sql_in(
        "w.db",
        "CREATE TABLE q (id integer PRIMARY KEY, status text, at integer, made integer);
         CREATE TABLE notes (job integer REFERENCES q(id) ON DELETE CASCADE);
         INSERT INTO q VALUES (1, 'new', NULL, unixepoch() - 9000)",
    );
    let config = "[mapping.m]
time = { default = 'epoch s' }
states = { waiting = ['new'], in_flight = ['working'], failed = ['dead'] }
claim = { table = 'q', key = 'id', state = 'status', liveness = [{ by = 'age', column = 'at', silent_after = '1h' }] }
action = { fail = { to = 'dead' } }
waiting = { action = { cancel = { to = 'dead', step = [{ rows = 'each', sql = 'DELETE FROM {q} WHERE id IN :ids' }] } } }
[target.t]
db = 'w.db'
preset = 'm'
too_long = [{ state = 'new', since = 'made', after = '1h', action = 'cancel' }]
";
    std::fs::write(doctor.path("config.toml"), config).unwrap();
    for words in [&["check"][..], &["sweep"]] {
        let said = run(&doctor, words, 0).to_string();
        assert!(said.contains("a cancel deletes rows that foreign keys refer to, of table q"), "{said}");
    }
}
