//! apalis, from crates.io.

use crate::live::environment::Runtime;
use crate::live::later::given_back_for_later;
use crate::live::library::{Late, Library};
use crate::live::scenario;
use jobdoctor::model::Engine;

// Workers beat every second here. The library's own rescue waits for ten minutes.
const ON_POSTGRES: Library = Library {
    name: "apalis",
    preset: "apalis",
    script: "apalis/app.rs",
    runtime: Runtime::Cargo,
    first: &["--heartbeat", "1"],
    again: &["--heartbeat", "1"],
    last_attempt: Some(&["--max-attempts", "1"]),
    options: &["--older", "4s"],
    silence: 4.0,
    rule: "owner_silent",
    owner: "SELECT lock_by FROM apalis.jobs WHERE id = $1",
    names: |owner, process| owner == format!("worker-{process}"),
    attempts: (0, 1),
    row: "SELECT j.xmin || ' ' || j::text FROM apalis.jobs AS j WHERE id = $1",
    state: "SELECT concat_ws(', ', status, 'attempts ' || attempts, CASE WHEN lock_by IS NOT NULL THEN 'locked' END, \
                             CASE WHEN last_result ->> 'Err' IS NOT NULL THEN 'error' END, \
                             CASE WHEN done_at IS NOT NULL THEN 'ended' END) \
            FROM apalis.jobs WHERE id = $1",
    requeued: "Pending, attempts 1, error",
    failed: "Killed, attempts 1, error, ended",
    finished: ("Done, attempts 2, locked, ended", "Done, attempts 1, locked, ended"),
    // Its end of the job names it as the owner, which it no longer is.
    late: Late {
        finishes: true,
        then: "Running, attempts 1, locked, error",
        in_the_end: "Done, attempts 2, locked, ended",
    },
    ..Library::PLAIN
};

const ON_SQLITE: Library = Library {
    name: "apalis on SQLite",
    engine: Engine::Sqlite,
    owner: "SELECT lock_by FROM Jobs WHERE id = $1",
    row: "SELECT json_array(id, job_type, status, attempts, max_attempts, run_at, last_result, lock_at, lock_by, done_at, priority, \
                            metadata, idempotency_key) FROM Jobs WHERE id = $1",
    state: "SELECT concat_ws(', ', status, 'attempts ' || attempts, iif(lock_by IS NOT NULL, 'locked', NULL), \
                             iif(last_result ->> 'Err' IS NOT NULL, 'error', NULL), iif(done_at IS NOT NULL, 'ended', NULL)) \
            FROM Jobs WHERE id = $1",
    ..ON_POSTGRES
};

stories! {
    fn jobs_of_a_killed_worker_run_again() { [ON_POSTGRES, ON_SQLITE].iter().for_each(scenario::killed) }
    fn a_worker_that_comes_back_ends_nothing() { [ON_POSTGRES, ON_SQLITE].iter().for_each(scenario::stopped) }
    fn a_job_that_is_given_back_for_later_runs_then() { [ON_POSTGRES, ON_SQLITE].iter().for_each(given_back_for_later) }
}
