use super::{columns, configure, findings, finds, run, warns};
use crate::support::cli::Doctor;
use crate::support::postgres::{TestDatabase, fresh};
use serde_json::{Value, json};

const TYPES: &str = "CREATE TYPE state AS ENUM ('nwe', 'working', 'dead');";

/// Makes a queue one of whose columns is declared otherwise as said, with two claims.
fn with_claims(column: (&str, &str)) -> (TestDatabase, Doctor) {
    let (database, doctor) = (fresh(), Doctor::new());
    let made = format!(
        "{TYPES} CREATE TABLE q ({});
         INSERT INTO q (id, status, worker, started, pinged)
         VALUES (1, 'working', 'w1', now() - interval '1h', now() - interval '1h'), (2, 'working', 'w2', now(), now())",
        columns("timestamptz", &[column])
    );
    database.client().batch_execute(&made).unwrap();
    configure(&doctor, &database.url(), "native", &[]);
    (database, doctor)
}

#[test]
fn a_queue_that_fits_is_said_to_and_does() {
    let (database, doctor) = with_claims(("", ""));
    assert_eq!(findings(&doctor, 0), [""; 0]);
    let document = run(&doctor, &["check"], 0);
    assert_eq!(document["not_tried"], json!(["values", "triggers", "row security", "keys"]));
    let tries = document["try_with"].as_str().unwrap();
    assert!(tries.starts_with("jobdoctor reclaim ") && tries.ends_with(" --dry-run=server"), "{tries}");
    configure(&doctor, &database.url(), "native", &[("preset =", "read_only = true\npreset =")]);
    assert_eq!(run(&doctor, &["check"], 0)["try_with"], Value::Null);
    configure(&doctor, &database.url(), "native", &[]);
    assert_eq!(run(&doctor, &["reclaim", "--apply"], 0)["summary"]["outcomes"]["moved"], 1);
}

/// Each is an error of `check`, with its place; and an apply, which is tried where it requeues, does not move the job.
#[test]
fn what_an_apply_would_meet_is_found() {
    let requeue = "requeue (config file config.toml, mapping m, line ";
    for (column, place, says) in [
        (("note", "text GENERATED ALWAYS AS (worker) STORED"), "line 24, key `action.fail.set.note`", "(428C9)"),
        (("worker", "text NOT NULL"), "line 21, key `action.requeue.clear[1]`", "column worker is NOT NULL"),
        (("status", "state"), requeue, "invalid input value for enum public.state: \"new\""),
    ] {
        let (_database, doctor) = with_claims(column);
        finds(&doctor, 78, &["error", place, says]);
        // No GRANT helps against a column that makes itself.
        assert!(!findings(&doctor, 78).concat().contains("GRANT"), "{column:?}");
        if !place.contains("fail") {
            let ran = doctor.run(&["reclaim", "--apply", "--config", "config.toml"]);
            assert!([3, 78].contains(&ran.code), "{column:?}: {ran:#?}");
        }
    }
}

/// A trigger may put in what is missing, so nothing is certain then.
#[test]
fn what_a_trigger_might_change_is_a_warning() {
    let (database, doctor) = with_claims(("worker", "text NOT NULL"));
    let trigger = "CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN NEW.worker := coalesce(NEW.worker, ''); RETURN NEW; END $$;
        CREATE TRIGGER fill BEFORE UPDATE ON q FOR EACH ROW EXECUTE FUNCTION fill()";
    database.client().batch_execute(trigger).unwrap();
    let found = findings(&doctor, 0).join("\n");
    assert!(found.contains("warning: requeue") && found.contains("NOT NULL"), "{found}");
    assert_eq!(run(&doctor, &["reclaim", "--apply"], 0)["summary"]["outcomes"]["moved"], 1);
}

#[test]
fn a_column_of_a_view_that_is_computed() {
    let (database, doctor) = with_claims(("", ""));
    let view = "ALTER TABLE q RENAME TO behind;
        CREATE VIEW q AS SELECT id, status, worker, started, pinged, tries + 0 AS tries, note FROM behind";
    database.client().batch_execute(view).unwrap();
    let found = findings(&doctor, 78).join("\n");
    assert!(found.contains("cannot update column \"tries\" of view \"q\""), "{found}");
    assert!(found.contains("line 19, key `action.requeue`"), "{found}");
}

/// Rights that no list of columns tells: here of a function that a mapping calls.
#[test]
fn a_right_that_only_the_statement_shows_is_denied() {
    let (database, doctor) = with_claims(("", ""));
    let role = format!("role_{}", database.name());
    let made = format!(
        "CREATE FUNCTION words() RETURNS text LANGUAGE sql AS 'SELECT ''x''';
         REVOKE EXECUTE ON FUNCTION words() FROM public;
         CREATE ROLE {role} LOGIN; GRANT SELECT, UPDATE ON q TO {role}"
    );
    database.client().batch_execute(&made).unwrap();
    let url = database.url().replace("user=doctor", &format!("user={role}"));
    configure(&doctor, &url, "native", &[(":reason", "public.words()")]);
    finds(&doctor, 77, &["error: fail", "permission denied for function words"]);
    database.client().batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).unwrap();
}

