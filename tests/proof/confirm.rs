//! `--confirm-after`: two snapshots, and only what stood still in between.

use super::queue::{Queue, ids, on_both, reason, rules};
use crate::support::cli::{Ran, fails, is_valid, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const CONFIRM: [&str; 5] = ["reclaim", "--apply", "--json", "--confirm-after", "3s"];

/// Dead by their leases, as far as one snapshot can tell.
fn orphans(queue: &Queue, n: u32) {
    for id in 1..=n {
        queue.sql(&format!(
            "INSERT INTO jobs (id, queue, kind, status, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at)
            VALUES ({id}, 'mail', 'SendInvoice', 'RUNNING', 'web1:{id}', 'token', AGO(9000), AGO(8000), AGO(7000))"
        ));
    }
}

fn document(child: Child) -> Value {
    let ran = Ran::of(child.wait_with_output().unwrap()).exits(0);
    let document = ran.json();
    is_valid("reclaim", &document);
    document
}

/// What a worker does to job 1 between the two snapshots, and what is said of it.
fn between(change: &str, said: &str) {
    on_both(|queue| {
        orphans(queue, 2);
        let running = queue.first_snapshot(&CONFIRM);
        queue.sql(change);
        let before = queue.rows("SELECT status || ' ' || coalesce(owner_id, '-') FROM jobs WHERE id = 1");
        let document = document(running);
        assert_eq!(ids(&document, "steps", rules), ["2 lease_expired"], "{document:#}");
        assert_eq!(ids(&document, "skipped", reason), ["1 changed_between_snapshots"], "{document:#}");
        let detail = document["skipped"][0]["detail"].as_str().unwrap();
        assert!(detail.starts_with("showed life between two snapshots ") && detail.contains(said), "{detail}");
        assert_eq!(document["summary"]["outcomes"]["moved"], 1);
        assert_eq!(queue.rows("SELECT status || ' ' || coalesce(owner_id, '-') FROM jobs WHERE id = 1"), before);
        assert_eq!(queue.rows("SELECT status FROM jobs WHERE id = 2"), ["QUEUED"]);
    });
}

#[test]
fn a_heartbeat() {
    between("UPDATE jobs SET heartbeat_at = AGO(0), lease_expires_at = AGO(-300) WHERE id = 1", "runs for another");
}

/// A worker that was only slow to stop.
#[test]
fn a_finish() {
    between("UPDATE jobs SET status = 'SUCCEEDED', owner_id = NULL WHERE id = 1", "it is SUCCEEDED");
}

#[test]
fn a_row_that_goes() {
    between("DELETE FROM jobs WHERE id = 1", "no longer there");
}

/// The same owner id is another process, which looks just as dead; its claim is another one.
#[test]
fn an_owner_id_that_is_used_again() {
    between("UPDATE jobs SET lease_token = 'another', claimed_at = AGO(8900) WHERE id = 1", "its row has changed");
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
                let mut beats = 0;
                while !stop.load(Ordering::SeqCst) {
                    queue.sql(&format!("UPDATE jobs SET heartbeat_at = AGO(8000 - {beats}) WHERE id = 2"));
                    beats += 1;
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
        queue.sql("UPDATE jobs SET heartbeat_at = AGO(0) WHERE id = 1");
        let document = document(running);
        assert_eq!((&document["applied"], &document["summary"]["planned"]), (&false.into(), &1.into()));
        assert_eq!(ids(&document, "skipped", reason), ["1 changed_between_snapshots"]);
        let alone = queue.run(&["reclaim", "--json"]).exits(0).json();
        assert_eq!(document["digest"], alone["digest"], "the digest is that of what is left");
        assert_eq!(alone["confirmed_after_seconds"], Value::Null);
    });
}

/// A job that is stuck in the second snapshot only has been seen so once.
#[test]
fn what_is_new_waits_for_the_next_run() {
    on_both(|queue| {
        orphans(queue, 1);
        let running = queue.first_snapshot(&CONFIRM);
        queue.sql(
            "INSERT INTO jobs (id, status, owner_id, claimed_at, lease_expires_at)
            VALUES (7, 'RUNNING', 'web9:7', AGO(9000), AGO(8000))",
        );
        let document = document(running);
        assert_eq!(ids(&document, "steps", rules), ["1 lease_expired"]);
        assert_eq!(queue.states(), ["1 QUEUED", "7 RUNNING"]);
    });
}

/// The job that the limit took stays the one, though a more silent one turns up in between.
#[test]
fn with_a_limit() {
    on_both(|queue| {
        orphans(queue, 2);
        queue.sql("UPDATE jobs SET heartbeat_at = AGO(8500) WHERE id = 2");
        let running = queue.first_snapshot(&[&CONFIRM[..], &["--limit", "1"]].concat());
        queue.sql(
            "INSERT INTO jobs (id, status, owner_id, claimed_at, lease_expires_at)
            VALUES (7, 'RUNNING', 'web9:7', AGO(99000), AGO(98000))",
        );
        let document = document(running);
        assert_eq!(document["summary"]["beyond_limit"], 1);
        assert_eq!(queue.states(), ["1 RUNNING", "2 QUEUED", "7 RUNNING"]);
    });
}

