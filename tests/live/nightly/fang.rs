//! fang, from crates.io.

use crate::live::environment::Runtime;
use crate::live::later::given_back_for_later;
use crate::live::library::{Late, Library};
use crate::live::scenario;
use jobdoctor::model::Engine;

// A claim shows its age alone, so A's claims are moved back in time. How often a task may be retried is in the application's code.
const ON_POSTGRES: Library = Library {
    name: "fang",
    preset: "fang",
    script: "fang/app.rs",
    runtime: Runtime::Cargo,
    // Workers that look at the same moment may run the same task.
    again: &["--concurrency", "1"],
    // It fails twice, at once, and is then in its last run.
    last_attempt: Some(&["--fails", "2"]),
    options: &["--older", "2h", "--option", "max_retries=2"],
    age: Some("UPDATE fang_tasks SET updated_at = updated_at - interval '3 hours' WHERE id::text = $1"),
    silence: 3.0 * 3600.0,
    rule: "claim_age",
    owner: "SELECT NULL::text FROM fang_tasks WHERE id::text = $1",
    names: |_, _| true,
    attempts: (0, 1),
    row: "SELECT j.xmin || ' ' || j::text FROM fang_tasks AS j WHERE id::text = $1",
    state: "SELECT concat_ws(', ', state, 'retries ' || retries, CASE WHEN scheduled_at <= now() THEN 'due' END, \
                             CASE WHEN error_message IS NOT NULL THEN 'error' END) \
            FROM fang_tasks WHERE id::text = $1",
    requeued: "retried, retries 1, due, error",
    failed: "failed, retries 2, due, error",
    finished: ("finished, retries 1, due, error", "finished, retries 0, due"),
    // Whoever finishes first ends the task, and the other ends it again.
    late: Late::both_end_in("finished, retries 1, due, error"),
    ..Library::PLAIN
};

const ON_SQLITE: Library = Library {
    name: "fang on SQLite",
    engine: Engine::Sqlite,
    age: Some(
        "UPDATE fang_tasks SET updated_at = strftime('%Y-%m-%dT%H:%M:%f', updated_at, '-3 hours') || '456789+00:00' \
         WHERE lower(hex(id)) = $1",
    ),
    owner: "SELECT NULL FROM fang_tasks WHERE lower(hex(id)) = $1",
    row: "SELECT json_array(metadata, error_message, state, task_type, uniq_hash, retries, scheduled_at, created_at, updated_at) \
          FROM fang_tasks WHERE lower(hex(id)) = $1",
    state: "SELECT concat_ws(', ', state, 'retries ' || retries, \
                             iif(scheduled_at <= strftime('%Y-%m-%dT%H:%M:%f', 'now') || '999999+00:00', 'due', NULL), \
                             iif(error_message IS NOT NULL, 'error', NULL)) \
            FROM fang_tasks WHERE lower(hex(id)) = $1",
    ..ON_POSTGRES
};

stories! {
    fn jobs_of_a_killed_worker_run_again() { [ON_POSTGRES, ON_SQLITE].iter().for_each(scenario::killed) }
    fn a_worker_that_comes_back_ends_the_task_of_the_next() { [ON_POSTGRES, ON_SQLITE].iter().for_each(scenario::stopped) }
    /// Workers compare the time as text, by its bytes.
    fn a_job_that_is_given_back_for_later_runs_then() { given_back_for_later(&ON_SQLITE) }
}
