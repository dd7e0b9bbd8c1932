//! `--reason`: kept with the run, and written with each job.

use super::queue::{on_both, on_sqlite};
use crate::support::cli::fails;

#[test]
fn it_is_written_with_each_job_and_kept() {
    on_both(|queue| {
        let reason = "INC-42: it's \"web1\" $1 ?1 :now -- üß";
        let document = queue.json(&["reclaim", "--apply", "--reason", reason], 0);
        let run = document["run_id"].as_str().unwrap();
        let written = queue.rows("SELECT error_detail FROM jobs WHERE id = 1").concat();
        assert_eq!(written, format!("jobdoctor: worker presumed dead (run {run}): {reason}"));
        assert_eq!(queue.json(&["history", run], 0)["run"]["reason"], reason);
        let undone = queue.json(&["undo", run, "--apply", "--reason", "a mistake"], 0);
        assert_eq!(queue.json(&["history", undone["run_id"].as_str().unwrap()], 0)["run"]["reason"], "a mistake");
        let swept = queue.json(&["sweep", "--apply", "--reason", "cron", "--run-id", "deploy 7"], 0);
        assert_eq!(queue.json(&["history", swept["run_id"].as_str().unwrap()], 0)["run"]["external_id"], "deploy 7");
        assert!(queue.rows("SELECT error_detail FROM jobs WHERE id = 1").concat().ends_with("): cron"));
    });
}

#[test]
fn what_is_no_reason() {
    let queue = on_sqlite();
    let before = queue.dump("jobs");
    let long = "x".repeat(501);
    for bad in ["", "  ", &long, "a\nb", "a\u{1b}[2J", "see postgres://ops:c4n4ry@db/app", "password=c4n4ry"] {
        for command in [&["reclaim", "--apply"][..], &["sweep", "--apply"], &["undo", "x"]] {
            let arguments = [command, &["--reason", bad, "--db", "queue.db"]].concat();
            let ran = queue.doctor.run(&arguments).exits(2);
            assert!(!ran.stderr.contains("c4n4ry"), "{ran:#?}");
        }
    }
    assert_eq!(queue.dump("jobs"), before);
    fails(&queue.doctor, &["undo", "20200101000000-abcdef", "--reason", "fine", "--db", "queue.db"], 66);
}
