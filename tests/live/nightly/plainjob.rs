//! plainjob, from npm, on SQLite.

use crate::live::environment::Runtime;
use crate::live::later::given_back_for_later;
use crate::live::library::{Late, Library, NO_COUNTER};
use crate::live::scenario;
use jobdoctor::model::Engine;

// Nothing but how long a job has been due tells its age. The library's own rescue, a minute after a worker's start, asks for 30 minutes:
// less than those, so that it is not quicker.
const LIBRARY: Library = Library {
    name: "plainjob",
    preset: "plainjob",
    script: "plainjob/app.cjs",
    runtime: Runtime::NodeSqlite("plainjob"),
    engine: Engine::Sqlite,
    options: &["--older", "15m"],
    age: Some("UPDATE plainjob_jobs SET next_run_at = next_run_at - 1200000 WHERE id = $1"),
    silence: 0.0,
    rule: "claim_age",
    owner: "SELECT NULL FROM plainjob_jobs WHERE id = $1",
    names: |_, _| false,
    attempts: NO_COUNTER,
    row: "SELECT json_array(id, type, data, status, failed_at, error, next_run_at, created_at) FROM plainjob_jobs WHERE id = $1",
    state: "SELECT concat_ws(', ', 'status ' || status, \
                             iif(next_run_at <= unixepoch('subsec') * 1000 AND next_run_at > 1e12, 'due', NULL), \
                             iif(failed_at > 1e12, 'failed', NULL), iif(error IS NOT NULL, 'error', NULL)) \
            FROM plainjob_jobs WHERE id = $1",
    requeued: "status 0, due",
    failed: "status 3, due, failed, error",
    finished: ("status 2, due", "status 2, due"),
    late: Late::both_end_in("status 2, due"),
    ..Library::PLAIN
};

stories! {
    fn jobs_of_a_killed_worker_run_again() { scenario::killed(&LIBRARY) }
    fn a_worker_that_comes_back_marks_the_job_of_the_next_as_done() { scenario::stopped(&LIBRARY) }
    fn a_job_that_is_given_back_for_later_runs_then() { given_back_for_later(&LIBRARY) }
}
