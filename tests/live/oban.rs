//! Oban for Python, from PyPI.

use super::environment::Runtime;
use super::interrupted::{self, By, Interrupted};
use super::later::given_back_for_later;
use super::library::{Late, Library, Patient, Rescue};
use super::oracle;
use super::scenario;

// The sign of life is the producer's row, renewed every second here, of a process that is named with host and number.
// The library's own rescue and its forgetting of producers are put off, so that they are not quicker.
const LIBRARY: Library = Library {
    name: "oban",
    preset: "oban",
    script: "oban/app.py",
    runtime: Runtime::Python(3, 12),
    first: &["--refresh", "1", "--forget", "600", "--rescue-after", "600"],
    again: &["--refresh", "1", "--forget", "600", "--rescue-after", "600"],
    last_attempt: Some(&["--max-attempts", "1"]),
    options: &["--older", "4s"],
    silence: 4.0,
    rule: "owner_silent",
    owner: "SELECT attempted_by[1] FROM oban_jobs WHERE id = $1::text::bigint",
    names: |owner, process| owner.ends_with(&format!(".{process}")),
    attempts: (1, 1),
    row: "SELECT j.xmin || ' ' || j::text FROM oban_jobs AS j WHERE id = $1::text::bigint",
    state: "SELECT concat_ws(', ', state, 'attempt ' || attempt || ' of ' || max_attempts, \
                             CASE WHEN attempted_by IS NOT NULL THEN 'attempted' END, \
                             'rescued ' || (meta ->> 'rescued'), 'errors ' || errors::text, \
                             CASE WHEN scheduled_at <= now() AT TIME ZONE 'UTC' THEN 'due' END, \
                             CASE WHEN completed_at IS NOT NULL THEN 'at its end' END, \
                             CASE WHEN discarded_at IS NOT NULL THEN 'given up' END) \
            FROM oban_jobs WHERE id = $1::text::bigint",
    requeued: "available, attempt 1 of 20, attempted, rescued 1, errors [], due",
    failed: "discarded, attempt 1 of 1, attempted, errors [], due, given up",
    finished: (
        "completed, attempt 2 of 20, attempted, rescued 1, errors [], due, at its end",
        "completed, attempt 1 of 20, attempted, errors [], due, at its end",
    ),
    patient: Some(Patient { arguments: &["--poll", "60"], is_seen: true }),
    // The end of a job is fenced by its attempt.
    late: Late {
        finishes: true,
        then: "executing, attempt 2 of 20, attempted, rescued 1, errors [], due",
        in_the_end: "completed, attempt 2 of 20, attempted, rescued 1, errors [], due, at its end",
    },
    rescue: Some(Rescue {
        // Only a leader rescues, and the dead one would be it for some seconds more.
        age: "WITH leader AS (DELETE FROM oban_leaders) \
              UPDATE oban_jobs SET attempted_at = attempted_at - interval '20 minutes' WHERE id = $1::text::bigint",
        arguments: &["work", "--queue", "other", "--rescue-every", "1"],
        fails: true,
        differs: &["attempted_by"],
    }),
    interrupted: Some(Interrupted {
        by: By::Reaper(&["work", "--queue", "other", "--rescue-every", "1", "--refresh", "1", "--forget", "2"]),
        options: &[],
        // How often it was lost is counted there, so that a budget can end that.
        differs: &["oban_jobs.meta"],
    }),
    ..Library::PLAIN
};

stories! {
    fn jobs_of_a_killed_worker_run_again() { scenario::killed(&LIBRARY) }
    fn a_worker_that_comes_back_cannot_end_the_job_of_the_next() { scenario::stopped(&LIBRARY) }
    fn what_is_left_of_a_job_is_what_its_own_rescue_leaves() { oracle::as_the_library_would(&LIBRARY, "oban_jobs") }
    fn what_its_rescue_discarded_is_brought_back_as_it_would() { interrupted::retried_as_the_library_would(&LIBRARY) }
    fn a_job_that_is_given_back_for_later_runs_then() { given_back_for_later(&LIBRARY) }
}
