//! `--dry-run=server` says what `--apply` then does, and leaves no trace.

use super::{configure, run};
use crate::support::cli::{Doctor, is_valid};
use crate::support::postgres::{TestDatabase, fresh};
use serde_json::Value;
use std::fs;

/// What may go wrong with job 2 and with no other, on Postgres: a key that is taken, a trigger, a deferred foreign key.
const POSTGRES: [&str; 4] = [
    "CREATE UNIQUE INDEX one_waiting ON q (note) WHERE status = 'new'; UPDATE q SET note = id::text;
     INSERT INTO q (id, status, note) VALUES (9, 'new', '2')",
    "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not today'; END $$;
     CREATE TRIGGER no BEFORE UPDATE ON q FOR EACH ROW WHEN (OLD.id = 2) EXECUTE FUNCTION no()",
    "ALTER TABLE q ADD UNIQUE (id, status);
     CREATE TABLE child (id int, status text, FOREIGN KEY (id, status) REFERENCES q (id, status) DEFERRABLE INITIALLY DEFERRED);
     INSERT INTO child VALUES (2, 'working')",
    "SELECT",
];

/// The same on SQLite.
const SQLITE: [&str; 4] = [
    "CREATE UNIQUE INDEX one_waiting ON q (note) WHERE status = 'new'; UPDATE q SET note = id;
     INSERT INTO q (id, status, note) VALUES (9, 'new', 2)",
    "CREATE TRIGGER no BEFORE UPDATE ON q WHEN OLD.id = 2 BEGIN SELECT raise(ABORT, 'not today'); END",
    "CREATE UNIQUE INDEX pair ON q (id, status);
     CREATE TABLE child (id int, status text, FOREIGN KEY (id, status) REFERENCES q (id, status) DEFERRABLE INITIALLY DEFERRED);
     INSERT INTO child VALUES (2, 'working')",
    "SELECT 1",
];

fn postgres(trouble: &str) -> (TestDatabase, Doctor) {
    let (database, doctor) = (fresh(), Doctor::new());
    let made = format!(
        "CREATE TABLE q (id int PRIMARY KEY, status text, worker text, started timestamptz, pinged timestamptz,
           tries int NOT NULL DEFAULT 0, note text);
         INSERT INTO q SELECT n, 'working', 'w', now() - interval '1h', now() - interval '1h' FROM generate_series(1, 3) AS n;
         {trouble}"
    );
    database.client().batch_execute(&made).unwrap();
    configure(&doctor, &database.url(), "native", &[]);
    (database, doctor)
}

fn rows(database: &TestDatabase) -> Vec<String> {
    let rows =
        database.client().query("SELECT q.ctid || ' ' || q.xmin || ' ' || q::text FROM q ORDER BY id", &[]).unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

fn ends(document: &Value) -> Vec<(Value, Value, Value)> {
    let steps = document["steps"].as_array().unwrap().iter();
    steps.map(|step| (step["id"].clone(), step["outcome"].clone(), step["error"].clone())).collect()
}

fn is_what_an_apply_does(doctor: &Doctor, refused: u64, before_the_apply: impl FnOnce()) -> Value {
    let code = if refused > 0 { 3 } else { 0 };
    let dry = run(doctor, &["reclaim", "--dry-run=server", "--apply"], code);
    is_valid("reclaim", &dry);
    before_the_apply();
    assert_eq!((&dry["applied"], &dry["rolled_back"], &dry["run_id"]), (&false.into(), &true.into(), &Value::Null));
    let history = doctor.run(&["history", "--config", "config.toml", "-o", "json"]).exits(0).json();
    assert_eq!(history["runs"].as_array().map(Vec::len), Some(0), "{history:#}");
    let applied = run(doctor, &["reclaim", "--apply"], code);
    assert_eq!(ends(&dry), ends(&applied));
    assert_eq!(applied["summary"]["outcomes"]["refused"], refused);
    assert_eq!(applied["summary"]["by_action"], dry["summary"]["by_action"]);
    dry
}

#[test]
fn postgres_says_what_an_apply_does() {
    for (n, trouble) in POSTGRES.iter().enumerate() {
        let (database, doctor) = postgres(trouble);
        let before = rows(&database);
        let refused = u64::from(n < 3);
        let dry = is_what_an_apply_does(&doctor, refused, || assert_eq!(rows(&database), before, "{trouble}"));
        let warnings = dry["warnings"].to_string();
        assert_eq!(warnings.contains("is not rolled back"), trouble.contains("TRIGGER"), "{warnings}");
        assert_ne!(rows(&database), before);
    }
}

#[test]
fn sqlite_says_what_an_apply_does() {
    for (n, trouble) in SQLITE.iter().enumerate() {
        for journal in ["wal", "delete"] {
            let doctor = Doctor::new();
            doctor.sql_in(
                "u.db",
                &format!(
                    "PRAGMA journal_mode = {journal};
                     CREATE TABLE q (id integer PRIMARY KEY, status text, worker text, started integer, pinged integer,
                       tries integer NOT NULL DEFAULT 0, note text);
                     INSERT INTO q (id, status, worker, started, pinged)
                       SELECT value, 'working', 'w', unixepoch() - 1000, unixepoch() - 1000 FROM json_each('[1, 2, 3]');
                     {trouble}; PRAGMA wal_checkpoint(TRUNCATE)"
                ),
            );
            configure(&doctor, "u.db", "epoch s", &[]);
            let before = fs::read(doctor.path("u.db")).unwrap();
            let refused = u64::from(n < 3);
            is_what_an_apply_does(&doctor, refused, || {
                assert!(fs::read(doctor.path("u.db")).unwrap() == before, "{journal}: {trouble}");
            });
        }
    }
}

/// A right that is missing ends both alike, and so does a target that must not be written to.
#[test]
fn what_ends_an_apply_ends_the_dry_run() {
    let (database, doctor) = postgres("SELECT");
    let role = format!("{}_reader", database.name());
    database.client().batch_execute(&format!("CREATE ROLE {role} LOGIN; GRANT SELECT ON q TO {role}")).unwrap();
    configure(&doctor, &database.url().replace("user=doctor", &format!("user={role}")), "native", &[]);
    let ends = [["reclaim", "--dry-run=server"], ["reclaim", "--apply"]].map(|arguments| {
        let ran = doctor.run(&[&arguments[..], &["--config", "config.toml"]].concat()).exits(77);
        ran.stderr.lines().find(|line| line.starts_with("error")).unwrap_or_default().to_owned()
    });
    assert!(ends[0] == ends[1] && ends[0].contains("permission denied"), "{ends:?}");
    database.client().batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).unwrap();
    configure(&doctor, &database.url(), "native", &[("preset = \"m\"", "preset = \"m\"\nread_only = true")]);
    let before = rows(&database);
    let refused = doctor.run(&["reclaim", "--dry-run=server", "--config", "config.toml", "-o", "json"]).exits(4).json();
    assert!(refused["refused"].to_string().contains("read-only"), "{refused:#}");
    assert_eq!(rows(&database), before);
}

/// A dry run wins over `--apply`, in each of its spellings.
#[test]
fn a_dry_run_wins() {
    let (database, doctor) = postgres("SELECT");
    let before = rows(&database);
    for dry in ["-n", "--dry-run", "--dry-run=plan"] {
        let document = run(&doctor, &["reclaim", "--apply", dry], 0);
        assert_eq!((&document["applied"], &document["rolled_back"]), (&false.into(), &false.into()), "{dry}");
        run(&doctor, &["sweep", "--apply", dry], 0);
    }
    assert_eq!(rows(&database), before);
}
