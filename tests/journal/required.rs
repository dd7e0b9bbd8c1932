//! Where the journal cannot be kept: one warning and on, unless it is required.

use super::queue::on_both;
use crate::support::cli::Ran;
use crate::support::shop::Shop;
use serde_json::Value;
use std::fs;

fn config(queue: &Shop, journal: &str) {
    let text = format!("[target.app]\ndb = \"{}\"\njournal = \"{journal}\"\n", queue.url);
    fs::write(queue.doctor.path("config.toml"), text).unwrap();
}

/// With the state directory there, where nothing can be made: root may write anywhere else.
fn nowhere(queue: &Shop, arguments: &[&str], place: &str) -> Ran {
    let mut command = queue.doctor.command(arguments);
    Ran::of(command.env("JOBDOCTOR_STATE_DIR", place).output().unwrap())
}

fn homeless(queue: &Shop, arguments: &[&str]) -> Ran {
    Ran::of(queue.doctor.command(arguments).env_remove("HOME").output().unwrap())
}

#[test]
fn one_warning_and_on() {
    on_both(|queue| {
        fs::write(queue.doctor.path("file"), "").unwrap();
        let file = queue.doctor.path("file").display().to_string();
        for (place, id) in [(file.as_str(), "1"), ("/proc/self", "2")] {
            let ran = nowhere(queue, &["reclaim", "--apply", "--json", "--id", id, "--db", &queue.url], place).exits(0);
            let document = ran.json();
            assert_eq!((&document["journal"], &document["undoable"]), (&Value::Null, &false.into()));
            assert_eq!(document["summary"]["outcomes"]["moved"], 1);
            assert_eq!(ran.stderr.matches("warning:").count(), 1, "{ran:#?}");
            ran.says("cannot be reverted");
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), "");
    });
}

#[test]
fn without_a_home() {
    on_both(|queue| {
        let sweep = || homeless(queue, &queue.with_db(&["sweep", "--apply", "--json"])).exits(0);
        let ran = sweep();
        assert_eq!(ran.json()["journal"], Value::Null);
        assert_eq!(ran.stderr.matches("warning:").count(), 1, "{ran:#?}");
        ran.says("HOME");
        // An idle one has nothing to say: cron would mail it every minute.
        let idle = sweep();
        assert_eq!(idle.stderr, "", "{idle:#?}");
        homeless(queue, &["history"]).exits(0).says("HOME");
    });
}

#[test]
fn required_and_nothing_is_written() {
    on_both(|queue| {
        config(queue, "required");
        fs::write(queue.doctor.path("file"), "").unwrap();
        let file = queue.doctor.path("file").display().to_string();
        let before = queue.dump("jobs");
        for command in ["reclaim", "sweep"] {
            for place in [file.as_str(), "/proc/self"] {
                let arguments = [command, "--apply", "--config", "config.toml", "--json"];
                let ran = nowhere(queue, &arguments, place).exits(4);
                let document = ran.json();
                assert_eq!(document["applied"], false);
                assert!(document["refused"].as_str().unwrap().contains("journal is required"), "{document:#}");
                assert_eq!(queue.dump("jobs"), before);
            }
        }
        homeless(queue, &["reclaim", "--apply", "--config", "config.toml"]).exits(4).says("HOME");
        assert_eq!(queue.dump("jobs"), before);
        // A dry run needs none, nor does a sweep that has nothing to do.
        nowhere(queue, &["reclaim", "--config", "config.toml"], &file).exits(0);
        nowhere(queue, &["sweep", "--apply", "--config", "config.toml", "--queue", "nobody"], &file).exits(0);
        // And where it can be kept, it is.
        queue.doctor.run(&["reclaim", "--apply", "--config", "config.toml"]).exits(0);
        let run = queue.doctor.run(&["history", "-o", "name"]).exits(0).stdout.trim().to_owned();
        let moved = queue.dump("jobs");
        nowhere(queue, &["undo", &run, "--apply", "--config", "config.toml"], &file).exits(78);
        let state = queue.doctor.home(".local/state/jobdoctor");
        fs::create_dir_all(queue.doctor.path("copy/journal")).unwrap();
        fs::copy(queue.journal(&run), queue.doctor.path("copy/journal").join(format!("{run}.jsonl"))).unwrap();
        let copy = queue.doctor.path("copy").display().to_string();
        // Readable, but open to others: nothing is written there.
        let ran = nowhere(queue, &["undo", &run, "--apply", "--config", "config.toml", "--json"], &copy).exits(4);
        assert_eq!(ran.json()["applied"], false);
        assert_eq!(queue.dump("jobs"), moved);
        assert!(state.exists());
    });
}

#[test]
fn off_and_with_a_ledger_it_can_be_undone_all_the_same() {
    on_both(|queue| {
        config(queue, "off");
        let ran = queue.doctor.run(&["reclaim", "--apply", "--id", "1", "--config", "config.toml", "--json"]).exits(0);
        assert!(!ran.stderr.contains("warning"), "{ran:#?}");
        assert_eq!((&ran.json()["journal"], &ran.json()["undoable"]), (&Value::Null, &false.into()));
        queue.run(&["init", "--ledger"]).exits(0);
        let before = queue.dump("jobs");
        let document = queue.doctor.run(&["reclaim", "--apply", "--config", "config.toml", "--json"]).exits(0).json();
        assert_eq!((&document["journal"], &document["undoable"]), (&Value::Null, &true.into()));
        let run = document["run_id"].as_str().unwrap();
        queue.doctor.run(&["undo", run, "--apply", "--config", "config.toml"]).exits(0);
        assert_eq!(queue.dump("jobs"), before);
        assert!(!queue.journals().exists());
    });
}
