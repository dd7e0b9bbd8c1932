//! Sweeps that retry interrupted jobs: where the target says so, and within a stall budget.

use super::{done, lost, queue_of};
use crate::support::shop::{Shop, on_both};

const TARGET: &str = "[target.shop]\nstalled = 1\n";

/// Sweeps with these keys of the target.
fn sweep(queue: &Shop, keys: &str, more: &[&str], code: i32) -> crate::support::cli::Ran {
    let text = TARGET.replace("stalled = 1", &format!("db = \"{}\"\n{keys}", queue.url));
    std::fs::write(queue.doctor.path("config.toml"), text).unwrap();
    queue.doctor.run(&[&["sweep", "--config", "config.toml", "--target", "shop"], more].concat()).exits(code)
}

const BOUNDED: &str = "interrupted = true\nmax_stalls = 2";

#[test]
fn they_do_it_only_where_the_target_says_so() {
    on_both(|queue| {
        lost(queue, (1, 2), "web2", 840);
        done(queue, (11, 20));
        queue.in_flight(21, 21, "'web3:1'", 600);
        let states = || queue.rows("SELECT id, status FROM jobs WHERE id IN (1, 2, 21) ORDER BY id");
        sweep(queue, "max_stalls = 2", &["--dry-run"], 0);
        let document = sweep(queue, "max_stalls = 2", &["--json"], 0).json();
        assert_eq!(document["summary"]["planned"], 1);
        // A restart sweep is about the jobs of its host.
        let restart = ["--restart", "--host", "web2", "--apply"];
        sweep(queue, BOUNDED, &restart, 0);
        assert_eq!(states(), ["1 FAILED", "2 FAILED", "21 RUNNING"]);
        sweep(queue, "interrupted = true", &["--apply"], 78).says("needs `max_stalls` in the target");
        assert_eq!(states(), ["1 FAILED", "2 FAILED", "21 RUNNING"]);
        // Neither is one that is told what becomes of claims.
        sweep(queue, BOUNDED, &["--to", "fail", "--dry-run"], 0).says("no interrupted job is brought back in this run");
        let told = sweep(queue, BOUNDED, &["--to", "fail", "--dry-run", "--json"], 0).json();
        assert_eq!(told["summary"]["planned"], 1);
        let swept = sweep(queue, BOUNDED, &["--apply", "--json"], 0).json();
        assert_eq!(swept["summary"]["outcomes"]["moved"], 3);
        assert_eq!(swept["summary"]["diagnoses"], 2);
        assert_eq!(states(), ["1 QUEUED", "2 QUEUED", "21 QUEUED"]);
    });
}

#[test]
fn their_brake_counts_both_sides_and_holds_back_no_claim() {
    on_both(|queue| {
        lost(queue, (1, 11), "web2", 840);
        let refused = sweep(queue, BOUNDED, &["--apply", "--json"], 4).json();
        assert!(refused["brake"]["why"][0].as_str().unwrap().starts_with("11 of the 11 jobs that ended"));
        assert_eq!(queue.rows("SELECT count(*) FROM jobs WHERE status = 'QUEUED'"), ["0"]);
        queue.in_flight(21, 21, "'web3:1'", 600);
        sweep(queue, BOUNDED, &["--apply"], 0).says("more than half: none of them is brought back in this run");
        assert_eq!(queue.rows("SELECT id FROM jobs WHERE status = 'QUEUED'"), ["21"]);
        sweep(queue, BOUNDED, &["--apply", "--max-jobs", "11"], 0);
        assert_eq!(queue.rows("SELECT count(*) FROM jobs WHERE status = 'QUEUED'"), ["12"]);
    });
}

/// The mutant counts the jobs that a pass has room for: here five and none, and the next pass brings the others back.
#[test]
fn their_brake_counts_what_a_pass_has_no_room_for() {
    on_both(|queue| {
        queue.has_been_up_for_days();
        lost(queue, (1, 11), "web2", 840);
        queue.in_flight(10_001, 17_000, "'web4:' || n", 0);
        for claims in [4_995, 5_001] {
            queue.in_flight(101, 100 + claims, "'web3:1'", 600);
            sweep(queue, BOUNDED, &["--apply", "--older", "5m"], 0).says("none of them is brought back in this run");
            let states = queue.rows("SELECT status, count(*) FROM jobs GROUP BY 1 ORDER BY 1");
            assert_eq!(states, ["FAILED 11", &format!("QUEUED {claims}"), "RUNNING 7000"]);
            queue.sql("DELETE FROM jobs WHERE status = 'QUEUED'");
        }
    });
}

