use super::fleet::{mixed, two};
use crate::support::cli::{each, is_valid};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

/// Where each line of a text is that begins so.
fn at(text: &str, line: &str) -> usize {
    text.find(&format!("{line}\n")).unwrap_or_else(|| panic!("no line `{line}` in\n{text}"))
}

#[test]
fn a_section_each_and_one_summary_though_two_of_four_fail() {
    let fleet = mixed();
    let ran = fleet.all(&["stale"]).exits(69);
    // The two that fail stand first in the file.
    assert!(at(&ran.stdout, "target web") < at(&ran.stdout, "target app"), "{ran:#?}");
    assert!(ran.stdout.starts_with("target web\n") && ran.stdout.contains("\n\ntarget app\n"), "{ran:#?}");
    let said: Vec<&str> = ran.stderr.lines().map(|line| line.split(": ").next().unwrap()).collect();
    let mut order = said.clone();
    order.dedup();
    assert_eq!(order, ["staging", "old", "web", "app", "4 targets"], "{ran:#?}");
    for line in [
        "staging: error: ",
        "old: error: ",
        "web: 6 jobs stuck, 1 unknown, of 8 in flight",
        "web: to see what would be done: jobdoctor reclaim --target web",
        "app: 3 jobs stuck, of 3 in flight",
        "app: to see what would be done: jobdoctor reclaim --target app",
    ] {
        assert!(ran.stderr.lines().any(|said| said.starts_with(line)), "no `{line}` in {ran:#?}");
    }
    assert!(ran.stderr.ends_with("4 targets: 2 done, 1 misconfigured (old), 1 unreachable (staging)\n"), "{ran:#?}");
}

/// What each target says is what it says alone.
#[test]
fn a_section_is_the_report_of_the_target_alone() {
    let fleet = two();
    fleet.lost_long_ago();
    for command in ["stale", "owners", "stats"] {
        let alone = |target| fleet.doctor.run(&[command, "--target", target, "--json"]).exits(0).json();
        let document = fleet.all(&[command, "--json"]).exits(0).document("targets");
        assert_eq!(document["command"], command);
        assert_eq!(each(&document, "targets", "target"), ["web", "app"]);
        for entry in document["targets"].as_array().unwrap() {
            is_valid(command, &entry["document"]);
            let mut alone = alone(entry["target"].as_str().unwrap());
            let mut among = entry["document"].clone();
            // Seconds have passed since.
            [&mut alone, &mut among].into_iter().for_each(without_time);
            assert_eq!(among, alone);
            assert_eq!((&entry["exit_code"], &entry["error"]), (&0.into(), &Value::Null));
        }
    }
}

/// Takes out all that passes with the clock: the times of the store, and words and numbers about ages.
fn without_time(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !(name.ends_with("_seconds") || name == "store_time" || name == "detail"));
            fields.values_mut().for_each(without_time);
        }
        Value::Array(items) => items.iter_mut().for_each(without_time),
        _ => {}
    }
}

#[test]
fn one_document_whatever_the_ends() {
    let fleet = mixed();
    let ran = fleet.all(&["stale", "-o", "json"]).exits(69);
    let document = ran.document("targets");
    assert_eq!(each(&document, "targets", "target"), ["staging", "old", "web", "app"]);
    let targets = document["targets"].as_array().unwrap();
    let codes: Vec<_> = targets.iter().map(|target| target["exit_code"].as_u64().unwrap()).collect();
    assert_eq!(codes, [69, 78, 0, 0]);
    for target in &targets[..2] {
        assert_eq!(target["document"], Value::Null);
        is_valid("error", &target["error"]);
        assert_eq!(target["error"]["code"], target["exit_code"]);
    }
    let stuck = targets[2..].iter().map(|target| &target["document"]["summary"]["stuck"]);
    assert_eq!(stuck.collect::<Vec<_>>(), [6, 3]);
    let summary = &document["summary"];
    assert_eq!((&summary["targets"], &summary["exit_code"]), (&4.into(), &69.into()));
    assert_eq!(each(summary, "ends", "kind"), ["done", "config", "unavailable"]);
    assert_eq!(ran.stderr, "", "what went wrong is in the document");
}

