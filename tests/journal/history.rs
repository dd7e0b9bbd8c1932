//! `history`: the runs, and one of them.

use super::queue::{on_both, on_sqlite};
use crate::support::cli::{Doctor, fails};
use insta::assert_snapshot;

#[test]
fn of_nothing() {
    let doctor = Doctor::new();
    assert_eq!(doctor.run(&["history"]).exits(0).stdout, "");
    let document = doctor.run(&["history", "--json"]).exits(0).json();
    assert_eq!((&document["summary"]["runs"], &document["ledger"]), (&0.into(), &serde_json::Value::Null));
}

#[test]
fn newest_first_and_no_more_than_asked_for() {
    on_both(|queue| {
        let runs: Vec<String> = (0..3).map(|_| queue.applied(&["reclaim", "--limit", "1"])).collect();
        let newest: Vec<&String> = runs.iter().rev().collect();
        let listed = queue.doctor.run(&["history", "-o", "name"]).exits(0).stdout;
        assert_eq!(listed.lines().collect::<Vec<_>>(), newest);
        let limited = queue.doctor.run(&["history", "--limit", "2", "--json"]).exits(0).json();
        assert_eq!(
            limited["summary"],
            serde_json::json!({ "runs": 3, "returned": 2, "truncated": true, "other_databases": 0 })
        );
        assert_eq!(limited["runs"][0]["run_id"], **newest[0]);
        for format in ["table", "wide", "json", "jsonl", "csv", "name", "none"] {
            queue.doctor.run(&["history", "-o", format]).exits(0);
            queue.doctor.run(&["history", newest[0], "-o", format]).exits(0);
            queue.run(&["undo", newest[0], "-o", format]).exits(0);
        }
    });
}

/// What no record knows has no id that one could ask for.
#[test]
fn a_run_that_moved_nothing_has_no_id() {
    on_both(|queue| {
        let run = queue.reclaimed();
        for words in [&["reclaim", "--apply"][..], &["sweep", "--apply"]] {
            let document = queue.json(words, 0);
            assert_eq!((&document["applied"], &document["run_id"]), (&true.into(), &serde_json::Value::Null));
        }
        queue.json(&["undo", &run, "--apply"], 0);
        let again = queue.json(&["undo", &run, "--apply"], 3);
        assert_eq!((&again["summary"]["outcomes"]["moved"], &again["run_id"]), (&0.into(), &serde_json::Value::Null));
    });
}

/// Ids, times, hosts and directories differ; what remains is what people read.
fn plain(text: &str, run: &str) -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let text = text.replace(run, "<run>").replace(&format!("@{host}"), "@<host>");
    let words = text.split_inclusive(char::is_whitespace).map(|word| match word.trim_end() {
        time if time.len() > 18 && time.ends_with('Z') && time.as_bytes()[10] == b'T' => word.replace(time, "<time>"),
        digest if digest.len() == 16 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            word.replace(digest, "<digest>")
        }
        path if path.contains("/journal") => word.replace(path, "<journals>"),
        _ => word.to_owned(),
    });
    words.collect()
}

#[test]
fn as_people_see_it() {
    let queue = on_sqlite();
    queue.sql("UPDATE jobs SET owner_id = 'web2:2' WHERE id = 3");
    let applied = queue.json(&["reclaim", "--apply", "--reason", "INC-42: power"], 0);
    let run = applied["run_id"].as_str().unwrap();
    queue.sql("UPDATE jobs SET status = 'SUCCEEDED' WHERE id = 1; DELETE FROM jobs WHERE id = 2");
    let listed = queue.json(&["history"], 0);
    let user = listed["runs"][0]["actor"]["user"].as_str().unwrap();
    let said = |arguments: &[&str]| {
        let ran = queue.doctor.run(arguments).exits(0);
        // The user's name differs too.
        let said = format!("{}{}", ran.stdout, ran.stderr);
        plain(&said, run).replace(&format!("{user}@"), "<user>@")
    };
    // The columns are as wide as this host's name.
    let listed = said(&["history", "--db", "queue.db", "-o", "wide"]);
    let listed: Vec<String> =
        listed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_snapshot!("history", listed.join("\n"));
    assert_snapshot!("history_one", said(&["history", run]));
    assert_snapshot!("undo_planned", said(&["undo", run, "--db", "queue.db"]));
    let ran = queue.run(&["undo", run, "--apply"]).exits(3);
    assert_snapshot!("undo_applied", plain(&format!("{}{}", ran.stdout, ran.stderr), run));
}

#[test]
fn a_run_by_the_beginning_of_its_id() {
    let queue = on_sqlite();
    let first = queue.applied(&["reclaim", "--limit", "1"]);
    assert_eq!(queue.json(&["history", "2"], 0)["run"]["run_id"], *first);
    assert_eq!(queue.json(&["undo", &first[..8]], 0)["undoes"]["run_id"], *first);
    queue.json(&["reclaim", "--apply", "--limit", "1"], 0);
    fails(&queue.doctor, &["history", "2"], 2).says(&first);
    fails(&queue.doctor, &["undo", "2", "--db", "queue.db"], 2).says("several runs");
    for unknown in ["20200101000000-abcdef", "../../etc/passwd", "x"] {
        for arguments in [&["history", unknown][..], &["undo", unknown, "--db", "queue.db"]] {
            fails(&queue.doctor, arguments, 66).says("there is no run");
        }
    }
}

/// A database that nobody named on the command line and that cannot be checked does not hide the journal.
#[test]
fn a_database_that_is_away() {
    let queue = on_sqlite();
    queue.reclaimed();
    let ran = queue.doctor.command(&["history", "--json"]).env("JOBDOCTOR_DB", "gone.db").output().unwrap();
    let document: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(document["summary"]["runs"], 1);
    assert!(String::from_utf8_lossy(&ran.stderr).contains("only the journal counts"));
    fails(&queue.doctor, &["history", "--db", "gone.db"], 66);
}

#[test]
fn hostile_text_is_inert() {
    let queue = on_sqlite();
    queue.sql("UPDATE jobs SET owner_id = 'x' || char(27) || '[2J', kind = 'a' || char(10) || 'b'");
    let run = queue.reclaimed();
    for arguments in [&["history"][..], &["history", &run], &["undo", &run, "--db", "queue.db"]] {
        let ran = queue.doctor.run(arguments).exits(0);
        assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{ran:#?}");
    }
    assert!(queue.doctor.run(&["history", &run]).stdout.contains("x\\x1b[2J"));
}
