//! PGQueuer, from PyPI.

use super::environment::Runtime;
use super::later::given_back_for_later;
use super::library::{Late, Library, Patient};
use super::scenario;

// A claim has a heartbeat on its row, every half of the worker's own time-out. Any worker takes over what was silent
// for longer than its time-out: those that run jobs again have a long one, so that they leave this to jobdoctor.
const LIBRARY: Library = Library {
    name: "pgqueuer",
    preset: "pgqueuer",
    script: "pgqueuer/app.py",
    runtime: Runtime::Python(3, 10),
    first: &["--heartbeat-timeout", "2"],
    again: &["--heartbeat-timeout", "600"],
    options: &["--older", "5s"],
    silence: 5.0,
    rule: "heartbeat_silent",
    owner: "SELECT queue_manager_id::text FROM pgqueuer WHERE id = $1::text::bigint",
    names: |owner, _| owner.len() == 36,
    attempts: (0, 1),
    row: "SELECT (to_jsonb(j) - 'heartbeat')::text FROM pgqueuer AS j WHERE id = $1::text::bigint",
    state: "SELECT coalesce((SELECT concat_ws(', ', status, 'attempts ' || attempts, \
                                   CASE WHEN queue_manager_id IS NULL THEN 'free' ELSE 'taken' END, \
                                   CASE WHEN execute_after <= now() THEN 'due' END) \
                             FROM pgqueuer WHERE id = $1::text::bigint), 'gone') \
                   || '; log: ' || (SELECT string_agg(status::text, ', ' ORDER BY id) \
                                    FROM pgqueuer_log WHERE job_id = $1::text::bigint)",
    requeued: "queued, attempts 1, free, due; log: queued, picked, queued",
    failed: "failed, attempts 0, free, due; log: queued, picked, failed",
    finished: ("gone; log: queued, picked, queued, picked, successful", "gone; log: queued, picked, successful"),
    // It listens in the one session that it also works in.
    patient: Some(Patient { arguments: &["--poll", "60"], is_seen: false }),
    late: Late::both_end_in("gone; log: queued, picked, queued, picked, successful"),
    ..Library::PLAIN
};

stories! {
    fn jobs_of_a_killed_worker_run_again() { scenario::killed(&LIBRARY) }
    fn a_worker_that_comes_back_deletes_the_job_of_the_next() { scenario::stopped(&LIBRARY) }
    fn a_job_that_is_given_back_for_later_runs_then() { given_back_for_later(&LIBRARY) }
}
