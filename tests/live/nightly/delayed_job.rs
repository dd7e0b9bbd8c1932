//! Delayed Job with Active Record on SQLite.

use crate::live::delayed_job::LIBRARY;
use crate::live::library::Library;
use crate::live::scenario;
use jobdoctor::model::Engine;

const ON_SQLITE: Library = Library {
    name: "delayed-job on SQLite",
    engine: Engine::Sqlite,
    age: Some(
        "UPDATE delayed_jobs SET locked_at = strftime('%Y-%m-%d %H:%M:%f000', locked_at, '-3 hours') WHERE id = $1",
    ),
    owner: "SELECT locked_by FROM delayed_jobs WHERE id = $1",
    row: "SELECT json_array(id, priority, attempts, handler, last_error, run_at, locked_at, failed_at, locked_by, queue, created_at, \
                            updated_at) FROM delayed_jobs WHERE id = $1",
    state: "SELECT concat_ws(', ', 'attempts ' || attempts, iif(locked_at IS NULL, 'free', 'locked') \
                             || iif(locked_by IS NULL, '', ' by a worker'), \
                             iif(run_at <= strftime('%Y-%m-%d %H:%M:%f', 'now'), 'due', NULL), \
                             iif(last_error IS NOT NULL, 'error', NULL), iif(failed_at IS NOT NULL, 'failed', NULL)) \
            FROM delayed_jobs WHERE id = $1",
    ..LIBRARY
};

stories! {
    fn jobs_of_a_killed_worker_run_again() { scenario::killed(&ON_SQLITE) }
}
