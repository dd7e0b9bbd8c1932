//! What goes with it, and how long it may be.

use super::queue::{both, on_sqlite};
use crate::support::cli::is_valid;

#[test]
fn it_needs_an_apply_and_a_time_that_makes_sense() {
    let queue = on_sqlite(1);
    for arguments in [
        &["--verify", "2m"][..],
        &["--verify", "2m", "--emit-sql"],
        &["--apply", "--verify", "0s"],
        &["--apply", "--verify", "25h"],
        &["--apply", "--verify", "5M"],
        &["--apply", "--verify", "-1s"],
    ] {
        for command in ["reclaim", "sweep"] {
            let ran = queue.doctor.run(&[&[command, "--db", &queue.db], arguments].concat()).exits(2);
            assert!(
                ran.stdout.is_empty() && ran.stderr.contains("--verify") || ran.stderr.contains("--apply"),
                "{ran:#?}"
            );
        }
    }
    assert_eq!(queue.number("SELECT count(*) FROM jobs WHERE status = 'RUNNING'"), 1, "nothing was written");
}

#[test]
fn unasked_it_is_null() {
    for queue in both(1) {
        for more in [&[][..], &["--apply"]] {
            let document =
                queue.doctor.run(&[&["reclaim", "--db", &queue.db, "--json"], more].concat()).exits(0).json();
            is_valid("reclaim", &document);
            assert!(document.as_object().unwrap().contains_key("verified") && document["verified"].is_null());
        }
    }
}

/// It goes on where the time for applying is over; and a plan that was refused has nothing to watch.
#[test]
fn the_time_limit_is_another_matter() {
    let queue = on_sqlite(2);
    let arguments = ["reclaim", "--db", &queue.db, "--apply", "--verify", "10m", "--max-jobs", "1", "--json"];
    let document = queue.doctor.run(&arguments).exits(4).json();
    assert!(document["verified"].is_null());
    let arguments = ["reclaim", "--db", &queue.db, "--apply", "--verify", "2s", "--timeout", "1s", "-o", "jsonl"];
    let ran = queue.doctor.run(&arguments).exits(0);
    let head: serde_json::Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(head["verified"]["waiting"], 2);
    assert!(head["verified"]["waited_seconds"].as_f64().unwrap() >= 2.0, "{head}");
}
