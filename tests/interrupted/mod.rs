//! Jobs that their library failed because their worker died: what is listed, retried, left alone and refused.

mod bounds;
mod life;
mod sweeps;

use crate::support::cli::{Doctor, each, fails, is_valid};
use crate::support::shop::{Shop, on_both};
use serde_json::Value;

/// Puts jobs `first` to `last` in that were failed so many seconds ago, because their worker on that host died.
fn lost(queue: &Shop, (first, last): (u32, u32), host: &str, ago: u32) {
    queue.sql(&format!(
        "INSERT INTO jobs (id, queue, kind, status, owner_id, attempts, max_attempts, stalls, error_code, error_detail, finished_at)
         SELECT n, 'mail', 'SendInvoice', 'FAILED', '{host}:1', 5, 5, 1, 'WORKER_LOST', 'lost', {{ago {ago}}} FROM {}",
        queue.numbers(first, last)
    ));
}

/// Puts jobs in that ended well.
fn done(queue: &Shop, (first, last): (u32, u32)) {
    queue.sql(&format!(
        "INSERT INTO jobs (id, queue, kind, status, finished_at) SELECT n, 'mail', 'SendInvoice', 'SUCCEEDED', {{ago 60}} FROM {}",
        queue.numbers(first, last)
    ));
}

fn reclaim(queue: &Shop, more: &[&str], code: i32) -> Value {
    let ran = queue.run(&[&["reclaim", "--interrupted", "--json"], more].concat()).exits(code);
    let document = ran.json();
    is_valid("reclaim", &document);
    document
}

#[test]
fn they_are_listed_by_cause_and_come_back_and_an_undo_fails_them_again() {
    on_both(|queue| {
        lost(queue, (1, 5), "web2", 840);
        queue.sql("UPDATE jobs SET queue = 'reports' WHERE id = 5");
        done(queue, (11, 30));
        // 31 raised; 32 was failed with attempts left, by another's word.
        queue.sql(
            "INSERT INTO jobs (id, status, error_code, attempts, max_attempts, finished_at)
             VALUES (31, 'FAILED', 'RAISED', 5, 5, {ago 60}), (32, 'FAILED', 'WORKER_LOST', 4, 5, {ago 60})",
        );
        let before = queue.jobs();
        let cause = "workers on host web2 died: 5 jobs of kind SendInvoice (mail 4, reports 1) failed 14m";
        let listed = queue.run(&["stale", "--interrupted", "-o", "table"]).exits(0);
        listed.shows("failed because its worker died").says("5 jobs, of 5 that failed with their worker");
        let plan = queue.run(&["reclaim", "--interrupted", "-o", "table"]).exits(0);
        for ran in [&listed, &plan] {
            assert!(ran.stdout.replace("\n    ", " ").starts_with(cause), "{}", ran.stdout);
        }
        queue
            .run(&["stale", "--interrupted", "--host", "db9", "-v"])
            .says("--host db9 matches no interrupted job; hosts of such: web2");
        let status = queue.run(&["status"]).exits(0);
        status.shows("workers on host web2 died  requeue 5 --interrupted").says("--interrupted\n");
        assert_eq!(queue.run(&["status", "--json"]).exits(0).json()["summary"]["interrupted"], 5);
        // Claims are another matter.
        assert_eq!(queue.run(&["stale", "--json"]).exits(0).json()["summary"]["stuck"], 0);
        let expected = reclaim(queue, &[], 0)["digest"].as_str().unwrap().to_owned();
        reclaim(queue, &["--apply", "--expect", "00000000"], 4);
        let applied = reclaim(queue, &["--apply", "--expect", &expected], 0);
        assert_eq!(applied["summary"]["outcomes"]["moved"], 5);
        assert_eq!(queue.states()[..5], ["1 QUEUED 0", "2 QUEUED 0", "3 QUEUED 0", "4 QUEUED 0", "5 QUEUED 0"]);
        assert_eq!(queue.states()[25..], ["31 FAILED 5", "32 FAILED 4"]);
        let run = applied["run_id"].as_str().unwrap();
        queue.run(&["history", run]).exits(0).shows("interrupted");
        queue.run(&["undo", run, "--apply"]).exits(0).says("reverted 5 jobs");
        assert_eq!(queue.jobs(), before);
    });
}

