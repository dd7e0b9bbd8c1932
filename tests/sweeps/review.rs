//! What must not happen with limits for states and restart sweeps, however they meet.

use super::scheduler::{self, sweep};
use super::waiting::{limits, swept};
use crate::support::cli::{fails, rows, until};
use crate::support::shop::{Shop, on_both};
use std::fs;

/// A restart sweep that had to wait for another sweep began before it waited: what was claimed meanwhile is a new worker's.
#[test]
fn a_restart_sweep_began_before_it_waited() {
    let shop = Shop::empty_on_sqlite();
    shop.in_flight(1, 2, "'h:1'", 7200);
    // A run that finds nothing to do leaves the file of the lock.
    shop.run(&["sweep", "--restart", "--all-owners", "--queue", "none", "--apply"]).exits(0);
    let locks = shop.doctor.home(".local/state/jobdoctor/locks");
    let file = fs::read_dir(&locks).unwrap().next().unwrap().unwrap().path();
    let held = fs::OpenOptions::new().read(true).write(true).open(&file).unwrap();
    held.lock().unwrap();
    let waiting = ["sweep", "--restart", "--all-owners", "--apply", "--json", "--lock-wait", "60s"];
    let running = shop.doctor.start(&shop.with_db(&waiting));
    until("it waits for the lock", || running.has_open(&file));
    // Whole seconds: the next one is later than any of its looks so far.
    let watch = shop.doctor.connect("queue.db");
    let begun = rows(&watch, "SELECT unixepoch()")[0].clone();
    until("a second has gone by", || rows(&watch, "SELECT unixepoch()")[0] != begun);
    shop.sql("UPDATE jobs SET owner_id = 'h:2', claimed_at = unixepoch(), heartbeat_at = unixepoch(), lease_expires_at = unixepoch() + 300 WHERE id = 2");
    held.unlock().unwrap();
    let document = running.wait().exits(0).json();
    assert_eq!((&document["summary"]["planned"], &document["steps"][0]["id"]), (&1.into(), &"1".into()));
    assert_eq!(shop.rows("SELECT id, status FROM jobs ORDER BY id"), ["1 QUEUED", "2 RUNNING"]);
}

/// A clock that jumps makes everything take too long.
#[test]
fn the_brake_judges_limits_too() {
    on_both(|shop| {
        shop.in_flight(1, 12, "'h' || (n % 4) || ':1'", 5);
        shop.sql("UPDATE jobs SET claimed_at = {ago 7200}");
        limits(shop, "[[target.shop.too_long]]\nstate = \"RUNNING\"\nafter = \"1h\"\naction = \"fail\"\n");
        let before = shop.jobs();
        let refused = shop.run(&swept(&["--apply", "--json"])).exits(4).json();
        assert!(refused["brake"]["why"].to_string().contains("look dead or take too long"), "{}", refused["brake"]);
        shop.run(&["reclaim", "--config", "config.toml", "--target", "shop", "--apply"]).exits(4);
        assert_eq!(shop.jobs(), before);
        shop.run(&swept(&["--apply", "--max-jobs", "12"])).exits(0);
        assert_eq!(shop.rows("SELECT DISTINCT status FROM jobs"), ["FAILED"]);
    });
}

#[test]
fn what_would_go_on_for_ever_is_refused() {
    let shop = scheduler::scheduler(Shop::on_sqlite());
    for (there, here, complaint) in [
        // From in flight to in flight, without a new time.
        (
            "[mapping.scheduler.action.time_out]\nto    = \"TIMEOUT\"\nstamp = [\"updated_at\"]",
            "[mapping.scheduler.action.time_out]\nto    = \"RUNNING\"",
            "a job in state `RUNNING` has not ended: a time_out leads to an end",
        ),
        // From one waiting state to another one that is late by the same column.
        (
            "[mapping.scheduler.waiting.action.requeue]\nto    = \"PENDING\"\nstamp = [\"updated_at\"]",
            "[mapping.scheduler.waiting.action.requeue]\nto    = \"SCHEDULED\"",
            "would move the job again",
        ),
    ] {
        scheduler::changed(&shop, there, here);
        let said = fails(&shop.doctor, &sweep(&["--db", "queue.db", "--apply"]), 78).stderr;
        assert!(said.contains(complaint) && said.contains("line "), "{said}");
        fails(&shop.doctor, &["check", "--db", "queue.db", "--config", "config.toml", "--target", "scheduler"], 78);
    }
}

