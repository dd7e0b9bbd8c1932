//! `last` in place of a run's id, and the queue of a run wherever the database comes from.

use super::queue::{on_both, on_postgres};
use crate::support::cli::fails;
use crate::support::shop::Shop;
use std::fs;

/// A sweep of another user on another host, of which the ledger alone knows.
fn of_another_user(queue: &Shop) -> String {
    queue.in_flight(70, 79, "'web7:' || n", 7200);
    let run = queue.json(&["sweep", "--apply", "--max-jobs", "99", "--host", "web7"], 0)["run_id"]
        .as_str()
        .unwrap()
        .to_owned();
    queue.sql(&format!("UPDATE jobdoctor_ledger SET actor = 'bob', host = 'away' WHERE run_id = '{run}'"));
    fs::remove_file(queue.journal(&run)).unwrap();
    run
}

#[test]
fn it_is_the_latest_run_of_this_user_that_moved_a_job() {
    on_both(|queue| {
        queue.run(&["init", "--ledger"]).exits(0);
        let before = queue.dump("jobs");
        let run = queue.reclaimed();
        let of_bob = of_another_user(queue);
        let latest = |more: &[&str]| {
            let told = queue.json(&[&["history", "last"], more].concat(), 0);
            told["run"]["run_id"].as_str().unwrap().to_owned()
        };
        assert_eq!((latest(&[]), latest(&["--by", "bob"])), (run.clone(), of_bob));
        fails(&queue.doctor, &queue.with_db(&["undo", "last", "--by", "eve"]), 66).says("no run of eve is recorded");
        fails(&queue.doctor, &queue.with_db(&["undo", &run, "--by", "eve"]), 2).says("or say `last`");
        fails(&queue.doctor, &queue.with_db(&["undo", "last", "--apply"]), 2).says("`undo last` only plans");
        let planned = queue.run(&["undo", "last", "-o", "table"]).exits(0);
        planned
            .says(&format!("the latest run is {run}: reclaim at "))
            .says(&format!("to do it: jobdoctor undo {run} "));
        let digest = planned.stderr.split_once("--expect ").unwrap().1.split(' ').next().unwrap();
        queue.run(&["undo", &run, "--apply", "--expect", "00000000"]).exits(4);
        queue.run(&["undo", &run, "--apply", "--expect", digest]).exits(0);
        queue.sql("DELETE FROM jobs WHERE id >= 70");
        assert_eq!(queue.dump("jobs"), before);
    });
}

/// A newer run may have moved jobs where its record does not say so: nobody gets an older one in its place.
#[test]
fn a_record_that_cannot_be_read_or_has_no_end_may_be_the_latest() {
    on_both(|queue| {
        queue.reclaimed();
        // Ids tell seconds apart.
        std::thread::sleep(std::time::Duration::from_millis(1100));
        queue.in_flight(70, 79, "'web7:' || n", 7200);
        let run = queue.json(&["sweep", "--apply", "--max-jobs", "99"], 0)["run_id"].as_str().unwrap().to_owned();
        let path = queue.journal(&run);
        let whole = fs::read_to_string(&path).unwrap();
        let intent = whole.split_inclusive('\n').take(2).collect::<String>();
        fs::write(&path, intent).unwrap();
        queue.run(&["undo", "last", "-o", "table"]).exits(0).says(&format!("the latest run is {run}"));
        let told = queue.run(&["history", "last", "-o", "markdown"]).exits(0);
        told.shows("**: moved no job; of unknown outcome 10").shows("- end: not recorded");
        fs::write(&path, format!("{whole}{{\"type\":\"x\"}}\n")).unwrap();
        queue.run(&["undo", "last"]).exits(78).says(&run);
    });
}

/// Another process was first with each of its jobs.
#[test]
fn one_that_moved_no_job_is_not_the_latest() {
    on_both(|queue| {
        let run = queue.reclaimed();
        std::thread::sleep(std::time::Duration::from_millis(1100));
        queue.in_flight(70, 79, "'web7:' || n", 7200);
        let idle = queue.json(&["sweep", "--apply", "--max-jobs", "99"], 0)["run_id"].as_str().unwrap().to_owned();
        let journal = fs::read_to_string(queue.journal(&idle)).unwrap();
        let journal = journal.replace("\"intended\":\"moved\"", "\"intended\":\"changed\"");
        fs::write(queue.journal(&idle), journal.replace("{\"moved\":10", "{\"changed\":10")).unwrap();
        assert_eq!(queue.json(&["history", &idle], 0)["run"]["moved"], 0);
        assert_eq!(queue.json(&["history", "last"], 0)["run"]["run_id"], *run);
    });
}

#[test]
fn runs_since_then() {
    on_both(|queue| {
        let run = queue.reclaimed();
        let listed = |since: &str| queue.json(&["history", "--since", since], 0)["summary"]["runs"].as_u64();
        assert_eq!(listed("1h"), Some(1));
        std::thread::sleep(std::time::Duration::from_millis(1100));
        assert_eq!(listed("1s"), Some(0));
        queue.run(&["history", &run, "--since", "1h"]).exits(2);
    });
}

/// A queue that nobody finds without being told where: in a schema, under another name. What was said at the run counts.
#[test]
fn a_run_knows_its_queue() {
    let queue = on_postgres();
    queue.sql("CREATE SCHEMA ops");
    let place = ["--schema", "ops", "--preset", "lease", "--table", "work"];
    queue.sql(
        "CREATE TABLE ops.work (LIKE jobs INCLUDING ALL); INSERT INTO ops.work SELECT * FROM jobs; DROP TABLE jobs",
    );
    let rows = || queue.rows("SELECT * FROM ops.work ORDER BY id");
    let before = rows();
    let reclaim = ["reclaim", "--apply", "--max-jobs", "99", "--json"];
    let run = queue.json(&[&reclaim[..4], &place].concat(), 0)["run_id"].as_str().unwrap().to_owned();
    let bare = |arguments: &[&str]| {
        let mut command = queue.doctor.command(arguments);
        crate::support::cli::Ran::of(command.env("JOBDOCTOR_DB", &queue.url).output().unwrap())
    };
    let told = bare(&["history", &run]).exits(0);
    assert!(!told.stderr.contains("left out"), "{told:#?}");
    bare(&["undo", "last", "-o", "table"]).exits(0).says(&format!("the latest run is {run}"));
    let config = |more: &str| {
        let text = format!("[target.ops]\ndb = \"{}\"\n{more}", queue.url);
        fs::write(queue.doctor.path("c.toml"), text).unwrap();
    };
    // It is no run of a target in another schema.
    config("schema = \"public\"\n");
    queue.doctor.run(&["undo", "last", "--config", "c.toml", "--target", "ops"]).exits(66);
    config("");
    queue.doctor.run(&["undo", "last", "--config", "c.toml", "--target", "ops"]).exits(0);
    bare(&["undo", &run, "--apply"]).exits(0);
    assert_eq!(rows(), before);
}
