//! litequeue, from PyPI.

use crate::live::environment::Runtime;
use crate::live::library::{Late, Library};
use crate::live::scenario;
use jobdoctor::model::Engine;

// A claim shows its age and no worker, and the library rescues nothing unless the application asks it to. So A's claims are moved back
// in time. Each worker that starts after a reclaim opens the file, which the library refuses if it finds a table of others there.
const LIBRARY: Library = Library {
    name: "litequeue",
    preset: "litequeue",
    script: "litequeue/app.py",
    runtime: Runtime::Python(3, 12),
    engine: Engine::Sqlite,
    age: Some("UPDATE \"Queue\" SET lock_time = lock_time - 10800000000000 WHERE message_id = $1"),
    silence: 3.0 * 3600.0,
    rule: "claim_age",
    owner: "SELECT NULL FROM \"Queue\" WHERE message_id = $1",
    names: |_, _| false,
    attempts: (1, 1),
    row: "SELECT json_array(data, message_id, status, in_time, lock_time, done_time, idempotency_key, claim_id) \
          FROM \"Queue\" WHERE message_id = $1",
    state: "SELECT concat_ws(', ', CASE status WHEN 0 THEN 'ready' WHEN 1 THEN 'locked' WHEN 2 THEN 'done' WHEN 3 THEN 'failed' END, \
                             'claim ' || claim_id, iif(lock_time IS NULL, NULL, 'lock ' || typeof(lock_time)), \
                             iif(abs(unixepoch() * 1000000000 - done_time) < 60000000000, 'ended', NULL)) \
            FROM \"Queue\" WHERE message_id = $1",
    requeued: "ready, claim 1",
    failed: "failed, claim 1, lock integer, ended",
    finished: ("done, claim 2, lock integer, ended", "done, claim 1, lock integer, ended"),
    // Its claim is number 1, and the message in claim number 2.
    late: Late {
        finishes: false,
        then: "locked, claim 2, lock integer",
        in_the_end: "done, claim 2, lock integer, ended",
    },
    ..Library::PLAIN
};

stories! {
    fn jobs_of_a_killed_worker_run_again() { scenario::killed(&LIBRARY) }
    fn a_worker_that_comes_back_is_refused() { scenario::stopped(&LIBRARY) }
}
