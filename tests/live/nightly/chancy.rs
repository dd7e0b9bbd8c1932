//! Chancy, from PyPI.

use crate::live::environment::Runtime;
use crate::live::interrupted::{self, By, Interrupted};
use crate::live::later::given_back_for_later;
use crate::live::library::{Late, Library, Patient, Rescue};
use crate::live::oracle;
use crate::live::scenario;

// The sign of life is the worker's row, renewed every second here. The library's own rescue comes after 90 s.
const LIBRARY: Library = Library {
    name: "chancy",
    preset: "chancy",
    script: "chancy/app.py",
    runtime: Runtime::Python(3, 12),
    first: &["--heartbeat", "1"],
    again: &["--heartbeat", "1"],
    options: &["--older", "5s"],
    silence: 5.0,
    rule: "owner_silent",
    owner: "SELECT taken_by FROM chancy_jobs WHERE id = $1::text::uuid",
    names: |owner, process| owner == format!("worker-{process}"),
    attempts: (0, 0),
    row: "SELECT j.xmin || ' ' || j::text FROM chancy_jobs AS j WHERE id = $1::text::uuid",
    state: "SELECT concat_ws(', ', state, 'attempts ' || attempts || ' of ' || max_attempts, \
                             CASE WHEN taken_by IS NOT NULL THEN 'taken' END, CASE WHEN claim_id IS NOT NULL THEN 'claim' END, \
                             CASE WHEN started_at IS NOT NULL THEN 'started' END, \
                             CASE WHEN completed_at IS NOT NULL THEN 'completed' END, \
                             CASE WHEN scheduled_at <= now() THEN 'due' END, 'errors ' || jsonb_array_length(errors)) \
            FROM chancy_jobs WHERE id = $1::text::uuid",
    requeued: "pending, attempts 0 of 2, due, errors 0",
    failed: "failed, attempts 1 of 1, taken, started, completed, due, errors 1",
    finished: (
        "succeeded, attempts 1 of 2, taken, claim, started, completed, due, errors 0",
        "succeeded, attempts 1 of 1, taken, claim, started, completed, due, errors 0",
    ),
    patient: Some(Patient { arguments: &["--poll", "60"], is_seen: true }),
    // What it saves is for a claim that is no more.
    late: Late {
        finishes: true,
        then: "running, attempts 0 of 2, taken, claim, started, due, errors 0",
        in_the_end: "succeeded, attempts 1 of 2, taken, claim, started, completed, due, errors 0",
    },
    rescue: Some(Rescue {
        // A worker that is killed at once has not beaten yet.
        age: "INSERT INTO chancy_workers (worker_id, queues, last_seen, expires_at) \
              SELECT taken_by, '{a}', now() - interval '2 minutes', now() FROM chancy_jobs WHERE id = $1::text::uuid \
              ON CONFLICT (worker_id) DO UPDATE SET last_seen = excluded.last_seen",
        arguments: &["rescue"],
        fails: false,
        differs: &[],
    }),
    interrupted: Some(Interrupted { by: By::Itself(&["--processes"]), options: &[], differs: &[] }),
    ..Library::PLAIN
};

stories! {
    fn jobs_of_a_killed_worker_run_again() { scenario::killed(&LIBRARY) }
    fn a_worker_that_comes_back_changes_nothing() { scenario::stopped(&LIBRARY) }
    fn a_job_that_is_given_back_for_later_runs_then() { given_back_for_later(&LIBRARY) }
    fn what_its_broken_pool_failed_is_brought_back_as_it_would() { interrupted::retried_as_the_library_would(&LIBRARY) }
    fn a_rescue_is_as_the_librarys_own() { oracle::as_the_library_would(&LIBRARY, "chancy_jobs") }
}
