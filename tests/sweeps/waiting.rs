//! Jobs that wait for too long, on the reference schema and through the binary.

use super::scheduler::{self, ages, sweep};
use crate::support::cli::until;
use crate::support::shop::{Shop, on_both};
use serde_json::json;
use std::fs;

pub fn limits(shop: &Shop, entries: &str) {
    fs::write(shop.doctor.path("config.toml"), format!("[target.shop]\n{entries}")).unwrap();
}

pub fn swept<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["sweep", "--config", "config.toml", "--target", "shop"] as &[&str], more].concat()
}

const OVERDUE: &str = "[[target.shop.too_long]]\nstate = \"QUEUED\"\nsince = \"run_at\"\nafter = \"10m\"\n";

/// Jobs 1 to 4: due long ago, due a moment ago, due later, due now.
fn queued(shop: &Shop) {
    shop.sql(
        "INSERT INTO jobs (id, queue, kind, status, run_at, attempts) VALUES
         (1, 'mail', 'Send', 'QUEUED', {ago 3600}, 2), (2, 'mail', 'Send', 'QUEUED', {ago 60}, 0),
         (3, 'mail', 'Send', 'QUEUED', {ago -3600}, 0), (4, 'mail', 'Send', 'QUEUED', {ago 0}, 0)",
    );
}

#[test]
fn only_what_is_long_due_and_no_attempt_is_lost() {
    for (action, ends) in [("requeue", "QUEUED"), ("time_out", "TIMED_OUT"), ("fail", "FAILED")] {
        on_both(|shop| {
            queued(shop);
            limits(shop, &format!("{OVERDUE}action = \"{action}\"\n"));
            let document = shop.run(&swept(&["--apply", "--json"])).exits(0).json();
            assert_eq!(document["summary"]["outcomes"]["moved"], 1);
            assert_eq!(document["steps"][0]["attempts_after"], 2);
            let first = format!("1 {ends} 2");
            assert_eq!(shop.states(), [first.as_str(), "2 QUEUED 0", "3 QUEUED 0", "4 QUEUED 0"]);
        });
    }
}

/// Reclaim and restart sweeps are about claims.
#[test]
fn nobody_else_touches_them() {
    on_both(|shop| {
        queued(shop);
        limits(shop, &format!("{OVERDUE}action = \"fail\"\n"));
        let before = shop.jobs();
        for arguments in [&["reclaim"] as &[&str], &["sweep", "--restart", "--all-owners"]] {
            let arguments = [arguments, &["--config", "config.toml", "--target", "shop", "--apply", "--json"]].concat();
            assert_eq!(shop.run(&arguments).exits(0).json()["summary"]["planned"], 0);
        }
        assert_eq!(shop.jobs(), before);
    });
}