/// A worker may hold a job before it says so in the state.
#[test]
fn a_job_that_shows_life_does_not_wait() {
    on_both(|shop| {
        shop.sql(
            "INSERT INTO jobs (id, status, run_at, owner_id, heartbeat_at, lease_expires_at) VALUES
             (1, 'QUEUED', {ago 900}, 'h:1', {ago 1}, {ago -300}), (2, 'QUEUED', {ago 900}, 'h:1', {ago 1}, NULL),
             (3, 'QUEUED', {ago 900}, 'h:1', {ago 9000}, {ago 8000}), (4, 'QUEUED', {ago 900}, NULL, NULL, NULL)",
        );
        limits(
            shop,
            "[[target.shop.too_long]]\nstate = \"QUEUED\"\nsince = \"run_at\"\nafter = \"10m\"\naction = \"time_out\"\n",
        );
        shop.run(&swept(&["--apply"])).exits(0);
        assert_eq!(
            shop.rows("SELECT id, status FROM jobs ORDER BY id"),
            ["1 QUEUED", "2 QUEUED", "3 TIMED_OUT", "4 TIMED_OUT"]
        );
    });
}

/// What is written with a job is why it was moved.
#[test]
fn the_reason_on_the_row_is_the_reason() {
    on_both(|shop| {
        shop.in_flight(1, 1, "'h:1'", 7200);
        shop.in_flight(2, 2, "'h:2'", 5);
        shop.sql("UPDATE jobs SET deadline_at = {ago 60} WHERE id = 2");
        shop.sql("INSERT INTO jobs (id, status, run_at, error_detail) VALUES (3, 'QUEUED', {ago 900}, '550 mailbox full'), (4, 'QUEUED', {ago 9000}, NULL)");
        let entry = |after: &str, action: &str| {
            format!(
                "[[target.shop.too_long]]\nstate = \"QUEUED\"\nsince = \"run_at\"\nafter = \"{after}\"\naction = \"{action}\"\n"
            )
        };
        limits(shop, &format!("rules = [\"deadline_passed\"]\n{}", entry("1h", "fail")));
        shop.run(&swept(&["--apply", "--reason", "spring cleaning"])).exits(0);
        let said = shop.rows("SELECT id || ' ' || coalesce(error_detail, '-') FROM jobs ORDER BY id");
        let begins = [
            "1 jobdoctor: worker presumed dead (run",
            "2 jobdoctor: took too long (run",
            "3 550 mailbox full",
            "4 jobdoctor: waited too long (run",
        ];
        assert!(said.iter().zip(begins).all(|(said, begin)| said.starts_with(begin)), "{said:#?}");
        // A requeue of a job that waits leaves what its last run has said.
        limits(shop, &entry("10m", "requeue"));
        shop.run(&swept(&["--apply"])).exits(0);
        assert_eq!(shop.rows("SELECT error_detail FROM jobs WHERE id = 3"), ["550 mailbox full"]);
        let due = if shop.is_postgres() { "run_at > now() - interval '1 min'" } else { "run_at > unixepoch() - 60" };
        assert_eq!(shop.rows(&format!("SELECT count(*) FROM jobs WHERE id = 3 AND {due}")), ["1"]);
    });
}

