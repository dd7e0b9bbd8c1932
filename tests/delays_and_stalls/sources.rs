//! Where losses are counted: in a library's own place, in a column of a mapping, or by somebody else.

use crate::support::cli::{Doctor, fails};
use crate::support::postgres::fresh;

#[test]
fn river_counts_its_rescues() {
    let (doctor, database) = (Doctor::new(), fresh());
    let mut client = database.client();
    client.batch_execute(include_str!("../../fixtures/schemas/river/v7.sql")).unwrap();
    client
        .batch_execute(
            "INSERT INTO river_job (id, state, attempt, max_attempts, attempted_at, attempted_by, args, kind, metadata)
             SELECT n, 'running', 1, 25, now() - interval '2 h', '{web1}', '{}', 'send_mail', m::jsonb
             FROM (VALUES (1, '{}'), (2, '{\"river:rescue_count\": 1}'), (3, '{\"river:rescue_count\": 2}'),
                 (4, '{\"river:rescue_count\": 1e40}'), (5, '{\"river:rescue_count\": \"many\"}')) AS v (n, m)",
        )
        .unwrap();
    let document = doctor
        .run(&["reclaim", "--db", &database.url(), "--max-stalls", "2", "--apply", "--json"])
        .exits(0)
        .document("reclaim");
    let rows = client
        .query("SELECT id || ' ' || state || ' ' || coalesce(metadata ->> 'river:rescue_count', '-') FROM river_job ORDER BY id", &[])
        .unwrap();
    let rows: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    let untouched = format!("4 running 1{}", "0".repeat(40));
    assert_eq!(rows, ["1 available 1", "2 available 2", "3 discarded 3", &untouched, "5 available 1"]);
    assert_eq!(document["skipped"][0]["reason"], "stalls_unreadable", "a count that is no count");
}

const MAPPING: &str = "[mapping.home]\ntime = { default = \"epoch s\" }\n\
    states = { waiting = [\"new\"], in_flight = [\"busy\"], failed = [\"dead\"] }\n\
    attempts = { counted = \"not in the table\", stalls = \"lost\" }\n\
    [mapping.home.claim]\ntable = \"home\"\nkey = \"id\"\nstate = \"status\"\n\
    liveness = [{ by = \"age\", column = \"began\", silent_after = \"1m\" }]\n\
    [mapping.home.action.requeue]\nto = \"new\"\nset = { lost = \"coalesce(j.lost, 0) + 1\" }\n\
    [mapping.home.action.fail]\nto = \"dead\"\n";

fn home(mapping: &str) -> Doctor {
    let doctor = Doctor::new();
    std::fs::write(doctor.path("config.toml"), mapping).unwrap();
    doctor.sql_in(
        "home.db",
        "CREATE TABLE home (id INTEGER PRIMARY KEY, status TEXT, began INTEGER, lost INTEGER);
         INSERT INTO home VALUES (1, 'busy', unixepoch() - 7200, NULL), (2, 'busy', unixepoch() - 7200, 1)",
    );
    doctor
}

const RECLAIM: [&str; 9] =
    ["reclaim", "--db", "home.db", "--config", "config.toml", "--preset", "home", "--max-stalls", "1"];

#[test]
fn a_mapping_names_its_column() {
    let doctor = home(MAPPING);
    doctor.run(&[&RECLAIM[..], &["--apply"]].concat()).exits(0);
    assert_eq!(doctor.rows_in("home.db", "SELECT id, status, lost FROM home"), ["1 new 1", "2 dead 1"]);
}

/// A counter that nobody counts up would let every job go back for ever.
#[test]
fn a_mapping_whose_requeue_does_not_count() {
    let doctor = home(&MAPPING.replace("set = { lost = \"coalesce(j.lost, 0) + 1\" }\n", ""));
    let said = fails(&doctor, &RECLAIM, 78).stderr;
    assert!(said.contains("add `lost = \"coalesce(j.lost, 0) + 1\"` to `set` of [action.requeue]"), "{said}");
}

/// Not requeued, because of its budget; and not failed, because of the preset: skipped, with both reasons.
#[test]
fn where_nothing_may_fail_it_is_held() {
    let refused = MAPPING.replace(
        "[mapping.home.action.fail]\nto = \"dead\"\n",
        "[mapping.home.action.fail]\nrefused = \"only a person may\"\n",
    );
    let missing = MAPPING.replace("[mapping.home.action.fail]\nto = \"dead\"\n", "");
    for (mapping, reason, why) in
        [(refused, "action_refused", "only a person may"), (missing, "action_not_offered", "preset home has no fail")]
    {
        let document = home(&mapping).run(&[&RECLAIM[..], &["--json"]].concat()).exits(0).json();
        assert_eq!(document["skipped"][0]["id"], "2");
        assert_eq!(document["skipped"][0]["reason"], reason);
        assert_eq!(document["skipped"][0]["detail"], format!("lost once already, 1 allowed; and {why}"));
        assert_eq!(document["summary"]["planned"], 1, "the other one goes back");
    }
}
