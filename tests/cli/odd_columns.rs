//! Columns that only quotes can name, times with offsets, and types that are another type underneath.

use crate::cli::scene::{INCIDENT, JOBS};
use crate::support::cli::{Doctor, each};
use crate::support::shop::{Shop, on_both};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

/// Each column by a name that is no plain one: as it stands, in double quotes, and behind its alias.
const ODD: &str = r#"
[mapping.odd]
time = { default = "text YYYY-MM-DDTHH:MM:SS[.ffffff]+HH:MM" }
attempts = { column = "try-count", max = 5, counted = "at reclaim", exhausted = "fail" }
[mapping.odd.states]
waiting = ["new"]
in_flight = ["working"]
failed = ["dead"]
[mapping.odd.claim]
table = "q"
key = "job id"
state = '"The State"'
queue = "topic.name"
claimed_at = 'j."claimed-at"'
liveness = [{ by = "heartbeat", column = "last ping", silent_after = "2m" }]
[mapping.odd.owner]
id = 'the "worker"'
[mapping.odd.action.requeue]
to = "new"
clear = ['the "worker"', "claimed-at"]
stamp = ['"last ping"']
[mapping.odd.action.fail]
to = "dead"
set = { "a note" = ":reason" }
"#;

/// Now, moved by so many minutes, as clocks show it that are so many hours ahead.
fn clock(shop: &Shop, minutes: i32, hours: i32, offset: &str) -> String {
    match shop.is_postgres() {
        true => format!(
            "to_char(now() AT TIME ZONE 'UTC' + interval '{minutes} min' + interval '{hours} h', 'YYYY-MM-DD\"T\"HH24:MI:SS') || '{offset}'"
        ),
        false => {
            format!("strftime('%Y-%m-%dT%H:%M:%S', 'now', '{minutes} minutes', '{hours} hours') || '{offset}'")
        }
    }
}

fn document(shop: &Shop, words: &[&str], code: i32) -> Value {
    shop.run(&[words, &["--json", "--config", "m.toml", "--preset", "odd"]].concat()).exits(code).json()
}

fn ids<'d>(document: &'d Value, list: &str) -> BTreeSet<&'d str> {
    each(document, list, "id").into_iter().collect()
}

