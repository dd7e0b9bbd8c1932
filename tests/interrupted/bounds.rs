//! How far a retry goes: back in time, and up to the brake.

use super::{done, lost, queue_of, reclaim};
use crate::support::cli::each;
use crate::support::shop::{Shop, on_both};

#[test]
fn months_of_old_failures_are_counted_and_never_acted_on() {
    on_both(|queue| {
        lost(queue, (1, 1000), "web1", 90 * 86_400);
        lost(queue, (1001, 1002), "web2", 840);
        let plan = reclaim(queue, &[], 0);
        assert_eq!((&plan["summary"]["planned"], &plan["summary"]["older"]), (&2.into(), &1000.into()));
        assert_eq!(plan["filter"]["interrupted_within_seconds"], 86_400.0);
        let more = "1,000 more such jobs failed over 1 day ago: a longer --since has them";
        queue
            .run(&["stale", "--interrupted", "--host", "web2"])
            .exits(0)
            .says("1,000 more such jobs of the whole queue failed");
        queue.run(&["stale", "--interrupted"]).exits(0).says(more);
        queue.run(&["reclaim", "--interrupted", "--apply"]).exits(0).says("requeued 2 jobs").says(more);
        assert_eq!(queue.rows("SELECT count(*) FROM jobs WHERE status = 'QUEUED'"), ["2"]);
        // Its id does not force it.
        let named = reclaim(queue, &["--id", "7", "--apply"], 0);
        assert_eq!(each(&named, "skipped", "reason"), ["failed_before"]);
        assert!(named["skipped"][0]["detail"].as_str().unwrap().ends_with(", longer than the 1 day asked for"));
        let all = reclaim(queue, &["--since", "100d", "--id", "7", "--apply"], 0);
        assert_eq!(all["summary"]["outcomes"]["moved"], 1);
        assert_eq!(queue.rows("SELECT count(*) FROM jobs WHERE status = 'QUEUED'"), ["3"]);
    });
}

/// When each failed stands in a text there: one that is none is unknown, and no other is hurt.
#[test]
fn a_failure_at_an_unknown_time_is_unknown() {
    on_both(|queue| {
        lost(queue, (1, 2), "web2", 840);
        queue.sql("UPDATE jobs SET finished_at = NULL WHERE id = 1");
        lost(queue, (3, 3), "web2", 0);
        queue.sql("UPDATE jobs SET finished_at = {ago -7200} WHERE id = 3");
        let plan = reclaim(queue, &[], 0);
        assert_eq!(each(&plan, "steps", "id"), ["2"]);
        assert_eq!(each(&plan, "skipped", "reason"), ["unknown", "unknown"]);
    });
}

#[test]
fn the_brake_compares_with_what_ended_in_the_same_time() {
    on_both(|queue| {
        lost(queue, (1, 11), "web2", 840);
        done(queue, (21, 30));
        let refused = reclaim(queue, &["--apply"], 4);
        assert_eq!(
            refused["brake"]["why"][0],
            "11 of the 21 jobs that ended within 1 day were interrupted, which is more than half"
        );
        assert_eq!(queue.rows("SELECT count(*) FROM jobs WHERE status = 'QUEUED'"), ["0"]);
        // One more that ended well, and it is half.
        done(queue, (31, 31));
        reclaim(queue, &[], 0);
        assert_eq!(reclaim(queue, &["--apply", "--limit", "1"], 0)["summary"]["outcomes"]["moved"], 1);
        done(queue, (32, 32));
        assert_eq!(reclaim(queue, &["--apply"], 0)["summary"]["outcomes"]["moved"], 10);
    });
}

#[test]
fn without_such_a_count_a_hundred_are_enough() {
    let failed = |jobs: u32| {
        let rows = format!(
            "INSERT INTO failed_jobs (uuid, connection, queue, payload, exception, failed_at)
             SELECT 'u' || value, 'database', 'mail', '{{}}', 'Illuminate\\Queue\\TimeoutExceededException: X has timed out. in',
                 datetime('now', '-10 minutes') FROM generate_series(1, {jobs})"
        );
        let rows = rows.replace(
            &format!("generate_series(1, {jobs})"),
            &format!("(WITH RECURSIVE t(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM t WHERE value < {jobs}) SELECT value FROM t)"),
        );
        queue_of("laravel", "8.83", &rows)
    };
    let moved = |queue: &Shop| queue.rows("SELECT count(*) FROM jobs");
    let queue = failed(101);
    let refused = reclaim(&queue, &["--apply"], 4);
    assert!(
        refused["brake"]["why"][0]
            .as_str()
            .unwrap()
            .starts_with("101 jobs were interrupted within 1 day, and nothing tells")
    );
    assert_eq!(moved(&queue), ["0"]);
    reclaim(&queue, &["--apply", "--max-jobs", "101"], 0);
    assert_eq!(moved(&queue), ["101"]);
    let queue = failed(100);
    // A living worker may still run what Laravel failed: until the operator has said how long a job may take.
    let plan = |more: &[&str]| queue.run(&[&["reclaim", "--interrupted"], more].concat()).exits(0).stderr;
    assert!(plan(&[]).contains("retry_after (90s) is set in the application"));
    assert!(!plan(&["--option", "retry_after=10m"]).contains("retry_after (90s)"));
    reclaim(&queue, &["--apply"], 0);
    assert_eq!(moved(&queue), ["100"]);
}