/// To tell workers once more is no news, keeps no other sweep off, and leaves no record.
#[test]
fn wake_ups_are_quiet() {
    let shop = scheduler::with_wake_ups(scheduler::scheduler(Shop::on_postgres()));
    shop.sql("DELETE FROM scheduled_jobs WHERE state IN ('DISPATCHED', 'RUNNING') OR deadline_at IS NOT NULL");
    shop.run(&sweep(&["-v"])).exits(0).says("pg_notify");
    for _ in 0..2 {
        shop.run(&sweep(&["--apply", "--min-interval", "1h", "--warn-above", "0"])).exits(0).is_silent();
    }
    assert_eq!(shop.doctor.run(&["history", "--json"]).exits(0).json()["runs"], serde_json::json!([]));
}

/// Of the columns by which a job is late, the entry that stands first in the file counts.
#[test]
fn entries_count_in_the_order_of_the_file() {
    let shop = scheduler::scheduler(Shop::on_sqlite());
    shop.sql("DELETE FROM scheduled_jobs");
    shop.sql("INSERT INTO scheduled_jobs VALUES ('a', 'PENDING', 'alpha', NULL, {ago 900}, NULL, {ago 600}, NULL), ('m', 'PENDING', 'mail', NULL, {ago 900}, NULL, {ago 600}, NULL)");
    let config = fs::read_to_string(shop.doctor.path("config.toml")).unwrap();
    let mapping = config.split_once("[mapping.scheduler]").unwrap().1;
    let entry = |kind: &str, since: &str, after: &str, action: &str| {
        format!(
            "[[target.scheduler.too_long]]\nstate = \"PENDING\"\n{kind}since = \"{since}\"\nafter = \"{after}\"\naction = \"{action}\"\n"
        )
    };
    let entries = [
        entry("kind = \"a*\"\n", "deadline_at", "1d", "time_out"),
        entry("kind = \"m*\"\n", "updated_at", "1m", "requeue"),
        entry("", "deadline_at", "1s", "time_out"),
    ];
    fs::write(
        shop.doctor.path("config.toml"),
        format!(
            "[target.scheduler]\ndb = \"queue.db\"\npreset = \"scheduler\"\n{}[mapping.scheduler]{mapping}",
            entries.concat()
        ),
    )
    .unwrap();
    let document = shop.run(&sweep(&["--json"])).exits(0).json();
    let steps = document["steps"].as_array().unwrap();
    // The first entry is about `a`, and gives it a day.
    assert_eq!(steps.len(), 1, "{document:#}");
    assert_eq!((&steps[0]["id"], &steps[0]["action"]), (&"m".into(), &"requeue".into()));
}

/// A role that may not write what the config file has written is told of by `check`, before a sweep finds out each minute.
#[test]
fn check_knows_what_waiting_actions_write() {
    let shop = scheduler::scheduler(Shop::on_postgres());
    let role = format!("waits_{}", std::process::id());
    let columns = "id, state, topic, worker, updated_at, deadline_at, reason";
    shop.sql(&format!("CREATE ROLE {role} LOGIN; GRANT SELECT ON scheduled_jobs TO {role}; GRANT UPDATE ({columns}) ON scheduled_jobs TO {role}"));
    let requeue = "[mapping.scheduler.waiting.action.requeue]\n";
    scheduler::changed(&shop, requeue, &format!("{requeue}clear = [\"approved_at\"]\n"));
    let url = format!("{} user={role}", shop.url.replace(" user=doctor", ""));
    let check = |url: &str, code| {
        shop.doctor.run(&["check", "--config", "config.toml", "--target", "scheduler", "--db", url]).exits(code).stderr
    };
    let denied = check(&url, 77);
    assert!(denied.contains("approved_at") && denied.contains("GRANT UPDATE (\"approved_at\")"), "{denied}");
    shop.sql(&format!("GRANT UPDATE (approved_at) ON scheduled_jobs TO {role}"));
    check(&url, 0);
    shop.sql(&format!(
        "REVOKE SELECT ON scheduled_jobs FROM {role}; GRANT SELECT ({columns}) ON scheduled_jobs TO {role}"
    ));
    let blind = check(&url, 78);
    assert!(blind.contains("too_long[") && blind.contains("permission denied"), "{blind}");
    shop.sql(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}
