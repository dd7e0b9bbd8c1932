//! Runs on several databases: the list of one, and an undo that finds its own.

use super::queue::{on_both, on_sqlite};
use crate::support::cli::{Ran, each, fails};
use crate::support::shop::Shop;
use serde_json::Value;
use std::fs;

fn run_elsewhere(queue: &Shop) -> String {
    queue.doctor.run(&["init", "--db", "other.db"]).exits(0);
    queue.doctor.sql_in(
        "other.db",
        "INSERT INTO jobs (id, queue, kind, status, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at)
        VALUES (1, 'mail', 'Send', 'RUNNING', 'web1:1', 'a', 1577836800, 1577836800, 1577836800)",
    );
    let document = queue.doctor.run(&["reclaim", "--db", "other.db", "--apply", "--json"]).exits(0).json();
    document["run_id"].as_str().unwrap().to_owned()
}

#[test]
fn history_of_one_database() {
    on_both(|queue| {
        let here = queue.reclaimed();
        let elsewhere = run_elsewhere(queue);
        let one = queue.json(&["history"], 0);
        assert_eq!(each(&one, "runs", "run_id"), [here.as_str()]);
        assert_eq!((&one["summary"]["runs"], &one["summary"]["other_databases"]), (&1.into(), &1.into()));
        let said = queue.run(&["history"]).exits(0);
        said.says("1 run on other databases left out; --all lists them");
        assert!(!said.stdout.contains("DATABASE"), "{said:#?}");
        let mut both = [elsewhere.as_str(), here.as_str()];
        both.sort_unstable();
        let all = |document: &Value| {
            let mut all = each(document, "runs", "run_id");
            all.sort_unstable();
            assert_eq!((all.as_slice(), &document["summary"]["other_databases"]), (&both[..], &0.into()));
        };
        all(&queue.json(&["history", "--all"], 0));
        all(&queue.doctor.run(&["history", "--json"]).exits(0).json());
        let said = queue.doctor.run(&["history"]).exits(0);
        assert!(said.stdout.lines().next().unwrap().contains("DATABASE"), "{said:#?}");
        assert!(!said.stderr.contains("databases left out"), "{said:#?}");
    });
}

#[test]
fn a_file_by_another_name() {
    let queue = on_sqlite();
    let run = queue.reclaimed();
    std::os::unix::fs::symlink(queue.doctor.path("queue.db"), queue.doctor.path("link.db")).unwrap();
    let document = queue.doctor.run(&["history", "--db", "link.db", "--json"]).exits(0).json();
    assert_eq!(each(&document, "runs", "run_id"), [run.as_str()]);
}

#[test]
fn undo_finds_the_database_of_the_run() {
    on_both(|queue| {
        let before = queue.dump("jobs");
        let run = queue.reclaimed();
        run_elsewhere(queue);
        // A database that is at hand, and is another one, does not keep it from that.
        let mut command = queue.doctor.command(&["undo", &run, "--json"]);
        let planned = Ran::of(command.env("JOBDOCTOR_DB", "other.db").output().unwrap()).exits(0);
        assert_eq!(planned.json()["summary"]["planned"], 4, "{planned:#?}");
        queue.doctor.run(&["undo", &run, "--apply"]).exits(0).says(&format!("run {run} was on "));
        assert_eq!(queue.dump("jobs"), before);
        // One that is named decides, and is refused where it is another one.
        fails(&queue.doctor, &["undo", &run, "--db", "other.db"], 78).says("it was made on ");
    });
}

#[test]
fn undo_finds_the_target_of_the_run() {
    on_both(|queue| {
        let targets = format!("[target.app]\ndb = \"{}\"\n[target.other]\ndb = \"other.db\"\n", queue.url);
        fs::write(queue.doctor.path("c.toml"), &targets).unwrap();
        let words = ["reclaim", "--target", "app", "--config", "c.toml", "--apply", "--json"];
        let document = queue.doctor.run(&words).exits(0).json();
        let run = document["run_id"].as_str().unwrap();
        run_elsewhere(queue);
        // The target's settings count, which an address alone would not bring.
        fs::write(queue.doctor.path("c.toml"), targets.replacen("\n[", "\nread_only = true\n[", 1)).unwrap();
        queue.doctor.run(&["undo", run, "--config", "c.toml", "--apply"]).exits(4).says("target app is read-only");
    });
}

/// The journal keeps no sslmode, so whoever sits between could answer: the operator names the server.
#[test]
fn undo_does_not_connect_over_a_network_by_itself() {
    let queue = on_sqlite();
    let run = queue.reclaimed();
    let journal = fs::read_to_string(queue.journal(&run)).unwrap();
    let (head, rest) = journal.split_once('\n').unwrap();
    let mut head: Value = serde_json::from_str(head).unwrap();
    head["target"]["engine"] = "postgres".into();
    head["target"]["database"] = "app@db.internal:6432/app".into();
    fs::write(queue.journal(&run), format!("{head}\n{rest}")).unwrap();
    let ran = fails(&queue.doctor, &["undo", &run], 2);
    let next = format!("jobdoctor undo {run} --db 'host=db.internal port=6432 user=app dbname=app'");
    ran.says(&next);
}

/// A backup of the morning has taken the file's place: what was done to the other one was not done to it.
#[test]
fn a_file_that_another_one_has_replaced() {
    let queue = on_sqlite();
    let (file, backup) = (queue.doctor.path("queue.db"), queue.doctor.path("backup.db"));
    fs::copy(&file, &backup).unwrap();
    let run = queue.reclaimed();
    let id = queue.json(&["history", &run], 0)["steps"][0]["id"].as_str().unwrap().to_owned();
    let last_run = || queue.json(&["status"], 0)["summary"]["last_run"].clone();
    let moved_by = || queue.json(&["show", &id], 0)["jobs"][0]["moved_by"].clone();
    assert!(!last_run().is_null() && !moved_by().is_null());
    fs::rename(&backup, &file).unwrap();
    assert!(last_run().is_null() && moved_by().is_null(), "{} {}", last_run(), moved_by());
    let listed = queue.json(&["history"], 0);
    assert_eq!(listed["runs"][0]["of_earlier_file"], true, "{listed:#}");
    queue.run(&["history"]).exits(0).shows("of an earlier file");
    queue.run(&["undo", "last"]).says("no run of");
    // By its name it stays possible, as far as rows are what the run left.
    queue.run(&["undo", &run]).says("was on an earlier file: another one lies at");
}
