//! Runs that were killed: an intent without a result is unknown until the database is asked.

use super::queue::{on_both, on_postgres};
use crate::cli::scene::orphans;
use crate::support::cli::{each, rows, until};
use crate::support::shop::Shop;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;

/// A run whose journal goes up to and with its last intent, as a kill right after the commit leaves it, or right before; and the job of
/// that intent.
fn cut(queue: &Shop) -> (String, String) {
    let run = queue.reclaimed();
    let text = fs::read_to_string(queue.journal(&run)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.iter().rposition(|line| line.starts_with("{\"type\":\"intent\"")).unwrap();
    fs::write(queue.journal(&run), lines[..=last].join("\n") + "\n").unwrap();
    let last = queue.lines(&run).last().unwrap()["steps"][0]["id"].as_str().unwrap().to_owned();
    (run, last)
}

fn unsure(document: &Value) -> [u64; 4] {
    ["open", "moved", "not_moved", "changed"].map(|name| document["summary"]["unsure"][name].as_u64().unwrap())
}

#[test]
fn the_batch_was_committed() {
    on_both(|queue| {
        let before = queue.dump("jobs");
        let (run, _) = cut(queue);
        let alone = queue.doctor.run(&["history", &run, "--json"]).exits(0).json();
        assert_eq!(unsure(&alone), [1, 0, 0, 0], "nobody was asked");
        assert_eq!((&alone["run"]["complete"], &alone["run"]["moved_at_least"]), (&false.into(), &3.into()));
        let told = queue.json(&["history", &run], 0);
        assert_eq!(unsure(&told), [0, 1, 0, 0]);
        // What is not known to have moved comes first.
        let last = told["steps"][0].clone();
        assert_eq!((&last["outcome"], &last["compared"]), (&"unknown".into(), &"moved".into()));
        // What was moved is given back, though the journal does not know that it was.
        let undone = queue.json(&["undo", &run, "--apply"], 0);
        assert_eq!(undone["summary"]["outcomes"]["moved"], 4);
        assert_eq!(queue.dump("jobs"), before);
    });
}

#[test]
fn the_batch_was_not_committed() {
    on_both(|queue| {
        let before = queue.dump("jobs");
        let (run, last) = cut(queue);
        // The last batch never happened.
        let other = queue.json(&["undo", &run, "--apply"], 0)["run_id"].as_str().unwrap().to_owned();
        assert_eq!(queue.dump("jobs"), before);
        let told = queue.json(&["history", &run], 0);
        assert_eq!(unsure(&told), [0, 0, 1, 0]);
        let planned = queue.json(&["undo", &run], 0);
        let ids = each(&planned, "skipped", "id");
        assert!(!ids.contains(&last.as_str()), "there is nothing to take back of {last}: {ids:?}");
        assert_eq!(ids.len(), 3);
        queue.run(&["history", &other]).exits(0);
    });
}

#[test]
fn the_row_was_touched_since() {
    on_both(|queue| {
        let (run, last) = cut(queue);
        queue.sql(&format!("UPDATE jobs SET status = 'SUCCEEDED' WHERE id = {last}"));
        assert_eq!(unsure(&queue.json(&["history", &run], 0)), [0, 0, 0, 1]);
        queue.sql(&format!("DELETE FROM jobs WHERE id = {last}"));
        let told = queue.json(&["history", &run], 0);
        assert_eq!(unsure(&told), [0, 0, 0, 1]);
        assert_eq!(told["steps"][0]["compared"], "gone");
        let undone = queue.json(&["undo", &run, "--apply"], 3);
        assert_eq!(undone["summary"]["outcomes"]["moved"], 3);
    });
}

/// Killed for good in the middle of it: what the journal and the database say together is what has happened, job by job.
#[test]
fn by_sigkill_in_the_middle() {
    const MANY: u64 = 20_000;
    for _ in 0..8 {
        let doctor = orphans(u32::try_from(MANY).unwrap());
        let watch = doctor.connect("queue.db");
        let count = |query| rows(&watch, query)[0].parse::<u64>().unwrap();
        let running = doctor.start(&["reclaim", "--db", "queue.db", "--max-jobs", "99999", "--apply", "-o", "none"]);
        until("there is a first batch", || count("SELECT EXISTS (SELECT 1 FROM jobs WHERE status = 'QUEUED')") == 1);
        running.signal(Signal::KILL);
        let ran = running.wait();
        let moved = count("SELECT count(*) FROM jobs WHERE status = 'QUEUED'");
        if ran.signal != Some(9) || moved == MANY {
            continue;
        }
        let run = doctor.run(&["history", "-o", "name"]).exits(0).stdout.trim().to_owned();
        let told = doctor.on_queue(&["history", &run, "--json"]).exits(0).json();
        let [open, unsure_moved, not_moved, changed] = unsure(&told);
        assert_eq!((open, changed), (0, 0));
        assert_eq!(told["run"]["moved_at_least"].as_u64().unwrap() + unsure_moved, moved, "{}", told["summary"]);
        let journal =
            fs::read_to_string(doctor.home(".local/state/jobdoctor/journal").join(format!("{run}.jsonl"))).unwrap();
        let last = journal.lines().rfind(|line| line.starts_with("{\"type\":\"intent\"")).unwrap();
        let last = serde_json::from_str::<Value>(last).unwrap()["steps"].as_array().unwrap().len() as u64;
        assert!(
            [0, last].contains(&unsure_moved) && [0, last].contains(&not_moved),
            "one whole batch: {unsure_moved}, {not_moved}, {last}"
        );
        assert_eq!(told["run"]["complete"], false);
        let undone = doctor.on_queue(&["undo", &run, "--apply", "--json"]).exits(0).json();
        assert_eq!(undone["summary"]["outcomes"]["moved"], moved);
        assert_eq!(count("SELECT count(*) FROM jobs WHERE status = 'RUNNING' AND attempts = 0"), MANY);
        return;
    }
    panic!("never in the middle of it");
}

/// The server commits, its answer is lost, and it cannot be asked: what became of it is found out later.
#[test]
fn the_answer_to_a_commit_was_lost() {
    use crate::support::proxy::{Cut, Proxy};
    let queue = on_postgres();
    let before = queue.dump("jobs");
    let database = queue.server();
    let proxy = Proxy::before(database.socket(), Cut::AfterTheServer, false);
    let url = database.url_through(&proxy.socket());
    let arguments = ["reclaim", "--db", &url, "--apply", "--to", "requeue", "--id", "1", "--json", "--timeout", "4s"];
    let document = queue.doctor.run(&arguments).exits(5).json();
    assert!(proxy.has_cut());
    let run = document["run_id"].as_str().unwrap();
    let alone = queue.doctor.run(&["history", run, "--json"]).exits(0).json();
    assert_eq!((&alone["run"]["outcomes"]["unknown"], unsure(&alone)), (&1.into(), [1, 0, 0, 0]));
    let told = queue.json(&["history", run], 0);
    assert_eq!(unsure(&told), [0, 1, 0, 0]);
    assert_eq!(queue.json(&["undo", run, "--apply"], 0)["summary"]["outcomes"]["moved"], 1);
    assert_eq!(queue.dump("jobs"), before);
}
