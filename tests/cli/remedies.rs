//! What is said to do where a home-made table, a filter or a target is not understood.

use super::scene::incident;
use crate::support::cli::{Doctor, fails, is_valid};

const TABLE: &str = r#"CREATE TABLE "BackgroundTasks" ("taskId" TEXT PRIMARY KEY, "taskType" TEXT, "Status" TEXT,
    "startedAt" INTEGER, worker TEXT, retries INTEGER NOT NULL DEFAULT 0, "lastError" TEXT);
    CREATE TABLE documents (id INTEGER PRIMARY KEY, status TEXT, owner_id TEXT);
    INSERT INTO "BackgroundTasks" ("taskId", "Status", "startedAt", worker)
    VALUES ('a', 'working', unixepoch() - 7200, 'w1'), ('b', 'in_progress', unixepoch() - 7200, 'w1'),
        ('c', 'in_progress', unixepoch() - 7200, 'w2');"#;

const MAPPING: &str = r#"
[mapping.background]
time = { default = "epoch s" }
[mapping.background.states]
waiting = ["new"]
in_flight = ["working"]
ignored = ["in_progress"]
[mapping.background.claim]
table = "BackgroundTasks"
key = "taskId"
state = "Status"
claimed_at = "startedAt"
[mapping.background.owner]
id = "worker"
[mapping.background.action.requeue]
to = "new"
clear = ["worker", "startedAt"]
"#;

fn background(changed: (&str, &str)) -> Doctor {
    let doctor = Doctor::new();
    doctor.sql_in("b.db", TABLE);
    let config = format!("[target.bg]\ndb = \"b.db\"\npreset = \"background\"\n{MAPPING}");
    assert!(config.contains(changed.0));
    std::fs::write(doctor.path("c.toml"), config.replace(changed.0, changed.1)).unwrap();
    doctor
}

#[test]
fn tables_that_look_like_a_queue_are_named_with_what_to_do() {
    let doctor = Doctor::new();
    doctor.sql_in("b.db", TABLE);
    // A virtual table whose module is not here must not hide the others.
    doctor.sql_in(
        "b.db",
        "PRAGMA writable_schema = 1; INSERT INTO sqlite_schema VALUES
        ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING not_here(state, retries)')",
    );
    let said = fails(&doctor, &["stale", "--db", "b.db"], 78).stderr;
    let tables = "Tables that look like a queue: BackgroundTasks (Status, startedAt, retries, worker)\n";
    assert!(said.contains(tables), "{said}");
    assert!(said.contains("hint: draft its mapping: jobdoctor adopt BackgroundTasks --db b.db\n"), "{said}");
    assert!(
        said.contains("hint: ") && said.contains("--preset") && said.contains("`jobdoctor help mapping`"),
        "{said}"
    );
    let json = doctor.run(&["check", "--db", "b.db", "--json"]).exits(78).json();
    assert!(json["findings"][0]["fix"].as_str().unwrap().contains("`jobdoctor help mapping`"), "{json}");
}

#[test]
fn a_table_that_fits_no_preset_is_told_from_the_nearest_in_a_few_words() {
    let doctor = Doctor::new();
    doctor.sql_in("b.db", TABLE);
    let said = fails(&doctor, &["stale", "--db", "b.db", "--table", "BackgroundTasks"], 78).stderr;
    let first = said.lines().next().unwrap();
    let differs = "preset django-q is the nearest (checked against 1.11.1), but table BackgroundTasks has no column key, payload (and 1 \
                   more)";
    assert!(first.contains(differs) && first.len() < 300, "{first}");
    assert!(said.contains("`jobdoctor help mapping`") && !said.contains("look like a queue"), "{said}");
}

#[test]
fn an_error_about_a_built_in_preset_says_how_to_see_its_text() {
    let doctor = Doctor::new();
    doctor.sql_in("b.db", "CREATE TABLE t (id INTEGER PRIMARY KEY, status TEXT)");
    let said = fails(&doctor, &["stale", "--db", "b.db", "--table", "t", "--preset", "lease"], 78).stderr;
    assert!(said.contains("preset lease, line ") && said.contains("`jobdoctor presets show lease`"), "{said}");
}

