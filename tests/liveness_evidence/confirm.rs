//! `--confirm-after`: two snapshots, and only what stood still in between.

use super::queue::{Queue, ids, on_both, reason, rules};
use crate::support::cli::{Ran, fails, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const CONFIRM: [&str; 5] = ["reclaim", "--apply", "--json", "--confirm-after", "3s"];

/// Dead by their leases, as far as one snapshot can tell.
fn orphans(queue: &Queue<'_>, n: u32) {
    for id in 1..=n {
        queue.sql(&format!(
            "INSERT INTO jobs (id, queue, kind, status, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at)
            VALUES ({id}, 'mail', 'SendInvoice', 'RUNNING', 'web1:{id}', 'token', {{ago 9000}}, {{ago 8000}}, {{ago 7000}})"
        ));
    }
}

fn document(child: Child) -> Value {
    let ran = Ran::of(child.wait_with_output().unwrap()).exits(0);
    ran.document("reclaim")
}

/// What workers do to their jobs between the two snapshots, and what is said of each.
#[test]
fn what_happens_in_between() {
    let between = [
        ("UPDATE jobs SET heartbeat_at = {ago 0}, lease_expires_at = {ago -300} WHERE id = 1", "runs for another"),
        // By a worker that was only slow to stop.
        ("UPDATE jobs SET status = 'SUCCEEDED', owner_id = NULL WHERE id = 2", "it is SUCCEEDED"),
        ("DELETE FROM jobs WHERE id = 3", "no longer there"),
        // The same owner id is another process, which looks just as dead; its claim is another one.
        ("UPDATE jobs SET lease_token = 'another', claimed_at = {ago 8900} WHERE id = 4", "its row has changed"),
    ];
    on_both(|queue| {
        orphans(queue, 5);
        let running = queue.first_snapshot(&CONFIRM);
        between.iter().for_each(|(change, _)| queue.sql(change));
        // A job that is stuck in the second snapshot only has been seen so once.
        queue.sql(
            "INSERT INTO jobs (id, status, owner_id, claimed_at, lease_expires_at)
            VALUES (7, 'RUNNING', 'web9:7', {ago 9000}, {ago 8000})",
        );
        let document = document(running);
        assert_eq!(ids(&document, "steps", rules), ["5 lease_expired"], "{document:#}");
        let skipped = document["skipped"].as_array().unwrap();
        for (id, (_, said)) in ["1", "2", "3", "4"].into_iter().zip(between) {
            let job = skipped.iter().find(|job| job["id"] == id).unwrap_or_else(|| panic!("{document:#}"));
            let detail = job["detail"].as_str().unwrap();
            assert_eq!(job["reason"], "changed_between_snapshots");
            assert!(detail.starts_with("showed life between two snapshots ") && detail.contains(said), "{detail}");
        }
        assert_eq!(document["summary"]["outcomes"]["moved"], 1);
        assert_eq!(queue.states(), ["1 RUNNING", "2 SUCCEEDED", "4 RUNNING", "5 QUEUED", "7 RUNNING"]);
    });
}

/// A worker whose clock is hours behind looks silent in both looks, and beats all the while. One that ignored the second snapshot
/// would move it.
#[test]
fn a_heartbeat_by_a_clock_that_is_behind() {
    on_both(|queue| {
        orphans(queue, 3);
        let stop = AtomicBool::new(false);
        let document = std::thread::scope(|scope| {
            scope.spawn(|| {
                for silent in (0..8000).rev().take_while(|_| !stop.load(Ordering::SeqCst)) {
                    queue.sql(&format!("UPDATE jobs SET heartbeat_at = {{ago {silent}}} WHERE id = 2"));
                }
            });
            let document = queue.run(&CONFIRM).exits(0).json();
            stop.store(true, Ordering::SeqCst);
            document
        });
        assert_eq!(ids(&document, "skipped", reason), ["2 changed_between_snapshots"], "{document:#}");
        assert_eq!(queue.states(), ["1 QUEUED", "2 RUNNING", "3 QUEUED"]);
        assert!(document["confirmed_after_seconds"].as_f64().unwrap() >= 2.0, "{document:#}");
    });
}

#[test]
fn a_dry_run_says_what_would_be_confirmed() {
    on_both(|queue| {
        orphans(queue, 2);
        let running = queue.first_snapshot(&["reclaim", "--json", "--confirm-after", "3s"]);
        queue.sql("UPDATE jobs SET heartbeat_at = {ago 0} WHERE id = 1");
        let document = document(running);
        assert_eq!((&document["applied"], &document["summary"]["planned"]), (&false.into(), &1.into()));
        assert_eq!(ids(&document, "skipped", reason), ["1 changed_between_snapshots"]);
        let alone = queue.json(&["reclaim"]);
        assert_eq!(document["digest"], alone["digest"], "the digest is that of what is left");
        assert_eq!(alone["confirmed_after_seconds"], Value::Null);
    });
}

/// The job that the limit took stays the one, though a more silent one turns up in between.
#[test]
fn with_a_limit() {
    on_both(|queue| {
        orphans(queue, 2);
        queue.sql("UPDATE jobs SET heartbeat_at = {ago 8500} WHERE id = 2");
        let running = queue.first_snapshot(&[&CONFIRM[..], &["--limit", "1"]].concat());
        queue.sql(
            "INSERT INTO jobs (id, status, owner_id, claimed_at, lease_expires_at)
            VALUES (7, 'RUNNING', 'web9:7', {ago 99000}, {ago 98000})",
        );
        assert_eq!(document(running)["summary"]["beyond_limit"], 1);
        assert_eq!(queue.states(), ["1 RUNNING", "2 QUEUED", "7 RUNNING"]);
    });
}

#[test]
fn of_a_saved_plan_each_is_told_once() {
    on_both(|queue| {
        orphans(queue, 2);
        queue.run(&["reclaim", "--save-plan", "plan.json"]).exits(0);
        let words = ["reclaim", "--plan", "plan.json", "--confirm-after", "3s", "--apply", "--json"];
        let running = queue.first_snapshot(&words);
        queue.sql("UPDATE jobs SET heartbeat_at = {ago 0} WHERE id = 1");
        let ran = Ran::of(running.wait_with_output().unwrap()).exits(3);
        assert_eq!(ids(&ran.json(), "skipped", reason), ["1 changed_between_snapshots"]);
        assert_eq!(queue.states(), ["1 RUNNING", "2 QUEUED"]);
    });
}

#[test]
fn of_a_restart_sweep() {
    on_both(|queue| {
        orphans(queue, 3);
        let words = ["sweep", "--restart", "--host", "web1", "--confirm-after", "3s", "--apply", "--json"];
        let running = queue.first_snapshot(&words);
        // A beat after the sweep began is a sign of life; an earlier one only differs from the first look.
        queue.sql("UPDATE jobs SET heartbeat_at = {ago 30} WHERE id = 1");
        queue.sql("UPDATE jobs SET heartbeat_at = {ago -1} WHERE id = 3");
        let ran = Ran::of(running.wait_with_output().unwrap()).exits(0);
        let told_once = ["1 changed_between_snapshots", "3 owner_alive"];
        assert_eq!(ids(&ran.json(), "skipped", reason), told_once);
        assert_eq!(queue.states(), ["1 RUNNING", "2 QUEUED", "3 RUNNING"]);
    });
}

#[test]
fn nothing_to_confirm_is_not_waited_for() {
    on_both(|queue| {
        let begun = Instant::now();
        let document = queue.json(&["sweep", "--apply", "--confirm-after", "1h"]);
        assert_eq!(document["confirmed_after_seconds"], Value::Null);
        assert!(begun.elapsed() < Duration::from_secs(60));
    });
}

/// A snapshot that stays open while it waits would keep SQLite from checkpointing and Postgres from vacuuming; and a signal ends
/// the wait at once.
#[test]
fn nothing_is_open_while_it_waits() {
    on_both(|queue| {
        orphans(queue, 1);
        if !queue.is_postgres() {
            queue.sql("PRAGMA journal_mode = wal");
        }
        let begun = Instant::now();
        let running = queue.first_snapshot(&["reclaim", "--apply", "--confirm-after", "10m", "--timeout", "1h"]);
        if queue.is_postgres() {
            let mut client = queue.client();
            let open = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'jobdoctor%'
                AND datname = current_database()";
            until("the connection is closed", || client.query_one(open, &[]).unwrap().get::<_, i64>(0) == 0);
        } else {
            let open = |file: std::fs::DirEntry| {
                std::fs::read_link(file.path()).is_ok_and(|target| target.to_string_lossy().contains("queue.db"))
            };
            let files = format!("/proc/{}/fd", running.id());
            until("the file is closed", || !std::fs::read_dir(&files).unwrap().flatten().any(open));
        }
        kill_process(Pid::from_child(&running), Signal::INT).unwrap();
        let ran = Ran::of(running.wait_with_output().unwrap());
        assert_eq!((ran.signal, ran.stdout.as_str()), (Some(2), ""), "{ran:#?}");
        ran.says("nothing was written");
        assert!(begun.elapsed() < Duration::from_secs(60));
        assert_eq!(queue.states(), ["1 RUNNING"]);
    });
}

#[test]
fn what_makes_no_sense() {
    on_both(|queue| {
        orphans(queue, 1);
        for (words, why) in [
            (&["--confirm-after", "20s", "--timeout", "10s"][..], "--timeout 10s"),
            (&["--confirm-after", "2h"], "the longest is 1h"),
            (&["--confirm-after", "0s"], "shortest is 1s"),
            (&["--confirm-after", "2s"], "the shortest is 3s"),
            (&["--confirm-after", "20"], "has no unit"),
        ] {
            let said = fails(&queue.doctor, &queue.with_db(&[&["sweep"], words].concat()), 2).stderr;
            assert!(said.contains(why), "{said}");
        }
        queue.write("target.toml", "[target.app]\nconfirm_after = \"2h\"\n");
        let ran = fails(&queue.doctor, &["reclaim", "--config", "target.toml", "--target", "app"], 78);
        ran.says("confirm_after").says("the longest is 1h");
    });
}

#[test]
fn of_the_target() {
    on_both(|queue| {
        orphans(queue, 1);
        queue.write("target.toml", format!("[target.app]\ndb = \"{}\"\nconfirm_after = \"3s\"\n", queue.url));
        let words = ["sweep", "--config", "target.toml", "--target", "app", "--apply", "--json"];
        let document = queue.doctor.run(&words).exits(0).document("sweep");
        assert!(document["confirmed_after_seconds"].as_f64().unwrap() >= 3.0);
        assert_eq!(queue.states(), ["1 QUEUED"]);
    });
}

/// Also of jobs that waited too long, and of those that were interrupted: by their rows as they were.
#[test]
fn of_every_part() {
    let target = "[target.app]\ninterrupted = true\nmax_stalls = 2\nolder = \"5m\"\n[[target.app.too_long]]\n\
                  state = \"QUEUED\"\nsince = \"created_at\"\nafter = \"30s\"\naction = \"fail\"\n";
    on_both(|queue| {
        orphans(queue, 2);
        queue.sql(
            "INSERT INTO jobs (id, queue, kind, status, owner_id, attempts, stalls, error_code, created_at, finished_at) VALUES
             (11, 'mail', 'A', 'QUEUED', NULL, 0, 0, NULL, {ago 900}, NULL),
             (12, 'mail', 'A', 'QUEUED', NULL, 0, 0, NULL, {ago 900}, NULL),
             (21, 'mail', 'A', 'FAILED', 'web2:1', 5, 1, 'WORKER_LOST', {ago 900}, {ago 600}),
             (22, 'mail', 'A', 'FAILED', 'web2:1', 5, 1, 'WORKER_LOST', {ago 900}, {ago 600})",
        );
        queue.write("target.toml", target);
        let words =
            ["sweep", "--config", "target.toml", "--target", "app", "--confirm-after", "3s", "--apply", "--json"];
        let running = queue.first_snapshot(&words);
        queue.sql(
            "UPDATE jobs SET heartbeat_at = {ago 0} WHERE id = 1;
             UPDATE jobs SET created_at = {ago 800} WHERE id = 11;
             UPDATE jobs SET finished_at = {ago 500} WHERE id = 21",
        );
        let ran = Ran::of(running.wait_with_output().unwrap()).exits(0);
        let skipped = ids(&ran.json(), "skipped", reason);
        assert_eq!(skipped, [1, 11, 21].map(|id| format!("{id} changed_between_snapshots")));
        let states = ["1 RUNNING", "2 QUEUED", "11 QUEUED", "12 FAILED", "21 FAILED", "22 QUEUED"];
        assert_eq!(queue.states(), states);
    });
}
