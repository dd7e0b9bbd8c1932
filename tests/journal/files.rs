//! The journal's files: whose they are, where they lie, and what stands in them.

use super::queue::{on_both, on_postgres, on_sqlite};
use crate::support::cli::{Ran, fails};
use serde_json::json;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[test]
fn they_are_their_users_alone() {
    let queue = on_sqlite();
    let run = queue.reclaimed();
    assert_eq!(mode(&queue.journal(&run)), 0o600);
    assert_eq!(mode(&queue.journals()), 0o700);
    assert_eq!(fs::read_dir(queue.journals()).unwrap().count(), 1, "one file a run");
}

#[test]
fn only_who_writes_makes_one() {
    on_both(|queue| {
        for arguments in [
            &["stale"][..],
            &["reclaim"],
            &["reclaim", "--apply", "--max-jobs", "1"],
            &["reclaim", "--apply", "--queue", "nobody"],
            &["sweep", "--apply", "--queue", "nobody"],
            &["check"],
            &["history"],
        ] {
            queue.run(arguments);
            assert!(!queue.journals().exists(), "{arguments:?}");
        }
    });
}

#[test]
fn what_stands_in_it() {
    on_both(|queue| {
        let run = queue.applied(&["reclaim", "--reason", "INC-42"]);
        let lines = queue.lines(&run);
        let kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
        assert_eq!(kinds.first(), Some(&"head"));
        assert_eq!(kinds.last(), Some(&"end"));
        // A batch has one kind of action: requeue, fail, cancel. Each intent comes ahead of its result.
        assert_eq!(kinds[1..7], ["intent", "result", "intent", "result", "intent", "result"]);
        let head = &lines[0];
        assert_eq!(head["schema"], "jobdoctor.journal/v3");
        assert_eq!(json!([head["run_id"], head["command"], head["reason"]]), json!([run, "reclaim", "INC-42"]));
        assert_eq!(head["target"]["engine"], queue.pick("sqlite", "postgres"));
        assert_eq!(head["target"]["key"], serde_json::json!(["id"]));
        assert!(head["host"].is_string() && head["actor"]["uid"].is_number() && head["digest"].is_string());
        let first = lines[1]["steps"].as_array().unwrap().iter().find(|step| step["id"] == "1").unwrap();
        let owner =
            first["row"]["values"].as_array().unwrap().iter().find(|value| value["column"] == "owner_id").unwrap();
        assert_eq!((&owner["before"], &owner["after"]), (&"web1:1".into(), &serde_json::Value::Null));
        assert_eq!(first["outcome"], "unknown", "nobody knows it ahead of the commit");
        // Only what the action assigns: never the payload.
        assert!(!fs::read_to_string(queue.journal(&run)).unwrap().contains("it's"), "a payload is in the journal");
    });
}

#[test]
fn where_they_lie() {
    let queue = on_sqlite();
    let path = |name: &str| queue.doctor.path(name).display().to_string();
    let (elsewhere, own) = (path("state"), path("own"));
    let usual = queue.journals().display().to_string();
    for (variables, expected) in [
        (vec![("XDG_STATE_HOME", &*elsewhere)], format!("{elsewhere}/jobdoctor/journal/")),
        // A relative one is ignored, as the specification of these directories has it; and ours beats both.
        (vec![("XDG_STATE_HOME", "state")], usual),
        (vec![("XDG_STATE_HOME", &elsewhere), ("JOBDOCTOR_STATE_DIR", &own)], format!("{own}/journal/")),
    ] {
        let mut command = queue.doctor.command(&["reclaim", "--apply", "--db", "queue.db", "--json", "--limit", "1"]);
        let journal = Ran::of(command.envs(variables).output().unwrap()).json()["journal"].clone();
        assert!(journal.as_str().is_some_and(|path| path.starts_with(&expected)), "{journal}");
    }
}

#[test]
fn links_are_not_followed() {
    let queue = on_sqlite();
    fs::create_dir_all(queue.journals().parent().unwrap()).unwrap();
    fs::create_dir(queue.doctor.path("trap")).unwrap();
    symlink(queue.doctor.path("trap"), queue.journals()).unwrap();
    queue.run(&["reclaim", "--apply"]).exits(0).says("is not recorded");
    assert_eq!(fs::read_dir(queue.doctor.path("trap")).unwrap().count(), 0);
    fs::remove_file(queue.journals()).unwrap();

    let queue = on_sqlite();
    let run = queue.reclaimed();
    fs::rename(queue.journal(&run), queue.doctor.path("elsewhere")).unwrap();
    symlink(queue.doctor.path("elsewhere"), queue.journal(&run)).unwrap();
    let before = queue.dump("jobs");
    fails(&queue.doctor, &["undo", &run, "--apply", "--db", "queue.db"], 78);
    assert_eq!(queue.dump("jobs"), before);
}