const BY_OWNER: [(&str, &str); 2] = [
    ("id = \"worker\"", "id = \"worker\"\ntable = \"workers\"\nmatch = { name = \"worker\" }\nheartbeat = \"beat\""),
    ("{ by = \"heartbeat\", column = \"pinged\", silent_after = \"2m\" }", "{ by = \"owner\", silent_after = \"2m\" }"),
];

/// The same verdict as an apply, whatever view stands where the owners' newest rows are.
#[test]
fn an_owners_view_is_judged_by_what_an_apply_sends() {
    let (database, doctor) = with_claims(("", ""));
    let view = "CREATE TABLE beats (name text, beat timestamptz);
        CREATE VIEW workers AS SELECT DISTINCT ON (name) name, beat FROM beats ORDER BY name, beat DESC;
        INSERT INTO beats VALUES ('w1', now() - interval '1h')";
    database.client().batch_execute(view).unwrap();
    configure(&doctor, &database.url(), "native", &BY_OWNER);
    let checked = doctor.run(&["check", "--config", "config.toml"]);
    let applied = doctor.run(&["reclaim", "--apply", "--config", "config.toml"]);
    assert_eq!((checked.code, applied.code), (0, 0), "{checked:#?} {applied:#?}");
}

/// Whose right counts behind a view is its owner's, and only the statement that locks the row asks for it.
#[test]
fn a_right_to_lock_the_owners_that_is_missing_behind_a_view() {
    let (database, doctor) = with_claims(("", ""));
    let role = format!("role_{}", database.name());
    let made = format!(
        "CREATE ROLE {role}; CREATE TABLE beats (name text PRIMARY KEY, beat timestamptz); GRANT SELECT ON beats TO {role};
         INSERT INTO beats VALUES ('w1', now() - interval '1h');
         CREATE VIEW workers AS SELECT name, beat FROM beats; ALTER VIEW workers OWNER TO {role}"
    );
    database.client().batch_execute(&made).unwrap();
    configure(&doctor, &database.url(), "native", &BY_OWNER);
    let found = findings(&doctor, 77).concat();
    assert!(found.contains("permission denied for table beats"), "{found}");
    doctor.run(&["reclaim", "--apply", "--config", "config.toml"]).exits(77);
    database.client().batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).unwrap();
}

#[test]
fn rules_and_what_goes_with_a_deleted_row_are_named() {
    let (database, doctor) = with_claims(("", ""));
    database.client().batch_execute("CREATE RULE swallow AS ON UPDATE TO q DO INSTEAD NOTHING").unwrap();
    finds(&doctor, 0, &["warning: rules rewrite what is written, on table public.q: swallow (instead)"]);
    assert_eq!(run(&doctor, &["reclaim", "--apply"], 3)["summary"]["outcomes"]["refused"], 1);

    let database = fresh();
    let schema = include_str!("../../fixtures/schemas/laravel/8.83.sql");
    let audit = "CREATE TABLE audit (job_id bigint REFERENCES jobs(id) ON DELETE CASCADE, n int PRIMARY KEY);
        CREATE TABLE \"No tes\" (n int REFERENCES audit(n) ON DELETE SET NULL);
        CREATE TABLE others (job_id bigint REFERENCES jobs(id) ON UPDATE CASCADE);
        CREATE UNIQUE INDEX u ON jobs (id, reserved_at);
        CREATE TABLE held (id bigint, at int, UNIQUE (id, at),
            FOREIGN KEY (id, at) REFERENCES jobs (id, reserved_at) ON UPDATE CASCADE);
        CREATE TABLE log (id bigint, at int, FOREIGN KEY (id, at) REFERENCES held (id, at) ON UPDATE SET NULL);
        INSERT INTO jobs (queue, payload, attempts, reserved_at, available_at, created_at)
        VALUES ('q', '{\"maxTries\":3}', 1, extract(epoch FROM now())::int - 900, 1, 1)";
    database.client().batch_execute(&format!("{schema};{audit}")).unwrap();
    let named = |words: &[&str]| {
        let said =
            doctor.run(&[words, &["--json", "--db", &database.url()]].concat()).exits(0).stdout.replace("public.", "");
        warns(&said, r#"\"No tes\", audit"#, "held, log")
    };
    assert_eq!(named(&["check"]), (true, true));
    assert_eq!(named(&["reclaim", "--to", "fail"]), (true, false));
    assert_eq!(named(&["reclaim", "--to", "requeue"]), (false, true));
    // The table is a view now, and the foreign keys refer to what is below.
    database
        .client()
        .batch_execute("ALTER TABLE jobs RENAME TO below; CREATE VIEW jobs AS SELECT * FROM below")
        .unwrap();
    assert_eq!(named(&["reclaim", "--to", "fail"]), (true, false));
}
