//! Flag before threshold before target before preset; and what is said of entries that cannot be meant.

use super::place::on_empty;
use crate::support::cli::{Doctor, fails, is_valid};
use crate::support::shop::{Shop, on_both};
use insta::assert_snapshot;
use serde_json::json;

fn names(place: &Shop, more: &[&str]) -> String {
    let listed = place.on_target(&[&["stale", "-o", "name"], more].concat()).exits(0).stdout;
    let mut ids: Vec<&str> = listed.lines().collect();
    ids.sort_unstable();
    ids.join(" ")
}

/// 1 media ResizeVideo, 2 media Other, 3 mail SendInvoice: all claimed 20 minutes ago; 4 mail claimed 2 h ago.
fn claims(place: &Shop) {
    place.claim("media", "ResizeVideo", 1200);
    place.claim("media", "Other", 1200);
    place.claim("mail", "SendInvoice", 1200);
    place.claim("mail", "SendInvoice", 7200);
}

#[test]
fn flag_then_threshold_then_target_then_preset() {
    on_both(|place| {
        claims(place);
        place.config("");
        assert_eq!(names(place, &[]), "4", "the preset allows an hour");
        place.config("older = \"10m\"");
        assert_eq!(names(place, &[]), "1 2 3 4", "the target ten minutes");
        place.config("older = \"10m\"\n[[target.shop.threshold]]\nkind = \"Resize*\"\nolder = \"30m\"");
        assert_eq!(names(place, &[]), "2 3 4", "a threshold half an hour to one kind");
        assert_eq!(names(place, &["--older", "1m"]), "1 2 3 4", "a flag counts for all");
        assert_eq!(names(place, &["--older", "3h"]), "");
        // One that is shorter than what holds for the others finds claims that the pre-filter of the others would leave out.
        place.config("[[target.shop.threshold]]\nqueue = \"media\"\nolder = \"10m\"");
        assert_eq!(names(place, &[]), "1 2 4");
        place.config(
            "older = \"3h\"\n[[target.shop.threshold]]\nqueue = \"m{edia,ovie}\"\nkind = \"O*\"\nolder = \"10m\"",
        );
        assert_eq!(names(place, &[]), "2");
        // Of two that match the first counts; one without the value is passed over.
        place.config(
            "[[target.shop.threshold]]\nqueue = \"media\"\nmax_runtime = \"5h\"\n\
             [[target.shop.threshold]]\nkind = \"ResizeVideo\"\nolder = \"10m\"\n\
             [[target.shop.threshold]]\nqueue = \"media\"\nolder = \"2h\"",
        );
        assert_eq!(names(place, &[]), "1 4");
    });
}

#[test]
fn every_command_that_judges_takes_them() {
    on_both(|place| {
        claims(place);
        place.config("[[target.shop.threshold]]\nqueue = \"media\"\nolder = \"10m\"");
        let owners = place.on_target(&["owners", "--json"]).exits(0).json();
        assert_eq!(owners["summary"]["stuck"], 3);
        let stats = place.on_target(&["stats", "--json"]).exits(0).json();
        assert_eq!(stats["summary"]["stuck"], 3);
        for command in ["reclaim", "sweep"] {
            let planned = place.on_target(&[command, "--json"]).exits(0).json();
            is_valid(command, &planned);
            assert_eq!(planned["summary"]["planned"], 3, "{command}");
        }
        let moved = place.on_target(&["sweep", "--apply", "--json"]).exits(0).json();
        assert_eq!(moved["summary"]["outcomes"]["moved"], 3);
    });
}