/// What others could have written is not believed, and what they could read is not written.
#[test]
fn what_is_open_to_others() {
    let queue = on_sqlite();
    let run = queue.reclaimed();
    let before = queue.dump("jobs");
    fs::set_permissions(queue.journal(&run), fs::Permissions::from_mode(0o666)).unwrap();
    fails(&queue.doctor, &["undo", &run, "--apply", "--db", "queue.db"], 78).says("0666");
    fs::set_permissions(queue.journal(&run), fs::Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(queue.journals(), fs::Permissions::from_mode(0o755)).unwrap();
    queue.run(&["history", &run]).exits(0);
    queue.run(&["undo", &run]).exits(0);
    let ran = queue.run(&["undo", &run, "--apply", "--json"]).exits(0);
    assert_eq!(ran.json()["journal"], serde_json::Value::Null);
    ran.says("0755");
    assert_ne!(queue.dump("jobs"), before);
    fs::set_permissions(queue.journals(), fs::Permissions::from_mode(0o777)).unwrap();
    fails(&queue.doctor, &["history", &run, "--db", "queue.db"], 78);
}

#[test]
fn what_belongs_to_somebody_else() {
    if rustix::process::geteuid().as_raw() != 0 {
        return;
    }
    let queue = on_sqlite();
    let run = queue.reclaimed();
    chown(queue.journal(&run), Some(12345), None).unwrap();
    fails(&queue.doctor, &["undo", &run, "--db", "queue.db"], 78).says("12345");
}

/// Only the last line may be torn; whatever else is wrong names file and line.
#[test]
fn what_nobody_wrote() {
    let queue = on_sqlite();
    let run = queue.reclaimed();
    let whole = fs::read_to_string(queue.journal(&run)).unwrap();
    let path = queue.journal(&run);
    let before = queue.dump("jobs");
    let alter = |text: &str, line: &str| {
        fs::write(&path, text).unwrap();
        for arguments in [&["undo", &run, "--apply", "--db", "queue.db"][..], &["history", &run]] {
            fails(&queue.doctor, arguments, 78).says(&format!("{run}.jsonl, line {line}"));
        }
        assert_eq!(queue.dump("jobs"), before);
    };
    let lines: Vec<&str> = whole.lines().collect();
    alter(&format!("{}\nnonsense\n{}\n", lines[0], lines[1]), "2");
    alter(&format!("{}\n{}\n", lines[1], lines[2]), "1");
    for fields in ["store_time", "other_time"] {
        let older = whole.replacen("jobdoctor.journal/v3", "jobdoctor.journal/v1", 1);
        alter(&older.replacen("store_time", fields, 1), "1: its format is jobdoctor.journal/v1");
    }
    alter(&format!("{whole}{}\n", lines[1]), &(lines.len() + 1).to_string());
    alter(&whole.replacen("\"key\":[1]", "\"key\":[{\"bytes\":\"zz\"}]", 1), "2");
    alter(&whole.replacen(&format!("{}\n", lines[1]), "", 1), "2: a result without its intent");
    alter(&whole.replacen("\"intended\":\"moved\",", "\"intended\":null,", 1), "3: the result has fewer steps");
    alter(&whole.replacen(",\"row\":{", ",\"other\":{", 1), "2");
    alter(&whole.replacen(&run, "20200101000000-abcdef", 1), "1");
    alter(&whole.replacen("\"action\":\"", "\"action\":\"x", 1), "2");
    // A line that was being written when the power went.
    let torn = &whole[..whole.len() - 20];
    fs::write(&path, torn).unwrap();
    let told = queue.json(&["history", &run], 0);
    let run_told = &told["run"];
    assert_eq!((&run_told["complete"], &run_told["moved_at_least"]), (&false.into(), &4.into()));
    assert!(run_told["moved"].is_null() && run_told["outcomes"].is_null(), "{run_told}");
    // A column that the action does not write is not written back, whatever the file says.
    fs::write(&path, whole.replace("\"owner_id\"", "\"payload\"")).unwrap();
    fails(&queue.doctor, &["undo", &run, "--apply", "--db", "queue.db"], 78).says("payload");
    assert_eq!(queue.dump("jobs"), before);
}

#[test]
fn no_secret_is_kept() {
    let queue = on_postgres();
    queue.run(&["init", "--ledger"]).exits(0);
    let url = format!("{} password=c4n4ry", queue.url);
    let document = queue.doctor.run(&["reclaim", "--apply", "--json", "--db", &url]).exits(0).json();
    let text = fs::read_to_string(queue.journal(document["run_id"].as_str().unwrap())).unwrap();
    assert!(!text.contains("c4n4ry") && !queue.dump("jobdoctor_ledger").concat().contains("c4n4ry"));
}