#[test]
fn show_says_what_would_bring_one_back() {
    on_both(|queue| {
        lost(queue, (1, 1), "web2", 840);
        lost(queue, (2, 2), "web2", 90_000);
        queue.sql("INSERT INTO jobs (id, status, error_code, finished_at) VALUES (3, 'FAILED', 'RAISED', {ago 60})");
        let document = queue.run(&["show", "1", "2", "3", "--json"]).exits(0).json();
        is_valid("show", &document);
        let jobs = document["jobs"].as_array().unwrap();
        let interrupted = jobs.iter().map(|job| job["interrupted"] == true && job["in_flight"] == false);
        assert_eq!(interrupted.collect::<Vec<_>>(), [true, true, false]);
        assert_eq!(
            (&jobs[0]["would"]["attempts_after"], &jobs[1]["skipped"]["reason"]),
            (&0.into(), &"failed_before".into())
        );
        let page = queue.run(&["show", "1"]).exits(0);
        page.shows("with --interrupted would requeue it: FAILED -> QUEUED, attempts 0/5");
    });
    // In a table of its own, which `show` reads by another way too.
    let queue = queue_of("solid-queue", "1.5.0", PRUNED);
    let shown = queue.run(&["show", "7", "--json"]).exits(0).json();
    assert_eq!(each(&shown, "jobs", "table"), ["main.solid_queue_failed_executions"]);
    assert_eq!(shown["jobs"][0]["would"]["state_after"], "ready");
}

/// Of Solid Queue, a job that was failed when its process was pruned.
const PRUNED: &str = "INSERT INTO solid_queue_jobs (id, queue_name, class_name, arguments, priority, created_at, updated_at)
    VALUES (7, 'mail', 'Mail', '{\"executions\":0,\"exception_executions\":{}}', 0, datetime('now', '-1 hour'), datetime('now', '-1 hour'));
    INSERT INTO solid_queue_failed_executions (job_id, error, created_at) VALUES (7, '{\"exception_class\":\
\"SolidQueue::Processes::ProcessPrunedError\",\"message\":\"Process was found dead\",\"backtrace\":null}',
    strftime('%Y-%m-%d %H:%M:%f000', 'now', '-5 minutes'))";

/// `--table` names the claims' table. The mutant: it renames the table of the failed jobs too, or instead.
#[test]
fn a_table_that_is_named_is_that_of_the_claims_alone() {
    let queue = queue_of("solid-queue", "1.5.0", PRUNED);
    queue.doctor.sql(
        "INSERT INTO solid_queue_claimed_executions (job_id, process_id, created_at) VALUES (7, 1, datetime('now'));
         ALTER TABLE solid_queue_claimed_executions RENAME TO taken",
    );
    queue.run(&["stale", "--preset", "solid-queue"]).exits(78).says("solid_queue_claimed_executions");
    let json = |words: &[&str]| {
        queue.run(&[words, &["--preset", "solid-queue", "--table", "taken", "--json"]].concat()).exits(0).json()
    };
    let claims = json(&["stale"]);
    assert_eq!((&claims["summary"]["in_flight"], &claims["target"]["table"]), (&1.into(), &"main.taken".into()));
    queue.doctor.sql("DELETE FROM taken");
    assert_eq!(json(&["stale"])["summary"]["in_flight"], 0);
    assert_eq!(each(&json(&["stale", "--interrupted"]), "jobs", "id"), ["7"]);
    assert_eq!(each(&json(&["show", "7"]), "jobs", "table"), ["main.solid_queue_failed_executions"]);
    assert_eq!(json(&["reclaim", "--interrupted", "--apply"])["summary"]["outcomes"]["moved"], 1);
    assert_eq!(queue.doctor.rows("SELECT count(*) FROM solid_queue_failed_executions"), ["0"]);
}