#[test]
fn show_and_the_documents_say_which_one_counted() {
    on_both(|place| {
        claims(place);
        place.config(
            "older = \"10m\"\nmax_runtime = \"15m\"\n[[target.shop.threshold]]\nkind = \"None\"\nolder = \"1m\"\n\
             [[target.shop.threshold]]\nkind = \"Resize*\"\nolder = \"2h\"\nmax_runtime = \"3h\"",
        );
        let checks = |id: &str, more: &[&str]| {
            let shown = place.on_target(&[&["show", id, "--json"], more].concat()).exits(0).json();
            let checks = shown["jobs"][0]["checks"].as_array().unwrap().clone();
            let of = |rule: &str| {
                let check = checks.iter().find(|check| check["rule"] == rule).unwrap();
                check["detail"].as_str().unwrap().to_owned()
            };
            (of("age"), of("max_runtime"))
        };
        let (age, run) = checks("1", &[]);
        assert!(age.ends_with("allowed 2h (threshold 2 of target shop)"), "{age}");
        assert!(run.ends_with("allowed 3h (threshold 2 of target shop)"), "{run}");
        let (age, run) = checks("2", &[]);
        assert!(age.ends_with("allowed 10m (older of target shop)"), "{age}");
        assert!(run.ends_with("allowed 15m (max_runtime of target shop)"), "{run}");
        let (age, run) = checks("1", &["--older", "5m"]);
        assert!(age.ends_with("allowed 5m"), "{age}");
        assert!(run.ends_with("allowed 3h (threshold 2 of target shop)"), "a flag says nothing of run times: {run}");

        let found = place.on_target(&["stale", "--json"]).exits(0).document("stale");
        let null = serde_json::Value::Null;
        assert_eq!(
            found["filter"]["thresholds"],
            json!([
                {"number": 1, "queue": null, "kind": "None", "older_seconds": 60.0, "max_runtime_seconds": null},
                {"number": 2, "queue": null, "kind": "Resize*", "older_seconds": 7200.0, "max_runtime_seconds": 10800.0},
            ])
        );
        assert_eq!(
            (&found["filter"]["older_seconds"], &found["filter"]["max_runtime_seconds"]),
            (&600.0.into(), &900.0.into())
        );
        let found = place.on_target(&["stale", "--older", "5m", "--json"]).exits(0).json();
        let left = &found["filter"]["thresholds"];
        assert_eq!(
            left,
            &json!([{"number": 2, "queue": null, "kind": "Resize*", "older_seconds": null, "max_runtime_seconds": 10800.0}])
        );
        let swept = place.on_target(&["sweep", "--restart", "--all-owners", "--json"]).exits(0).json();
        assert_eq!((&swept["filter"]["thresholds"], &swept["filter"]["max_runtime_seconds"]), (&json!([]), &null));
    });
}

#[test]
fn a_maximum_run_time_is_trouble_and_counts_where_the_row_says_nothing() {
    on_both(|place| {
        // Their lease runs, so nothing proves death.
        place.sql(
            "INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at, lease_expires_at, max_runtime_seconds) VALUES
                (1, 'media', 'ResizeVideo', 'RUNNING', 'web1:1', {ago 7200}, {ago -3600}, NULL),
                (2, 'media', 'ResizeVideo', 'RUNNING', 'web1:1', {ago 7200}, {ago -3600}, 86400),
                (3, 'mail', 'SendInvoice', 'RUNNING', 'web1:1', {ago 7200}, {ago -3600}, NULL),
                (4, 'mail', 'SendInvoice', 'RUNNING', 'web1:1', {ago 7200}, {ago -3600}, 60);",
        );
        place.config("");
        assert_eq!(names(place, &[]), "4");
        place.config("[[target.shop.threshold]]\nqueue = \"media\"\nmax_runtime = \"1h\"");
        assert_eq!(names(place, &[]), "1 4");
        place.config("max_runtime = \"90m\"\n[[target.shop.threshold]]\nqueue = \"media\"\nmax_runtime = \"3h\"");
        assert_eq!(names(place, &[]), "3 4");
        let planned = place.on_target(&["reclaim", "--json"]).exits(0).json();
        assert_eq!((&planned["summary"]["planned"], &planned["summary"]["skipped"]), (&0.into(), &2.into()));
        assert_eq!(planned["skipped"][0]["reason"], "owner_alive");
        let planned = place.on_target(&["reclaim", "--rule", "max_runtime", "--json"]).exits(0).json();
        assert_eq!(planned["summary"]["planned"], 2);
        let warnings = planned["warnings"].to_string();
        assert!(warnings.contains("may still be running"), "{warnings}");
    });
}