#[test]
fn of_a_restart_sweep() {
    on_both(|queue| {
        orphans(queue, 2);
        let words = ["sweep", "--restart", "--host", "web1", "--confirm-after", "3s", "--apply", "--json"];
        let running = queue.first_snapshot(&words);
        queue.sql("UPDATE jobs SET heartbeat_at = AGO(0) WHERE id = 1");
        let ran = Ran::of(running.wait_with_output().unwrap()).exits(0);
        assert_eq!(ids(&ran.json(), "skipped", reason), ["1 changed_between_snapshots"]);
        assert_eq!(queue.states(), ["1 RUNNING", "2 QUEUED"]);
    });
}

#[test]
fn nothing_to_confirm_is_not_waited_for() {
    on_both(|queue| {
        let begun = Instant::now();
        let document = queue.run(&["sweep", "--apply", "--json", "--confirm-after", "1h"]).exits(0).json();
        assert_eq!(document["confirmed_after_seconds"], Value::Null);
        assert!(begun.elapsed() < Duration::from_secs(60));
    });
}

/// A signal ends the wait at once, and nothing was written.
#[test]
fn interrupted_while_waiting() {
    on_both(|queue| {
        orphans(queue, 1);
        let begun = Instant::now();
        let running = queue.first_snapshot(&["reclaim", "--apply", "--confirm-after", "10m", "--timeout", "1h"]);
        kill_process(Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap(), Signal::INT).unwrap();
        let ran = Ran::of(running.wait_with_output().unwrap());
        assert_eq!((ran.signal, ran.stdout.as_str()), (Some(2), ""), "{ran:#?}");
        assert!(ran.stderr.contains("nothing was written"), "{ran:#?}");
        assert!(begun.elapsed() < Duration::from_secs(60));
        assert_eq!(queue.states(), ["1 RUNNING"]);
    });
}

/// A snapshot that stays open while it waits would keep SQLite from checkpointing and Postgres from vacuuming.
#[test]
fn nothing_is_open_while_it_waits() {
    on_both(|queue| {
        orphans(queue, 1);
        if !queue.is_postgres() {
            queue.sql("PRAGMA journal_mode = wal");
        }
        let running = queue.first_snapshot(&["reclaim", "--confirm-after", "10m", "--timeout", "1h"]);
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
        kill_process(Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap(), Signal::TERM).unwrap();
        assert_eq!(Ran::of(running.wait_with_output().unwrap()).signal, Some(15));
    });
}

#[test]
fn what_makes_no_sense() {
    on_both(|queue| {
        orphans(queue, 1);
        let wrong = |more: &[&str]| fails(&queue.doctor, &[&["reclaim", "--db", &queue.url], more].concat(), 2).stderr;
        let said = wrong(&["--confirm-after", "20s", "--timeout", "10s"]);
        assert!(said.contains("20s") && said.contains("--timeout 10s"), "{said}");
        queue.write("config.toml.bad", "[target.app]\nconfirm_after = \"2h\"\n");
        let ran = fails(&queue.doctor, &["reclaim", "--config", "config.toml.bad", "--target", "app"], 78);
        assert!(ran.stderr.contains("confirm_after") && ran.stderr.contains("the longest is 1h"), "{ran:#?}");
        for (written, why) in [
            ("2h", "the longest is 1h"),
            ("0s", "shortest is 1s"),
            ("2s", "the shortest is 3s"),
            ("20", "has no unit"),
            ("-5s", ""),
        ] {
            let ran = queue.run(&["sweep", "--confirm-after", written]).exits(2);
            assert!(ran.stderr.contains(why), "{ran:#?}");
        }
    });
}

#[test]
fn of_the_target() {
    on_both(|queue| {
        orphans(queue, 1);
        let url = &queue.url;
        queue.write("target.toml", format!("[target.app]\ndb = \"{url}\"\nconfirm_after = \"3s\"\n"));
        let words = ["sweep", "--config", "target.toml", "--target", "app", "--apply", "--json"];
        let document = queue.doctor.run(&words).exits(0).json();
        is_valid("sweep", &document);
        assert!(document["confirmed_after_seconds"].as_f64().unwrap() >= 3.0);
        assert_eq!(queue.states(), ["1 QUEUED"]);
        let env = queue.doctor.run(&["env", "--config", "target.toml", "--json"]).exits(0).json();
        let settings = env["settings"].as_array().unwrap();
        let shown = settings.iter().find(|setting| setting["name"] == "confirm_after").unwrap();
        assert_eq!(shown["value"], "3s");
    });
}
