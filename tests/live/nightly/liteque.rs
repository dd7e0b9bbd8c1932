//! liteque, from npm, on SQLite.

use crate::live::environment::Runtime;
use crate::live::later::given_back_for_later;
use crate::live::library::{Late, Library};
use crate::live::scenario;
use jobdoctor::model::Engine;

// A claim is a lease, here of ten minutes, which A's claims are moved beyond: a worker of the library takes an expired job at its next
// poll, but none of that queue is there.
const LIBRARY: Library = Library {
    name: "liteque",
    preset: "liteque",
    script: "liteque/app.cjs",
    runtime: Runtime::NodeSqlite("liteque"),
    engine: Engine::Sqlite,
    last_attempt: Some(&["--max-attempts", "1"]),
    age: Some("UPDATE tasks SET expireAt = expireAt - 3600 WHERE id = $1"),
    silence: 0.0,
    rule: "lease_expired",
    owner: "SELECT NULL FROM tasks WHERE id = $1",
    names: |_, _| false,
    attempts: (1, 1),
    row: "SELECT json_array(id, queue, payload, createdAt, status, expireAt, allocationId, numRunsLeft, maxNumRuns, idempotencyKey, \
                            priority, availableAt) FROM tasks WHERE id = $1",
    state: "SELECT concat_ws(', ', status, numRunsLeft || ' of ' || maxNumRuns || ' left', \
                             iif(expireAt > unixepoch(), 'leased', NULL), \
                             iif(availableAt <= unixepoch('subsec') * 1000 AND availableAt > 1e12, 'due', NULL)) \
            FROM tasks WHERE id = $1",
    requeued: "pending_retry, 2 of 3 left, due",
    failed: "failed, 0 of 1 left, due",
    finished: ("gone", "gone"),
    // Its allocationId is another one by then.
    late: Late { finishes: true, then: "running, 1 of 3 left, leased, due", in_the_end: "gone" },
    ..Library::PLAIN
};

stories! {
    fn jobs_of_a_killed_worker_run_again() { scenario::killed(&LIBRARY) }
    fn a_worker_that_comes_back_cannot_end_the_job_of_the_next() { scenario::stopped(&LIBRARY) }
    fn a_job_that_is_given_back_for_later_runs_then() { given_back_for_later(&LIBRARY) }
}
