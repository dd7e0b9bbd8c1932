//! A disk of the journals that is full: what is not recorded is not known, and nobody says otherwise.

use super::queue::on_both;
use crate::support::cli::{Ran, fails};
use crate::support::shim::Shim;
use crate::support::shop::Shop;
use serde_json::{Value, json};
use std::fs;

/// Moves the four jobs, in three batches of 2, 1 and 1, while writes to the home directory fail from that one on. With the head, an
/// intent is the first write, a result the second, and so on.
fn reclaimed(queue: &Shop, from: u32, times: Option<u32>) -> Value {
    let ran = reclaim(queue, &["--db", &queue.url], from, times).exits(0);
    let document = ran.json();
    assert_eq!(document["summary"]["outcomes"]["moved"], 4, "{ran:#?}");
    ran.says("No space left");
    document
}

fn reclaim(queue: &Shop, on: &[&str], from: u32, times: Option<u32>) -> Ran {
    let shim = Shim::of(include_str!("../fault/full_disk.c"));
    let home = fs::canonicalize(queue.doctor.home("")).expect("the home directory");
    let mut command = queue.doctor.command(&[&["reclaim", "--apply", "--json"], on].concat());
    command.env("LD_PRELOAD", shim.library()).env("FULL_DISK", home).env("FULL_AT", from.to_string());
    if let Some(times) = times {
        command.env("FULL_FOR", times.to_string());
    }
    Ran::of(command.output().expect("run the program"))
}

/// Behind a gap no intent is written, so that nothing may follow it where the journal is required.
#[test]
fn where_it_is_required_no_batch_follows_a_gap() {
    on_both(|queue| {
        let config = format!("[target.app]\ndb = \"{}\"\njournal = \"required\"\n", queue.url);
        fs::write(queue.doctor.path("config.toml"), config).expect("the config");
        let ran = reclaim(queue, &["--config", "config.toml"], 2, Some(1)).exits(3);
        let outcomes = &ran.json()["summary"]["outcomes"];
        assert_eq!((&outcomes["moved"], &outcomes["not_tried"]), (&2.into(), &2.into()), "{ran:#?}");
        ran.says("journal is required");
    });
}

fn run_of(document: &Value) -> &str {
    document["run_id"].as_str().expect("a run")
}

/// What a run is told as: its moved jobs, those at least, all its outcomes, jobs that could be given back, jobs that no record
/// names, and whether it has an end.
fn told(run: &Value) -> Value {
    let outcomes = run["outcomes"].as_object().map(|outcomes| outcomes["moved"].clone());
    json!([run["moved"], run["moved_at_least"], outcomes, run["undoable"], run["unrecorded"], run["complete"]])
}

/// The same of its line in the list, which must say the same.
fn of_both(queue: &Shop, run: &str, with: &[&str]) -> Value {
    let document = |words: &[&str]| queue.doctor.run(&[words, &["--json"], with].concat()).exits(0).json();
    let one = told(&document(&["history", run])["run"]);
    assert_eq!(told(&document(&["history"])["runs"][0]), one);
    one
}

#[test]
fn a_file_without_a_line_is_taken_away() {
    on_both(|queue| {
        let document = reclaimed(queue, 1, None);
        assert_eq!((&document["journal"], &document["undoable"]), (&Value::Null, &false.into()));
        assert_eq!(fs::read_dir(queue.journals()).expect("a directory").count(), 0);
        assert_eq!(queue.json(&["history"], 0)["summary"]["runs"], 0);
        fails(&queue.doctor, &["history", run_of(&document)], 66);
    });
}

/// One that is there all the same says nothing of what the run did.
#[test]
fn an_empty_file_says_nothing() {
    on_both(|queue| {
        let run = queue.reclaimed();
        fs::write(queue.journal(&run), "{\"type\":\"he").expect("the journal");
        for words in [&["history", &run][..], &["undo", &run, "--apply"]] {
            fails(&queue.doctor, &[words, &["--db", &queue.url]].concat(), 66).says("it does not say what the run did");
        }
        let listed = queue.json(&["history"], 0);
        assert_eq!(listed["summary"]["runs"], 0);
        assert!(
            listed["warnings"][0].as_str().is_some_and(|said| said.contains("does not say what the run did")),
            "{listed}"
        );
    });
}

