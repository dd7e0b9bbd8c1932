//! How it ends, as a script sees it; and odd names and numbers on both engines.

use crate::support::cli::{Doctor, fails};
use crate::support::shop::on_both;
use serde_json::Value;

#[test]
fn every_end_has_its_exit_code() {
    on_both(|shop| {
        // Nothing stale.
        shop.run(&["stale"]).exits(0);
        shop.run(&["stale", "--exit-code"]).exits(0);
        shop.run(&["reclaim", "--apply"]).exits(0);
        shop.run(&["sweep", "--apply"]).exits(0);
        // Stale found.
        shop.in_flight(1, 3, "'web1:' || n", 600);
        shop.run(&["stale"]).exits(0);
        shop.run(&["stale", "--exit-code"]).exits(1);
        shop.run(&["reclaim"]).exits(0);
        // Refused by the cap; nothing is written.
        let before = shop.image();
        shop.run(&["reclaim", "--max-jobs", "2", "--apply"]).exits(4);
        assert_eq!(shop.image(), before);
        // A bad flag.
        fails(&shop.doctor, &shop.with_db(&["reclaim", "--aply"]), 2);
        assert_eq!(shop.image(), before);
        // Some skipped: the table lets one of a kind wait at a time.
        shop.sql("CREATE UNIQUE INDEX one ON jobs (kind) WHERE status = 'QUEUED'");
        let document = shop.run(&["reclaim", "--apply", "--json"]).exits(3).json();
        let outcomes = &document["summary"]["outcomes"];
        assert_eq!((&outcomes["moved"], &outcomes["refused"]), (&1.into(), &2.into()));
        // All applied.
        shop.sql("DROP INDEX one");
        shop.run(&["reclaim", "--apply"]).exits(0);
        shop.run(&["stale", "--exit-code"]).exits(0);
    });
    // Unreachable: a server that is not there, and a file that is not there and is not made.
    let doctor = Doctor::new();
    fails(&doctor, &["stale", "--db", "postgres://app@127.0.0.1:1/app"], 69);
    fails(&doctor, &["stale", "--db", "missing.db"], 66);
    assert!(doctor.files().is_empty(), "{:?}", doctor.files());
}

fn ids(document: &Value, list: &str) -> Vec<String> {
    let jobs = document[list].as_array().expect("a list");
    let mut ids: Vec<String> = jobs.iter().map(|job| job["id"].as_str().expect("an id").to_owned()).collect();
    ids.sort();
    ids
}

#[test]
fn attempts_at_above_and_without_a_maximum() {
    on_both(|shop| {
        shop.in_flight(1, 6, "'web1:' || n", 600);
        for (id, attempts, max) in [(1, 5, "5"), (2, 9, "5"), (3, 4, "5"), (4, 3, "5"), (5, 700, "NULL"), (6, 0, "0")] {
            shop.sql(&format!("UPDATE jobs SET attempts = {attempts}, max_attempts = {max} WHERE id = {id}"));
        }
        // One without attempts left is not requeued, whatever is asked for.
        let document = shop.run(&["reclaim", "--to", "requeue", "--apply", "--json"]).exits(0).json();
        assert_eq!(ids(&document, "steps"), ["4", "5"]);
        assert_eq!(ids(&document, "skipped"), ["1", "2", "3", "6"]);
        shop.run(&["reclaim", "--apply"]).exits(0);
        let expected = ["1 FAILED 6", "2 FAILED 10", "3 FAILED 5", "4 QUEUED 4", "5 QUEUED 701", "6 FAILED 1"];
        assert_eq!(shop.states(), expected);
    });
}

#[test]
fn a_name_with_a_line_break_and_an_emoji() {
    on_both(|shop| {
        shop.in_flight(1, 2, "'web1:' || n", 600);
        shop.sql("UPDATE jobs SET kind = 'Send\nSTUCK 💥 Invoice' WHERE id = 1");
        let ran = shop.run(&["stale"]).exits(0);
        assert!(!ran.stdout.lines().any(|line| line.starts_with("STUCK")), "{ran:#?}");
        assert!(ran.stdout.contains('💥'), "{ran:#?}");
        let document = shop.run(&["stale", "--json"]).exits(0).json();
        assert!(document["jobs"].as_array().expect("jobs").iter().any(|job| job["kind"] == "Send\nSTUCK 💥 Invoice"));
        assert_eq!(shop.run(&["stale", "-o", "name", "--kind", "*💥*"]).exits(0).stdout, "1\n");
    });
}
