//! Delayed Job with Active Record, from Debian.

use super::environment::Runtime;
use super::later::given_back_for_later;
use super::library::{Late, Library};
use super::scenario;

// A claim shows its age and its worker; the library itself would wait for 4 hours before another worker takes it. So
// A's claims are moved back in time, by less than that. How many attempts a job has is in the application's code alone.
pub(super) const LIBRARY: Library = Library {
    name: "delayed-job",
    preset: "delayed-job",
    script: "delayed-job/app.rb",
    runtime: Runtime::Ruby(&["pg", "sqlite3", "delayed_job_active_record"]),
    first: &["--poll", "0.5", "--keep-failed"],
    again: &["--poll", "0.5", "--keep-failed"],
    // It fails twice, at once, and is then in its third attempt.
    last_attempt: Some(&["--attempts", "2"]),
    options: &["--older", "2h", "--option", "max_attempts=3"],
    age: Some("UPDATE delayed_jobs SET locked_at = locked_at - interval '3 hours' WHERE id = $1::text::bigint"),
    silence: 3.0 * 3600.0,
    rule: "claim_age",
    owner: "SELECT locked_by::text FROM delayed_jobs WHERE id = $1::text::bigint",
    names: |owner, process| owner.ends_with(&format!(" pid:{process}")),
    attempts: (0, 1),
    row: "SELECT j.xmin || ' ' || j::text FROM delayed_jobs AS j WHERE id = $1::text::bigint",
    state: "SELECT concat_ws(', ', 'attempts ' || attempts, CASE WHEN locked_at IS NULL THEN 'free' ELSE 'locked' END \
                             || CASE WHEN locked_by IS NULL THEN '' ELSE ' by a worker' END, \
                             CASE WHEN run_at <= now() AT TIME ZONE 'UTC' THEN 'due' END, \
                             CASE WHEN last_error IS NOT NULL THEN 'error' END, \
                             CASE WHEN failed_at IS NOT NULL THEN 'failed' END) \
            FROM delayed_jobs WHERE id = $1::text::bigint",
    requeued: "attempts 1, free, due, error",
    failed: "attempts 3, locked by a worker, due, error, failed",
    finished: ("gone", "gone"),
    // Whoever finishes first deletes the row; the other deletes nothing.
    late: Late::both_end_in("gone"),
    ..Library::PLAIN
};

stories! {
    fn jobs_of_a_killed_worker_run_again() { scenario::killed(&LIBRARY) }
    fn a_worker_that_comes_back_deletes_the_job_of_the_next() { scenario::stopped(&LIBRARY) }
    fn a_job_that_is_given_back_for_later_runs_then() { given_back_for_later(&LIBRARY) }
}