#[test]
fn each_line_names_its_target() {
    let ran = mixed().all(&["stale", "-o", "jsonl"]).exits(69);
    let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).collect::<Vec<_>>();
    assert_eq!((&lines[0]["type"], &lines[0]["schema"]), (&"head".into(), &"jobdoctor.targets/v1".into()));
    assert_eq!(lines.last().unwrap()["type"], "summary");
    let ends: Vec<_> = of("target").iter().map(|line| (line["target"].as_str().unwrap(), &line["exit_code"])).collect();
    assert_eq!(ends, [("staging", &69.into()), ("old", &78.into()), ("web", &0.into()), ("app", &0.into())]);
    let jobs = of("line").into_iter().filter(|line| line["line"]["type"] == "job");
    let targets: Vec<_> = jobs.map(|line| line["target"].as_str().unwrap()).collect();
    assert_eq!(targets, ["web", "web", "web", "web", "web", "web", "app", "app", "app"]);
}

/// The situation of each target with its causes, and of a target that cannot be asked its error.
#[test]
fn the_causes_of_each_target() {
    let fleet = mixed();
    let ran = fleet.all(&["status"]).exits(69);
    let (web, app) = ran.stdout.split_once("\n\ntarget app\n").expect("a section each");
    assert!(web.starts_with("target web\nqueue:      web: sqlite queue.db,"), "{ran:#?}");
    for (target, page) in [("web", web), ("app", app)] {
        let alone = fleet.doctor.run(&["status", "--target", target, "--json"]).exits(0).json();
        let (summary, causes) = (&alone["summary"], alone["causes"].as_array().unwrap());
        let stuck = format!("{} jobs: {} stuck, ", summary["in_flight"], summary["stuck"]);
        assert!(page.contains(&stuck), "no `{stuck}` in {page}");
        let (_, rows) = page.split_once("\nJOBS  ").expect("a table of causes");
        assert_eq!(rows.lines().count() - 1, causes.len(), "{page}");
        assert!(ran.stderr.contains(&format!("{target}: next: jobdoctor reclaim --target {target}\n")), "{ran:#?}");
    }
    ran.says("\nold: error: ").says("4 targets: 2 done, 1 misconfigured (old), 1 unreachable (staging)\n");
}

#[test]
fn some_by_name_in_the_order_of_the_file_each_once() {
    let fleet = mixed();
    let ran = fleet.doctor.run(&["stats", "--target", "app", "--target", "web", "--target", "app", "--json"]).exits(0);
    assert_eq!(each(&ran.json(), "targets", "target"), ["web", "app"]);
    // One is one: its own document, as ever.
    is_valid("stats", &fleet.doctor.run(&["stats", "--target", "app", "--json"]).exits(0).json());
}

#[test]
fn found_is_worse_than_done_and_better_than_unreachable() {
    let fleet = two();
    fleet.doctor.sql("DELETE FROM jobs WHERE id NOT IN (6, 9, 10)");
    let ran = fleet.all(&["stale", "--exit-code"]).exits(1);
    assert!(ran.stderr.ends_with("2 targets: 1 done, 1 with findings (app)\n"), "{ran:#?}");
    fleet.configure(&format!("{}[target.away]\ndb = \"postgres://ops@127.0.0.1:1/app\"\n", fleet.both()));
    fleet.all(&["stale", "--exit-code"]).exits(69);
}

#[test]
fn a_password_shows_nowhere() {
    let fleet = two();
    fleet.configure("[target.a]\ndb = \"postgres://ops:hunter2@127.0.0.1:1/app\"\n[target.b]\ndb = \"host=127.0.0.1 port=1 password=hunter2\"\n");
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(fleet.doctor.home(".config/jobdoctor/config.toml"), private).unwrap();
    for format in ["table", "json", "jsonl", "none"] {
        let ran = fleet.all(&["stale", "-o", format, "-v"].map(|word| word)).exits(69);
        assert!(!format!("{ran:?}").contains("hunter2"), "{ran:#?}");
    }
}

#[test]
fn a_target_of_any_name_is_inert() {
    let fleet = two();
    fleet.configure("[target.\"a\\u001b[2Jb\"]\ndb = \"queue.db\"\n[target.c]\ndb = \"gone.db\"\n");
    let ran = fleet.all(&["stale"]).exits(66);
    assert!(!ran.stdout.contains('\x1b') && !ran.stderr.contains('\x1b'), "{ran:#?}");
    is_valid("targets", &fleet.all(&["stale", "--json"]).exits(66).json());
}
