//! `--snapshot-file`: what stood still since the last snapshot, and what changed.

use super::queue::{Queue, crawls_on_both, ids, on_both, reason, rules};
use crate::support::cli::is_valid;
use jobdoctor::model::Timestamp;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

fn look(queue: &Queue<'_>, words: &[&str]) -> Value {
    let document = queue.json(&[words, &["--snapshot-file", "look.json"]].concat());
    is_valid(words[0], &document);
    document
}

fn stale(queue: &Queue<'_>) -> Value {
    look(queue, &["stale"])
}

fn saved(queue: &Queue<'_>) -> Value {
    serde_json::from_slice(&std::fs::read(queue.doctor.path("look.json")).unwrap()).unwrap()
}

/// Lets time pass for what was saved: each time in the file goes back so far.
fn later(queue: &Queue<'_>, seconds: u64) {
    let mut look = saved(queue);
    let back = |value: &mut Value| {
        let at = Timestamp::parse(value.as_str().unwrap()).unwrap();
        *value = at.minus(Duration::from_secs(seconds)).to_string().into();
    };
    back(&mut look["store_time"]);
    for claim in look["claims"].as_array_mut().unwrap() {
        back(&mut claim["since_at"]);
        back(&mut claim["progress_since_at"]);
    }
    queue.write("look.json", look.to_string());
}

fn stuck(queue: &Queue<'_>) -> Vec<String> {
    ids(&stale(queue), "jobs", rules)
}