#[test]
fn guards_count_them_and_the_brake_does_not() {
    on_both(|shop| {
        queued(shop);
        shop.sql("INSERT INTO jobs (id, queue, kind, status, run_at) SELECT id + 10 * d, queue, kind, status, {ago 3600} FROM jobs,
            (SELECT 1 AS d UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4) AS tens");
        limits(shop, &format!("{OVERDUE}action = \"fail\"\n"));
        let refused = shop.run(&swept(&["--apply", "--max-jobs", "16"])).exits(4);
        assert!(refused.whole().contains("17 steps"), "{}", refused.whole());
        let limited = shop.run(&swept(&["--limit", "5", "--json"])).exits(0).json();
        assert_eq!((&limited["summary"]["planned"], &limited["summary"]["beyond_limit"]), (&5.into(), &12.into()));
        // Nobody holds them: that all of them are late says nothing about who looks.
        let document = shop.run(&swept(&["--apply", "--json"])).exits(0).json();
        assert_eq!(json!([document["brake"]["pulled"], document["summary"]["outcomes"]["moved"]]), json!([false, 17]));
    });
}

/// A worker takes the job while the sweep has seen it waiting.
#[test]
fn one_that_is_taken_meanwhile_is_left_alone() {
    let shop = Shop::empty_on_postgres();
    queued(&shop);
    limits(&shop, &format!("{OVERDUE}action = \"fail\"\n"));
    let mut worker = shop.client();
    let mut taking = worker.transaction().unwrap();
    taking
        .execute("UPDATE jobs SET status = 'RUNNING', owner_id = 'w:1', claimed_at = now() WHERE id = 1", &[])
        .unwrap();
    let document = shop.run(&swept(&["--apply", "--json"])).exits(3).json();
    assert_eq!(document["steps"][0]["outcome"], "locked");
    taking.commit().unwrap();
    assert_eq!(shop.run(&swept(&["--apply", "--json"])).exits(0).json()["summary"]["planned"], 0);
    assert_eq!(shop.states()[0], "1 RUNNING 2");
}

/// A value of another unit must not make a job a hundred years late.
#[test]
fn a_time_that_cannot_be_right_is_no_time() {
    let shop = Shop::empty_on_sqlite();
    queued(&shop);
    shop.sql("UPDATE jobs SET run_at = 12 WHERE id = 2");
    limits(&shop, &format!("{OVERDUE}action = \"fail\"\n"));
    let document = shop.run(&swept(&["--json"])).exits(0).json();
    assert_eq!((&document["summary"]["planned"], &document["summary"]["skipped"]), (&1.into(), &1.into()));
    assert_eq!(document["skipped"][0]["id"], "2");
    assert_eq!(document["skipped"][0]["reason"], "unknown");
}

fn is_told(listener: &mut postgres::Client) -> bool {
    use postgres::fallible_iterator::FallibleIterator;
    listener.notifications().timeout_iter(std::time::Duration::from_millis(50)).next().unwrap().is_some()
}

/// A wake-up leaves the row as it is, byte for byte, and the dispatcher hears of it.
#[test]
fn to_wake_is_to_tell() {
    let shop = scheduler::with_wake_ups(scheduler::scheduler(Shop::on_postgres()));
    let waiting = "SELECT * FROM scheduled_jobs WHERE state IN ('PENDING', 'SCHEDULED', 'APPROVAL_REQUIRED') AND deadline_at IS NULL ORDER BY id";
    let before = shop.rows(waiting);
    let mut dispatcher = shop.client();
    dispatcher.batch_execute("LISTEN dispatch").unwrap();
    let document = shop.run(&sweep(&["--apply", "--json"])).exits(0).json();
    let woken = document["steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|step| step["action"] == "wake" && step["outcome"] == "moved");
    assert_eq!(woken.count(), 3);
    until("the dispatcher is told", || is_told(&mut dispatcher));
    assert_eq!(shop.rows(waiting), before);
    assert_eq!(ages(&shop)["lost on its way"].split(' ').next(), Some("TIMEOUT"));
}

/// Who is dead goes back to the queue; who lives and takes too long is timed out.
#[test]
fn death_comes_first() {
    on_both(|shop| {
        shop.in_flight(1, 1, "'web1:1'", 7200);
        shop.in_flight(2, 2, "'web1:2'", 5);
        shop.in_flight(3, 3, "'web1:3'", 5);
        shop.sql("UPDATE jobs SET claimed_at = {ago 7200} WHERE id = 2");
        limits(shop, "[[target.shop.too_long]]\nstate = \"RUNNING\"\nafter = \"1h\"\naction = \"time_out\"\n");
        let reclaim = ["reclaim", "--config", "config.toml", "--target", "shop", "--json"];
        assert_eq!(
            shop.run(&reclaim).exits(0).json()["summary"]["planned"],
            2,
            "reclaim sees to claims as a sweep does"
        );
        shop.run(&swept(&["--apply"])).exits(0);
        assert_eq!(shop.rows("SELECT id, status FROM jobs ORDER BY id"), ["1 QUEUED", "2 TIMED_OUT", "3 RUNNING"]);
        assert_eq!(shop.rows("SELECT error_code FROM jobs WHERE id = 2"), ["TIMED_OUT"]);
    });
}

/// Libraries whose workers listen hear of jobs that are long due and that nobody took.
#[test]
fn workers_of_the_libraries_are_woken() {
    let queues = [
        (
            include_str!("../../fixtures/schemas/river/v7.sql"),
            "INSERT INTO river_job (args, kind, scheduled_at) VALUES ('{}', 'Send', now() - interval '1h'), ('{}', 'Send', now() + interval '1h')",
            ("available", "scheduled_at", "river_job", "public.river_insert"),
        ),
        (
            include_str!("../../fixtures/schemas/oban/elixir-v14.sql"),
            "INSERT INTO oban_jobs (worker, scheduled_at) VALUES ('Send', now() - interval '1h'), ('Send', now() + interval '1h')",
            ("available", "scheduled_at", "oban_jobs", "public.oban_insert"),
        ),
        (
            include_str!("../../fixtures/schemas/pgqueuer/1.6.0.sql"),
            "INSERT INTO pgqueuer (priority, status, entrypoint, execute_after, heartbeat) VALUES (0, 'queued', 'Send', now() - interval '1h', now() - interval '1h'), (0, 'queued', 'Send', now() + interval '1h', now())",
            ("queued", "execute_after", "pgqueuer", "ch_pgqueuer"),
        ),
        (
            include_str!("../../fixtures/schemas/procrastinate/3.10.sql"),
            "INSERT INTO procrastinate_jobs (queue_name, task_name, scheduled_at) VALUES ('mail', 'Send', now() - interval '1h'), ('mail', 'Send', now() + interval '1h')",
            ("todo", "scheduled_at", "procrastinate_jobs", "procrastinate_queue_v1#mail"),
        ),
    ];
    for (schema, jobs, (state, since, table, channel)) in queues {
        let shop = Shop::on_postgres();
        shop.sql(schema);
        shop.sql(jobs);
        limits(
            &shop,
            &format!(
                "[[target.shop.too_long]]\nstate = \"{state}\"\nsince = \"{since}\"\nafter = \"10m\"\naction = \"wake\"\n"
            ),
        );
        let rows = || shop.rows(&format!("SELECT xmin, * FROM {table} ORDER BY id"));
        let before = rows();
        let mut worker = shop.client();
        worker.batch_execute(&format!("LISTEN \"{channel}\"")).unwrap();
        let document = shop.run(&swept(&["--apply", "--json"])).exits(0).json();
        assert_eq!(document["summary"]["outcomes"]["moved"], 1, "{table}");
        assert_eq!(document["steps"][0]["action"], "wake");
        until("its workers are told", || is_told(&mut worker));
        assert_eq!(rows(), before, "{table}");
        // Nothing was changed, so there is nothing to take back, and nothing is kept or said of it.
        let runs = shop.doctor.run(&["history", "--json"]).exits(0).json();
        assert_eq!(runs["runs"], serde_json::json!([]), "{table}");
        assert!(!document["warnings"].to_string().contains("undone"), "{}", document["warnings"]);
    }
}