#[test]
fn a_saved_plan_does_the_same() {
    on_both(|queue| {
        lost(queue, (1, 3), "web2", 840);
        reclaim(queue, &["--save-plan", &queue.doctor.path("plan.json").display().to_string()], 0);
        // Another one has retried job 2.
        queue.sql("UPDATE jobs SET status = 'QUEUED', finished_at = NULL WHERE id = 2");
        let plan = queue.doctor.path("plan.json").display().to_string();
        let done = queue.run(&["reclaim", "--plan", &plan, "--apply", "--json"]).exits(3).json();
        assert_eq!(each(&done, "steps", "id"), ["1", "3"]);
        assert_eq!(queue.states(), ["1 QUEUED 0", "2 QUEUED 5", "3 QUEUED 0"]);
    });
}

/// A queue of another library, in a file.
fn queue_of(name: &str, schema: &str, rows: &str) -> Shop {
    let queue = Shop::on_sqlite();
    queue.doctor.sql(&std::fs::read_to_string(format!("fixtures/schemas/{name}/sqlite/{schema}.sql")).unwrap());
    queue.doctor.sql(rows);
    queue
}

#[test]
fn the_librarys_own_command_is_printed_where_nothing_is_written() {
    let crashed = "INSERT INTO workflow_entity VALUES ('w1');
        INSERT INTO execution_entity (id, finished, mode, workflowId, status, startedAt, stoppedAt, createdAt)
        SELECT column1, 0, 'trigger', 'w1', 'crashed', strftime('%Y-%m-%d %H:%M:%f', 'now'), strftime('%Y-%m-%d %H:%M:%f', 'now'),
            strftime('%Y-%m-%d %H:%M:%f', 'now') FROM (VALUES (7), (8))";
    let queue = queue_of("n8n", "2.41", crashed);
    let listed = queue.run(&["stale", "--interrupted"]).exits(0);
    listed.says("/api/v1/executions/7/retry\n").says("/api/v1/executions/8/retry\n");
    listed.says("n8n has no room for why an execution crashed");
    let command = queue.run(&["stale", "--interrupted", "--json"]).exits(0).json()["summary"]["command"].clone();
    assert_eq!(command.as_str().unwrap().lines().count(), 2, "{command}");
    let done = reclaim(&queue, &["--apply"], 0);
    assert_eq!(each(&done, "skipped", "reason"), ["action_refused", "action_refused"]);
}

#[test]
fn other_queues_say_why_there_are_none() {
    let queue = queue_of("goqite", "0.4.0", "");
    for command in ["stale", "reclaim"] {
        queue.run(&[command, "--interrupted"]).exits(78).says("goqite: never: a message that is out of receives stays");
    }
    assert!(queue.run(&["status", "--json"]).exits(0).json()["summary"]["interrupted"].is_null());
    // A table with less than the reference schema does not tell, and is no worse for it.
    let queue = Shop::empty_on_sqlite();
    queue.sql("ALTER TABLE jobs DROP COLUMN error_code");
    queue.run(&["stale", "--interrupted"]).exits(78).says("table main.jobs lacks a column that [interrupted] names");
    queue.run(&["status"]).exits(0);
    queue.run(&["check"]).exits(0);
}

#[test]
fn what_is_about_claims_is_refused() {
    let doctor = Doctor::new();
    for flags in
        [&["--to", "fail"][..], &["--rule", "max_runtime"], &["--if-refused", "fail"], &["--verify", "5s", "--apply"]]
    {
        fails(&doctor, &[&["reclaim", "--db", "x.db", "--interrupted"], flags].concat(), 2)
            .says(&format!("{} is about claims, and --interrupted selects none", flags[0]));
    }
    fails(&doctor, &["stale", "--db", "x.db", "--interrupted", "--older", "5m"], 2);
    fails(&doctor, &["stale", "--db", "x.db", "--since", "5m"], 2).says("--interrupted");
}
