//! More targets than are asked at a time, and signals.

use super::fleet::two;
use crate::cli::scene::{JOBS, orphans};
use crate::cli::signals::SLOW_MAPPING;
use crate::support::cli::{each, rows, until};
use rustix::process::Signal;
use std::fs;

#[test]
fn a_hundred_targets_keep_their_order() {
    let fleet = two();
    let names: Vec<String> = (0..100).map(|n| format!("t{}", (n * 37) % 100)).collect();
    let entry = |name: &String| {
        let file = if name.ends_with('3') { "gone.db" } else { "queue.db" };
        format!("[target.{name}]\ndb = \"{file}\"\n")
    };
    fleet.configure(&names.iter().map(entry).collect::<String>());
    let document = fleet.all(&["stats", "--json"]).exits(66).document("targets");
    assert_eq!(each(&document, "targets", "target"), names);
    assert_eq!(document["summary"]["ends"][0]["targets"].as_array().unwrap().len(), 90);
}

/// The one that is writing finishes its batch, the ones that wait do not begin, and the document says all of it.
#[test]
fn an_interrupt_ends_them_all() {
    // On a loaded machine the signal may come after the end: then there are more jobs.
    for many in [20_000, 40_000, 80_000, 160_000] {
        let doctor = orphans(many);
        let entry = |n: u32| {
            format!("[target.t{n}]\ndb = \"{}\"\n", if n == 0 { "queue.db".to_owned() } else { format!("slow{n}.db") })
        };
        // A queue each: they would take turns at one.
        for n in 1..8 {
            let file = format!("slow{n}.db");
            doctor.sql_in(&file, &format!("{JOBS}INSERT INTO jobs (id, status, claimed_at) VALUES (1, 'RUNNING', 1);"));
        }
        let slow = (1..8).map(|n| format!("{}preset = \"slow\"\n", entry(n))).collect::<String>();
        fs::write(doctor.path("c.toml"), format!("{}brake = false\n{slow}{SLOW_MAPPING}", entry(0))).unwrap();
        let watch = doctor.connect("queue.db");
        let count = |query| rows(&watch, query)[0].parse::<u64>().unwrap();
        let running = doctor.start(&["sweep", "--all-targets", "--config", "c.toml", "--apply", "--json"]);
        until("there is a first batch", || count("SELECT EXISTS (SELECT 1 FROM jobs WHERE status = 'QUEUED')") == 1);
        running.signal(Signal::TERM);
        let ran = running.wait();
        assert_eq!(ran.signal, Some(15), "{}", ran.stderr);
        let moved = count("SELECT count(*) FROM jobs WHERE status = 'QUEUED'");
        let document = ran.document("targets");
        let targets = document["targets"].as_array().unwrap();
        assert_eq!(targets.len(), 8);
        assert_eq!(targets[0]["document"]["summary"]["outcomes"]["moved"], moved);
        for target in &targets[1..] {
            assert_eq!((&target["exit_code"], &target["error"]["kind"]), (&143.into(), &"signal".into()), "{target:#}");
        }
        if moved < u64::from(many) {
            assert_eq!(targets[0]["document"]["applied"], true);
            return;
        }
    }
    panic!("never in the middle of it");
}