/// By a rule whose jobs have a living worker, by the operator, where a unique key refuses the requeue, and by the stall budget;
/// with attempts left or not. A worker's death alone leaves its code.
#[test]
fn what_a_decision_failed_is_not_brought_back() {
    let late = "rules = [{ name = \"max_runtime\", action = \"fail\" }]\nmax_runtime = \"30s\"";
    let too_long = "[[target.shop.too_long]]\nstate = \"RUNNING\"\nafter = \"30s\"\naction = \"fail\"";
    let word = ["reclaim", "--to", "fail", "--reason", "must not run twice: money", "--apply"];
    for (keys, silent, command, code) in [
        (late, 0, &["sweep"][..], "LIMIT_EXCEEDED"),
        ("rules = [\"max_runtime\"]\nmax_runtime = \"30s\"", 0, &["sweep"], "LIMIT_EXCEEDED"),
        ("rules = [\"deadline_passed\"]", 0, &["sweep"], "LIMIT_EXCEEDED"),
        (too_long, 0, &["sweep"], "LIMIT_EXCEEDED"),
        ("max_stalls = 0", 600, &["sweep"], "LIMIT_EXCEEDED"),
        ("", 600, &word, "BY_OPERATOR"),
        ("if_refused = \"fail\"", 600, &["sweep"], "KEY_TAKEN"),
        ("", 600, &["sweep"], "WORKER_LOST"),
    ] {
        on_both(|queue| {
            for (id, attempts) in [(1, 0), (2, 4)] {
                queue.in_flight(id, id, "'web3:1'", silent);
                queue.sql(&format!("UPDATE jobs SET attempts = {attempts} WHERE id = {id}"));
            }
            if keys.contains("deadline") {
                queue.sql("UPDATE jobs SET deadline_at = {ago 5}");
            }
            if code == "KEY_TAKEN" {
                queue.sql("CREATE UNIQUE INDEX one ON jobs (queue) WHERE status = 'QUEUED'");
                queue.sql("INSERT INTO jobs (id, queue, kind, status) VALUES (3, 'mail', 'SendInvoice', 'QUEUED')");
                queue.sql("UPDATE jobs SET attempts = 0 WHERE id = 2");
            }
            match command {
                ["sweep"] => _ = sweep(queue, keys, &["--apply"], 0),
                _ => _ = queue.run(command).exits(0),
            }
            let failed =
                queue.rows("SELECT error_code, count(*) FROM jobs WHERE status = 'FAILED' GROUP BY 1 ORDER BY 1");
            let one_had_attempts_left = keys.contains("[\"max_runtime\"]") || code == "WORKER_LOST";
            let jobs = if one_had_attempts_left { 1 } else { 2 };
            // Without attempts left a death has failed it, whatever the budget.
            let expected = if keys == "max_stalls = 0" {
                vec!["LIMIT_EXCEEDED 1".to_owned(), "WORKER_LOST 1".to_owned()]
            } else {
                vec![format!("{code} {jobs}")]
            };
            assert_eq!(failed, expected, "{keys}");
            queue.sql("UPDATE jobs SET deadline_at = NULL, finished_at = {ago 5}");
            let listed = queue.run(&["reclaim", "--interrupted", "--json"]).exits(0).json();
            let lost = u64::from(keys == "max_stalls = 0" || code == "WORKER_LOST");
            assert_eq!(listed["summary"]["planned"], lost, "{keys}: {listed:#}");
        });
    }
}