#[test]
fn a_journal_that_ends_early_says_what_was_moved_at_least() {
    on_both(|queue| {
        let before = queue.dump("jobs");
        let document = reclaimed(queue, 3, None);
        let run = run_of(&document);
        assert_eq!(of_both(queue, run, &[]), json!([null, 2, null, 2, null, false]));
        let shown = queue.run(&["history", run]).exits(0);
        assert!(shown.stdout.contains("at least 2 of 4") && !shown.stdout.contains("killed"), "{shown:#?}");
        assert!(queue.run(&["history"]).exits(0).stdout.contains("at least 2"));
        let planned = queue.json(&["undo", run], 0);
        assert_eq!((&planned["summary"]["planned"], &planned["undoes"]["unrecorded"]), (&2.into(), &Value::Null));
        assert!(planned["warnings"][0].as_str().is_some_and(|said| said.contains("has no end")), "{planned}");
        queue.run(&["undo", run, "--apply"]).exits(0);
        let back = queue.dump("jobs");
        assert_eq!(back.iter().filter(|row| before.contains(row)).count(), before.len() - 2);
    });
}

/// The last line tells how many jobs are missing.
#[test]
fn where_there_is_room_again_its_end_says_what_is_missing() {
    on_both(|queue| {
        let document = reclaimed(queue, 3, Some(1));
        let run = run_of(&document);
        assert_eq!(of_both(queue, run, &[]), json!([4, 4, 4, 2, 2, true]));
        queue.run(&["history", run]).exits(0).shows("4 of 4").shows("2 of them");
        let undone = queue.json(&["undo", run, "--apply"], 3);
        assert_eq!((&undone["summary"]["outcomes"]["moved"], &undone["undoes"]["unrecorded"]), (&2.into(), &2.into()));
        assert!(undone["warnings"][0].as_str().is_some_and(|said| said.contains("2 of the jobs")), "{undone}");
    });
}

/// What became of each job is known, but not what it was before: the jobs are listed as such, never "nothing to give back".
#[test]
fn where_rows_alone_are_missing_their_jobs_are_listed() {
    on_both(|queue| {
        let run = queue.reclaimed();
        let after = queue.dump("jobs");
        let without = |mut line: Value| {
            line["steps"].as_array_mut().into_iter().flatten().for_each(|step| step["row"] = Value::Null);
            format!("{line}\n")
        };
        let lines: String = queue.lines(&run).into_iter().map(without).collect();
        fs::write(queue.journal(&run), lines).expect("the journal");
        let planned = queue.json(&["undo", &run], 0);
        assert_eq!((&planned["summary"]["planned"], &planned["summary"]["skipped"]), (&0.into(), &4.into()));
        assert!(planned["skipped"].to_string().contains("lacks its former values"), "{planned}");
        queue.json(&["undo", &run, "--apply"], 4);
        assert_eq!(queue.dump("jobs"), after);
    });
}

#[test]
fn a_ledger_has_what_the_journal_lacks() {
    on_both(|queue| {
        queue.run(&["init", "--ledger"]).exits(0);
        let before = queue.dump("jobs");
        for (from, alone) in [(1, None), (2, Some([2, 0])), (3, Some([2, 2]))] {
            let document = reclaimed(queue, from, None);
            let run = run_of(&document);
            let with_ledger = of_both(queue, run, &["--db", &queue.url]);
            match alone {
                None => assert_eq!(with_ledger, json!([4, 4, null, 4, 0, null])),
                Some([undoable, least]) => {
                    assert_eq!(of_both(queue, run, &[]), json!([null, least, null, undoable, null, false]));
                    assert_eq!(with_ledger, json!([4, 4, null, 4, 0, false]));
                }
            }
            let undone = queue.json(&["undo", run, "--apply"], 0);
            assert_eq!((&undone["summary"]["outcomes"]["moved"], &undone["warnings"]), (&4.into(), &json!([])));
            assert_eq!(queue.dump("jobs"), before);
        }
    });
}