#[test]
fn of_any_name_with_offsets_in_their_times() {
    on_both(|shop| {
        fs::write(shop.doctor.path("m.toml"), ODD).expect("the config file");
        let types = match shop.is_postgres() {
            true => {
                shop.sql(
                    "CREATE DOMAIN whole AS integer; CREATE DOMAIN tries AS whole CHECK (value >= 0);
                     CREATE DOMAIN state AS varchar(10); CREATE DOMAIN moment AS varchar(40)",
                );
                ["whole", "state", "moment", "tries"]
            }
            false => ["integer", "text", "text", "integer"],
        };
        let [key, state, time, tries] = types;
        shop.sql(&format!(
            "CREATE TABLE q (\"job id\" {key} PRIMARY KEY, \"The State\" {state}, \"topic.name\" text, \"the \"\"worker\"\"\" text,
                \"claimed-at\" {time}, \"last ping\" {time}, \"try-count\" {tries}, \"a note\" text)"
        ));
        let job = |id: u32, owner: &str, tries: u32, ping: &str| {
            shop.sql(&format!(
                "INSERT INTO q VALUES ({id}, 'working', 'mail', '{owner}', {ping}, {ping}, {tries}, '')"
            ));
        };
        // Byte by byte the living one is the oldest, and the first dead one is the newest.
        job(1, "w1", 0, &clock(shop, -10, 9, "+09:00"));
        job(2, "w2", 0, &clock(shop, 0, -9, "-09:00"));
        job(3, "w1", 5, &clock(shop, -10, 0, ".250000Z"));
        let state =
            "SELECT CAST(\"job id\" AS text), CAST(\"The State\" AS text), \"the \"\"worker\"\"\", \"claimed-at\",
            CAST(\"try-count\" AS text), \"a note\" FROM q ORDER BY 1";
        let before = shop.rows(state);
        assert_eq!(document(shop, &["check"], 0)["can_reclaim"], true);
        assert_eq!(ids(&document(shop, &["stale"], 0), "jobs"), ["1", "3"].into());
        assert_eq!(document(shop, &["show", "2"], 0)["jobs"][0]["verdict"], "healthy");
        let applied = document(shop, &["reclaim", "--apply"], 0);
        assert_eq!(applied["summary"]["outcomes"]["moved"], 2);
        let after = "SELECT CAST(\"job id\" AS text), CAST(\"The State\" AS text), coalesce(\"the \"\"worker\"\"\", '-') FROM q ORDER BY 1";
        assert_eq!(shop.rows(after), ["1 new -", "2 working w2", "3 dead w1"]);
        let stamped =
            "SELECT count(*) FROM q WHERE \"job id\" = 1 AND \"last ping\" LIKE '%+00:00' AND \"try-count\" = 1";
        assert_eq!(shop.rows(stamped), ["1"]);
        document(shop, &["undo", applied["run_id"].as_str().expect("a run"), "--apply"], 0);
        assert_eq!(shop.rows(state), before);
    });
}

/// A number that its type keeps whole is one, whatever the type is called.
#[test]
fn whole_numbers_of_other_types() {
    let shop = Shop::on_postgres();
    let mapping = r#"
        [mapping.odd]
        time = { default = "epoch ms", started = "native" }
        attempts = { column = "tries", max = 5, counted = "at reclaim", exhausted = "fail" }
        states = { waiting = ["new"], in_flight = ["working"], failed = ["dead"] }
        [mapping.odd.claim]
        table = "q"
        key = "id"
        state = "status"
        claimed_at = "started"
        liveness = [{ by = "heartbeat", column = "pinged", silent_after = "2m" }]
        [mapping.odd.action.requeue]
        to = "new"
        stamp = ["pinged"]
        [mapping.odd.action.fail]
        to = "dead"
    "#;
    fs::write(shop.doctor.path("m.toml"), mapping).expect("the config file");
    shop.sql(
        "CREATE DOMAIN moment AS timestamptz;
         CREATE TABLE q (id numeric(20,0) PRIMARY KEY, status text, started moment, pinged numeric(20,0), tries numeric(4,0));
         INSERT INTO q SELECT n, 'working', now() - interval '1 h', (extract(epoch FROM now()) * 1000)::bigint - ago, 4
             FROM (VALUES (1, 600000), (2, 1000)) AS job(n, ago);
         INSERT INTO q VALUES (3, 'working', now() - interval '1 h', 'NaN', 0)",
    );
    let listed = document(&shop, &["stale"], 0);
    assert_eq!((ids(&listed, "jobs"), ids(&listed, "unknown")), (["1"].into(), ["3"].into()));
    assert_eq!((&listed["jobs"][0]["attempts"], &listed["jobs"][0]["max_attempts"]), (&4.into(), &5.into()));
    assert_eq!(document(&shop, &["reclaim", "--apply"], 0)["summary"]["outcomes"]["moved"], 1);
    assert_eq!(
        shop.rows("SELECT count(*) FROM q WHERE tries = 5 AND status <> 'working' AND pinged > 1700000000000"),
        ["1"]
    );
    // A numeric without a scale may have a fraction, and then says nothing; in the living range it must pass the pre-filter too.
    shop.sql(
        "ALTER TABLE q ALTER pinged TYPE numeric, ALTER tries TYPE numeric;
         UPDATE q SET status = 'working', tries = 3.0, pinged = CASE id WHEN 3 THEN 'NaN' ELSE
             trunc(extract(epoch FROM now()) * 1000)::bigint - CASE id WHEN 1 THEN 900000 ELSE 1000.5 END END",
    );
    let listed = document(&shop, &["stale"], 0);
    assert_eq!(ids(&listed, "jobs"), ["1"].into());
    assert_eq!(ids(&listed, "unknown"), ["2", "3"].into());
    document(&shop, &["reclaim", "--apply"], 0);
    assert_eq!(shop.rows("SELECT id, status, tries FROM q WHERE status <> 'working'"), ["1 new 4.0"]);
    // One that has a scale is none: the pre-filter could not tell that it has a fraction.
    shop.sql("ALTER TABLE q ALTER COLUMN pinged TYPE numeric(20,3)");
    shop.run(&["stale", "--config", "m.toml", "--preset", "odd"]).exits(78).says("numeric(20,3)");
    // Nor one of four bytes, which holds the seconds of these days in steps of two minutes.
    shop.sql("ALTER TABLE q ALTER COLUMN pinged TYPE real");
    fs::write(shop.doctor.path("m.toml"), mapping.replace("\"epoch ms\"", "\"epoch s float\""))
        .expect("the config file");
    shop.run(&["stale", "--config", "m.toml", "--preset", "odd"]).exits(78).says("real");
    shop.sql("ALTER TABLE q ALTER COLUMN pinged TYPE double precision");
    shop.run(&["stale", "--config", "m.toml", "--preset", "odd"]).exits(0);
}

/// A state is what the column's collation takes it for.
#[test]
fn states_of_a_column_that_folds_case() {
    let doctor = Doctor::new();
    let jobs = JOBS.replace("status TEXT NOT NULL", "status TEXT NOT NULL COLLATE NOCASE");
    doctor.sql(&format!("{jobs}{INCIDENT}"));
    let stats = || {
        let mut document = doctor.on_queue(&["stats", "--preset", "lease", "--json"]).exits(0).json();
        let summary = document["summary"].as_object_mut().expect("a summary");
        summary.retain(|name, _| !name.ends_with("_seconds"));
        (document["summary"].clone(), document["findings"].clone())
    };
    let before = stats();
    doctor.sql("UPDATE jobs SET status = 'Running' WHERE id = 1; UPDATE jobs SET status = 'Queued' WHERE id = 9");
    assert_eq!(stats(), before);
    let stale = ["stale", "--db", "queue.db", "--preset", "lease", "--state", "RUNNING", "-o", "name"];
    assert!(doctor.run(&stale).exits(0).stdout.lines().any(|id| id == "1"));
    // Nor is it a table that only looks like one of the preset's.
    doctor.on_queue(&["stale"]).exits(0);
    doctor.sql("UPDATE jobs SET status = 'Odd' WHERE id = 9");
    assert!(stats().1[0].as_str().is_some_and(|said| said.ends_with("does not have: Odd")));
}