/// What an operator fails stays failed, and what says that its deadline has passed.
#[test]
fn what_was_failed_by_decision_is_not_brought_back() {
    on_both(|queue| {
        queue.in_flight(1, 2, "'web3:1'", 600);
        queue.sql("UPDATE jobs SET attempts = 5, deadline_at = {ago 300} WHERE id = 2");
        queue.run(&["reclaim", "--id", "1", "--id", "2", "--to", "fail", "--apply"]).exits(0);
        sweep(queue, BOUNDED, &["--apply"], 0);
        assert_eq!(queue.rows("SELECT id, status FROM jobs ORDER BY id"), ["1 FAILED", "2 FAILED"]);
        // So is one whose cancel was asked for.
        lost(queue, (4, 4), "web2", 840);
        queue.sql("UPDATE jobs SET cancel_requested_at = {ago 900} WHERE id = 4");
        sweep(queue, BOUNDED, &["--apply"], 0);
        assert_eq!(queue.rows("SELECT status FROM jobs WHERE id = 4"), ["FAILED"]);
        let why = queue.run(&["reclaim", "--interrupted", "--id", "4", "--json"]).exits(0).json();
        assert!(why["skipped"][0]["detail"].as_str().unwrap().ends_with("but its cancel was asked for"), "{why:#}");
        // An owner that beats after its job was failed may still run it.
        lost(queue, (3, 3), "web2", 840);
        queue.sql("UPDATE jobs SET heartbeat_at = {ago 5} WHERE id = 3");
        sweep(queue, BOUNDED, &["--apply"], 0);
        assert_eq!(queue.rows("SELECT status FROM jobs WHERE id = 3"), ["FAILED"]);
    });
}

/// What kills its worker each time is retried as often as the budget says, and then stays where it is.
#[test]
fn a_job_that_kills_its_worker_comes_back_twice() {
    on_both(|queue| {
        queue.sql("INSERT INTO jobs (id, queue, kind, status, attempts, max_attempts) VALUES (1, 'mail', 'Poison', 'QUEUED', 0, 1)");
        let mut runs = 0;
        for _minute in 0..10 {
            let claimed = queue.rows("SELECT 1 FROM jobs WHERE status = 'QUEUED'").len();
            runs += claimed;
            queue.sql(
                "UPDATE jobs SET status = 'RUNNING', owner_id = 'web2:1', claimed_at = {ago 700}, heartbeat_at = {ago 600}, \
                 lease_expires_at = {ago 540} WHERE status = 'QUEUED'",
            );
            sweep(queue, BOUNDED, &["--apply"], 0);
        }
        assert_eq!(runs, 3, "the first run and two more");
        assert_eq!(queue.rows("SELECT status, stalls FROM jobs"), ["FAILED 2"]);
        let why = queue.run(&["reclaim", "--interrupted", "--max-stalls", "2", "--json"]).exits(0).json();
        assert_eq!(
            why["skipped"][0]["detail"],
            "lost 2 times already, 2 allowed: only a higher --max-stalls requeues it"
        );
    });
}

/// Solid Queue fails it, and keeps no count: the ledger does.
#[test]
fn a_ledger_counts_where_no_column_does() {
    let job = "INSERT INTO solid_queue_jobs (id, queue_name, class_name, arguments, priority, created_at, updated_at)
        VALUES (1, 'mail', 'Poison', '{\"executions\":0,\"exception_executions\":{}}', 0, datetime('now', '-1 hour'), datetime('now', '-1 hour'));
        INSERT INTO solid_queue_ready_executions (job_id, queue_name, priority, created_at) VALUES (1, 'mail', 0, datetime('now', '-1 hour'))";
    let queue = queue_of("solid-queue", "1.5.0", job);
    sweep(&queue, BOUNDED, &["--apply"], 78).says("nothing counts how often a job was lost");
    queue.run(&["init", "--ledger"]).exits(0);
    let mut runs = 0;
    for _minute in 0..10 {
        runs += queue.rows("SELECT 1 FROM solid_queue_ready_executions").len();
        queue.sql(
            "INSERT INTO solid_queue_failed_executions (job_id, error, created_at) SELECT job_id, '{\"exception_class\":\
             \"SolidQueue::Processes::ProcessExitError\",\"message\":\"Process pid=7 exited unexpectedly.\",\"backtrace\":null}', \
             strftime('%Y-%m-%d %H:%M:%f000', 'now') FROM solid_queue_ready_executions; DELETE FROM solid_queue_ready_executions",
        );
        sweep(&queue, BOUNDED, &["--apply"], 0);
    }
    assert_eq!(runs, 3, "the first run and two more");
    assert_eq!(queue.rows("SELECT count(*) FROM solid_queue_failed_executions"), ["1"]);
}