#[test]
fn the_line_that_a_mapping_without_liveness_lacks_can_be_added() {
    let line = r#"liveness = [{ by = "age", column = "startedAt", silent_after = "30m" }]"#;
    let doctor = background(("", ""));
    let arguments = ["stale", "--config", "c.toml"];
    let found = doctor.run(&[&arguments[..], &["--json"]].concat()).exits(0).document("stale");
    let warning = format!(
        "mapping background declares no liveness, so that nothing tells a dead worker's job from a slow one; add to \
         [mapping.background.claim]: {line}"
    );
    assert!(found["warnings"][0].as_str().unwrap().contains(&warning), "{found}");
    assert!(found["unknown"][0]["reasons"][0]["detail"].as_str().unwrap().contains(line), "{found}");
    assert!(doctor.run(&[&arguments[..], &["-v"]].concat()).exits(0).stderr.contains(&warning));
    let checked = doctor.run(&["check", "--config", "c.toml", "--json"]).exits(0).json();
    let fix = format!("add to [mapping.background.claim]: {line}");
    assert!(checked["findings"].as_array().unwrap().iter().any(|finding| finding["fix"] == fix.as_str()), "{checked}");
    let added = format!("claimed_at = \"startedAt\"\n{line}");
    let doctor = background(("claimed_at = \"startedAt\"", &added));
    assert_eq!(doctor.run(&[&arguments[..], &["-o", "name"]].concat()).exits(0).stdout, "a\n");
}

#[test]
fn rows_in_states_that_a_mapping_does_not_name_are_counted_out_loud() {
    let doctor = background((
        "in_flight = [\"working\"]\nignored = [\"in_progress\"]",
        "in_flight = [\"wrking\"]\ndone = [\"working\"]",
    ));
    let warning = "nothing is in flight, but 2 rows of main.BackgroundTasks are in states that background does not declare: \
                   in_progress; name each of them in [mapping.background.states]";
    for command in ["stale", "reclaim", "sweep"] {
        let ran = doctor.run(&[command, "--config", "c.toml", "--older", "1h"]).exits(0);
        assert_eq!(ran.stderr.matches(warning).count(), 1, "{command}: {}", ran.whole());
        let ran = doctor.run(&[command, "--config", "c.toml", "--older", "1h", "--json"]).exits(0);
        assert!(ran.json()["warnings"][0].as_str().unwrap().contains(warning), "{command}: {}", ran.whole());
    }
    doctor
        .run(&["check", "--config", "c.toml"])
        .exits(78)
        .says("2 rows of main.BackgroundTasks are in states that background does not declare: in_progress");
}

#[test]
fn a_filter_without_a_match_names_what_is_in_flight() {
    for (filter, warning) in [
        (
            ["--queue", "mial"],
            "--queue mial matches no job in flight, did you mean `mail`? queues in flight: mail, media, reports",
        ),
        (
            ["--kind", "Sand*"],
            "--kind Sand* matches no job in flight; kinds in flight: MonthlyReport, ResizeVideo, Send",
        ),
        (
            ["--owner", "web9:*"],
            "--owner web9:* matches no job in flight; owners in flight: media1:2207, web10:7, web1:4211, web1:4212, web2:911 (1 more)",
        ),
        (["--host", "WEB2"], "--host WEB2 matches no job in flight; hosts in flight: media1, web1, web10, web2"),
    ] {
        let doctor = incident();
        for command in ["stale", "owners", "reclaim", "sweep"] {
            let arguments = [&[command, "--db", "queue.db"], &filter[..]].concat();
            let found = doctor.run(&[&arguments[..], &["--json"]].concat()).exits(0).json();
            is_valid(command, &found);
            assert!(found["warnings"][0].as_str().unwrap().contains(warning), "{command}: {found}");
            let ran = doctor.run(&[&arguments[..], &["-v"]].concat()).exits(0);
            assert_eq!(ran.stderr.matches(warning).count(), 1, "{command}: {}", ran.whole());
            // A sweep that nobody watches mails nothing of it.
            let applies: &[&str] = if ["reclaim", "sweep"].contains(&command) { &["--apply"] } else { &[] };
            let ran = doctor.run(&[&arguments[..], applies].concat());
            assert_eq!(ran.stderr.matches(warning).count(), usize::from(command != "sweep"), "{}", ran.whole());
        }
        doctor.sql("DELETE FROM jobs WHERE owner_id IS NOT 'web1:4211'");
        for (more, code) in [(filter, 1), (["--owner", "web1:4211"], 0)] {
            doctor.on_queue(&[&["stale", "--exit-code"], &more[..]].concat()).exits(code);
        }
    }
    // One that matches a healthy job alone is no mistake.
    let found = incident().on_queue(&["stale", "--host", "web1", "--kind", "SendInvoice", "--json"]).exits(0);
    assert_eq!(found.json()["warnings"], serde_json::json!([]));
}