#[test]
fn a_threshold_below_the_librarys_own_is_said_by_its_name() {
    on_both(|place| {
        claims(place);
        place.config("older = \"30m\"\n[[target.shop.threshold]]\nqueue = \"media\"\nolder = \"10m\"");
        let planned = place.on_target(&["reclaim", "--json"]).exits(0).json();
        let warnings: Vec<&str> = planned["warnings"].as_array().unwrap().iter().filter_map(|w| w.as_str()).collect();
        assert!(warnings.contains(&"older 30m of target shop is shorter than the 1h of preset lease"), "{warnings:#?}");
        let entry = "older 10m of threshold 1 of target shop is shorter than the 1h of preset lease";
        assert!(warnings.contains(&entry), "{warnings:#?}");
        let planned = place.on_target(&["reclaim", "--older", "5m", "--json"]).exits(0).json();
        assert!(planned["warnings"].to_string().contains("--older 5m is shorter than the 1h of preset lease"));
    });
}

/// What is wrong with a config file of these lines.
fn complaint(lines: &str) -> String {
    let doctor = Doctor::new();
    std::fs::write(doctor.path("config.toml"), format!("[target.shop]\ndb = \"q.db\"\n{lines}\n")).unwrap();
    fails(&doctor, &["stale", "--config", "config.toml"], 78).stderr
}

#[test]
fn entries_that_cannot_be_meant() {
    let entry = |lines: &str| complaint(&format!("[[target.shop.threshold]]\n{lines}"));
    let said = [
        entry("older = \"5m\""),
        entry("queue = \"mail\""),
        entry("queue = \"ma[il\"\nolder = \"5m\""),
        entry("queues = \"mail\"\nolder = \"5m\""),
        entry("kind = \"A\"\nolder = \"0s\""),
        entry("kind = \"A\"\nmax_runtime = \"11y\""),
        entry("kind = \"\"\nolder = \"5m\""),
        entry("kind = [\"A\"]\nolder = \"5m\""),
        complaint("threshold = \"5m\""),
        complaint("thresholds = []"),
        complaint("max_run_time = \"5m\""),
        complaint("max_runtime = 300"),
    ];
    assert_snapshot!(said.concat());
}

#[test]
fn entries_that_could_never_count_here() {
    on_empty(|place| {
        place.sql("CREATE TABLE work (id INTEGER PRIMARY KEY, status TEXT, worker TEXT, seen {time})");
        let mapping = "[mapping.work]\ntime = { default = { sqlite = \"epoch s\", postgres = \"native\" } }\n\
            states = { waiting = [\"new\"], in_flight = [\"busy\"] }\n\
            claim = { table = \"work\", key = \"id\", state = \"status\", liveness = [{ by = \"heartbeat\", column = \"seen\", silent_after = \"5m\" }] }\n\
            action = { requeue = { to = \"new\" } }\n";
        for (lines, said) in [
            (
                "[[target.shop.threshold]]\nqueue = \"mail\"\nolder = \"5m\"",
                "threshold 1 of target shop: preset work has no queue column, so this would match no job\n",
            ),
            ("[[target.shop.threshold]]\nkind = \"A\"\nolder = \"5m\"", "has no kind column"),
            (
                "max_runtime = \"5m\"",
                "max_runtime of target shop: preset work does not say when a job was claimed, so its run time is unknown\n",
            ),
        ] {
            place.config(&format!("preset = \"work\"\n{lines}\n{mapping}"));
            fails(&place.doctor, &["stale", "--config", "config.toml"], 78).says(said);
            assert_eq!(place.on_target(&["reclaim", "--apply"]).exits(78).stdout, "");
        }
    });
}

/// A claim whose queue is not known is of no queue that a pattern could mean, not even `*`.
#[test]
fn a_claim_without_a_queue_falls_back_to_the_target() {
    on_empty(|place| {
        place.sql(
            "CREATE TABLE jobs (id INTEGER PRIMARY KEY, queue TEXT, kind TEXT, status TEXT, owner_id TEXT, claimed_at {time});
            INSERT INTO jobs VALUES (1, NULL, NULL, 'RUNNING', 'web1:1', {ago 1200}),
                (2, 'mail', NULL, 'RUNNING', 'web1:1', {ago 1200}),
                (3, '', 'A', 'RUNNING', 'web1:1', {ago 1200});",
        );
        place.config("preset = \"lease\"\n[[target.shop.threshold]]\nqueue = \"*\"\nolder = \"10m\"");
        assert_eq!(names(place, &[]), "2 3");
        place.config("preset = \"lease\"\nolder = \"10m\"\n[[target.shop.threshold]]\nkind = \"*\"\nolder = \"30m\"");
        assert_eq!(names(place, &[]), "1 2");
    });
}