/// A table that shows nothing but age and how far its jobs are.
#[test]
fn judged_by_progress() {
    crawls_on_both(false, |queue| {
        queue.crawl(&[(1, "'a'", 9000, "7"), (2, "'b'", 9000, "NULL"), (3, "'c'", 30, "0")]);
        // The first run judges as it would without, and says that it saved something.
        let first = queue.run(&["stale", "--snapshot-file", "look.json"]).exits(0);
        first.says("saved a first snapshot in look.json").shows("age only");
        let mode = std::fs::metadata(queue.doctor.path("look.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        // The second one compares. Neither has stood still for long.
        later(queue, 60);
        queue.sql("UPDATE crawls SET pages = 8 WHERE id = 1");
        let second = queue.run(&["stale", "--snapshot-file", "look.json"]).exits(0);
        assert!(!second.stderr.contains("first snapshot"), "{second:#?}");
        assert_eq!(stuck(queue), [""; 0]);
        // Job 1 gets on, the others do not.
        later(queue, 560);
        queue.sql("UPDATE crawls SET pages = 9 WHERE id = 1");
        let third = stale(queue);
        assert_eq!(ids(&third, "jobs", rules), ["2 unchanged", "3 unchanged"], "{third:#}");
        assert_eq!(third["jobs"][0]["liveness"], "progress");
        assert_eq!(third["jobs"][0]["reasons"][0]["proves"], "death");
        assert!(third["filter"]["compared_with_at"].is_string());
        // Without the file it is age again, which takes the job that gets on.
        let without = queue.json(&["stale"]);
        assert_eq!(ids(&without, "jobs", rules), ["1 claim_age", "2 claim_age"]);
        let applied = look(queue, &["reclaim", "--apply"]);
        assert_eq!(applied["summary"]["outcomes"]["moved"], 2);
        assert!(!applied["warnings"].to_string().contains("age only"), "it is not age that judged");
        let states = queue.crawls();
        assert_eq!(states, ["1 working", "2 new", "3 new"]);
        // What is no longer in flight is not kept.
        assert_eq!(saved(queue)["claims"].as_array().unwrap().len(), 3);
        stale(queue);
        assert_eq!(saved(queue)["claims"].as_array().unwrap().len(), 1);
    });
}

/// A job that was claimed anew begins anew, though it stands where the last one stood.
#[test]
fn another_claim_of_the_same_job() {
    crawls_on_both(false, |queue| {
        queue.crawl(&[(1, "'a'", 9000, "0")]);
        stale(queue);
        later(queue, 900);
        queue.sql("UPDATE crawls SET worker = 'b', started = {ago 700}");
        assert_eq!(stuck(queue), [""; 0]);
        later(queue, 590);
        assert_eq!(stuck(queue), [""; 0]);
        later(queue, 20);
        assert_eq!(stuck(queue), ["1 unchanged"]);
    });
}

/// A table without such columns proves nothing beyond age, and goes on to say so.
#[test]
fn age_only_stays_age_only() {
    crawls_on_both(false, |queue| {
        let config = std::fs::read_to_string(queue.doctor.path("config.toml")).unwrap();
        queue.write("config.toml", config.replace("progress   = [\"pages\"]\n", ""));
        queue.crawl(&[(1, "'a'", 9000, "7"), (2, "'b'", 30, "7")]);
        queue.run(&["stale", "--snapshot-file", "look.json", "-v"]).exits(0).says("a snapshot file proves nothing");
        later(queue, 9000);
        let found = queue.json(&["reclaim", "--snapshot-file", "look.json"]);
        assert_eq!(ids(&found, "steps", rules), ["1 claim_age"]);
        assert!(found["warnings"].to_string().contains("age only"), "{found:#}");
    });
}

/// The owner lives, and its job does not get on: trouble, which is listed and skipped unless it is asked for.
#[test]
fn no_progress_although_the_owner_lives() {
    crawls_on_both(true, |queue| {
        let beat = || queue.sql("UPDATE crawls SET beat = {ago 10}");
        queue.crawl(&[(1, "'a'", 9000, "7"), (2, "'a'", 9000, "7")]);
        beat();
        assert_eq!(stuck(queue), [""; 0]);
        later(queue, 200);
        beat();
        assert_eq!(stuck(queue), [""; 0]);
        later(queue, 200);
        beat();
        queue.sql("UPDATE crawls SET pages = 8 WHERE id = 2");
        let found = stale(queue);
        assert_eq!(ids(&found, "jobs", rules), ["1 no_progress"], "{found:#}");
        assert_eq!(found["jobs"][0]["reasons"][0]["proves"], "trouble");
        let held = look(queue, &["reclaim", "--apply"]);
        assert_eq!(ids(&held, "skipped", reason), ["1 owner_alive"]);
        let moved = look(queue, &["reclaim", "--apply", "--rule", "no_progress"]);
        assert_eq!(moved["summary"]["outcomes"]["moved"], 1);
        assert!(queue.crawls() == ["1 new", "2 working"]);
    });
}

#[test]
fn a_rule_that_could_never_fire() {
    crawls_on_both(true, |queue| {
        queue.run(&["reclaim", "--rule", "no_progress"]).exits(2).says("--snapshot-file");
    });
    on_both(|queue| {
        let ran = queue.run(&["reclaim", "--rule", "no_progress", "--snapshot-file", "look.json"]).exits(2);
        ran.says("names no columns that show progress");
        queue.run(&["sweep", "--restart", "--all-owners", "--snapshot-file", "look.json"]).exits(2);
    });
}

/// What is asked for narrows what is listed, not what is saved.
#[test]
fn a_selection_saves_all_the_same() {
    crawls_on_both(false, |queue| {
        queue.crawl(&[(1, "'a'", 9000, "7"), (2, "'b'", 9000, "7")]);
        for narrow in [&["--owner", "a"][..], &["--id", "1"], &["--limit", "1"]] {
            look(queue, &[&["stale"], narrow].concat());
            assert_eq!(saved(queue)["claims"].as_array().unwrap().len(), 2);
        }
        later(queue, 900);
        let found = look(queue, &["stale", "--id", "1"]);
        assert_eq!(ids(&found, "jobs", rules), ["1 unchanged"]);
    });
}

/// A list says that the owner lives; then standing still is trouble, not death.
#[test]
fn with_a_list() {
    crawls_on_both(false, |queue| {
        queue.crawl(&[(1, "'a'", 9000, "7"), (2, "'b'", 9000, "7")]);
        queue.write("alive.txt", "a\n");
        look(queue, &["stale", "--alive-from", "alive.txt"]);
        later(queue, 900);
        let found = look(queue, &["stale", "--alive-from", "alive.txt"]);
        assert_eq!(ids(&found, "jobs", rules), ["1 no_progress", "2 live_owner_list"], "{found:#}");
    });
}
