//! pg-boss, from npm.

use super::environment::Runtime;
use super::interrupted::{self, By, Interrupted};
use super::later::given_back_for_later;
use super::library::{Late, Library, Patient, Rescue};
use super::oracle;
use super::scenario;
use jobdoctor::model::Engine;

// A claim is a lease: it runs out after the job's own `expire_seconds`. Nothing in the table says who holds it.
const NEWER: Library = Library {
    name: "pg-boss 12.38",
    preset: "pg-boss",
    script: "pg-boss/app.cjs",
    runtime: Runtime::Node("pg-boss"),
    enqueue: &["--notify"],
    first: &["--notify"],
    again: &["--notify"],
    last_attempt: Some(&["--max-attempts", "1"]),
    // 15 minutes are the library's default. A first heartbeat is written with the claim, whether others follow or not.
    age: Some(
        "UPDATE pgboss.job SET started_on = started_on - interval '20 minutes', \
                               heartbeat_on = heartbeat_on - interval '20 minutes' WHERE id = $1::text::uuid",
    ),
    silence: 15.0 * 60.0,
    rule: "lease_expired",
    owner: "SELECT NULL::text FROM pgboss.job WHERE id = $1::text::uuid",
    names: |_, _| false,
    // What the library calls a retry is the second attempt, and the next claim counts it.
    attempts: (0, 0),
    row: "SELECT concat_ws(' ', j.tableoid, j.xmin, j) FROM pgboss.job AS j WHERE id = $1::text::uuid",
    state: "SELECT concat_ws(', ', state, 'retry ' || retry_count || ' of ' || retry_limit, \
                             CASE WHEN started_on IS NOT NULL THEN 'started' END, \
                             CASE WHEN completed_on IS NOT NULL THEN 'completed' END, \
                             CASE WHEN start_after <= now() THEN 'due' END, \
                             CASE WHEN output IS NOT NULL THEN 'output' END) \
            FROM pgboss.job WHERE id = $1::text::uuid",
    requeued: "retry, retry 0 of 2, started, due, output",
    failed: "failed, retry 0 of 0, started, completed, due, output",
    finished: ("completed, retry 1 of 2, started, completed, due", "completed, retry 0 of 2, started, completed, due"),
    patient: Some(Patient { arguments: &["--poll", "60"], is_seen: true }),
    late: Late {
        finishes: true,
        then: "active, retry 1 of 2, started, due, output",
        in_the_end: "completed, retry 1 of 2, started, completed, due",
    },
    rescue: Some(Rescue {
        age: "UPDATE pgboss.job SET started_on = started_on - interval '20 minutes', \
                                    heartbeat_on = heartbeat_on - interval '20 minutes' WHERE id = $1::text::uuid",
        arguments: &["rescue", "--queue", "a"],
        fails: true,
        differs: &["output", "source_output"],
    }),
    interrupted: Some(Interrupted {
        by: By::Reaper(&["rescue", "--queue", "a"]),
        options: &[],
        // Where each process of the library registers itself.
        differs: &["pgboss.instance."],
    }),
    ..Library::PLAIN
};

// The same, except that the end of a job is not fenced: it is by state alone.
const OLDER: Library = Library {
    name: "pg-boss 12.27",
    runtime: Runtime::Node("pg-boss-12.27"),
    engine: Engine::Postgres,
    interrupted: Some(Interrupted {
        by: By::Reaper(&["rescue", "--queue", "a"]),
        options: &[],
        // A retry of this version leaves it, and one before 12.26 completed_on as well.
        differs: &["pgboss.job.start_after", "pgboss.job_common.start_after"],
    }),
    late: Late::both_end_in("completed, retry 1 of 2, started, completed, due"),
    ..NEWER
};

// A queue in a table of its own, whose failed jobs are copied into another queue.
const DEAD_LETTERS: Library = Library {
    name: "pg-boss 12.38 with dead letters",
    enqueue: &["--partition", "--dead-letter", "dead"],
    first: &["--partition", "--dead-letter", "dead"],
    ..NEWER
};

const OLDER_DEAD_LETTERS: Library =
    Library { name: "pg-boss 12.27 with dead letters", runtime: OLDER.runtime, ..DEAD_LETTERS };

// With heartbeats, which 10 s must be allowed at least for.
const BEATING: Library = Library {
    name: "pg-boss 12.38 with heartbeats",
    enqueue: &["--notify", "--heartbeat", "10"],
    first: &["--notify", "--refresh", "1"],
    again: &["--notify", "--refresh", "1"],
    age: Some("UPDATE pgboss.job SET heartbeat_on = heartbeat_on - interval '10 seconds' WHERE id = $1::text::uuid"),
    silence: 10.0,
    rule: "heartbeat_silent",
    row: "SELECT (to_jsonb(j) - 'heartbeat_on')::text FROM pgboss.job AS j WHERE id = $1::text::uuid",
    ..NEWER
};

stories! {
    fn jobs_of_a_killed_worker_run_again() { scenario::killed(&NEWER) }
    fn jobs_of_a_killed_worker_run_again_in_an_older_version() { scenario::killed(&OLDER) }
    fn jobs_of_a_killed_worker_that_sent_heartbeats_run_again() { scenario::killed(&BEATING) }
    fn a_worker_that_comes_back_cannot_end_the_job_of_the_next() { scenario::stopped(&NEWER) }
    fn a_worker_that_comes_back_ends_the_job_of_the_next_in_an_older_version() { scenario::stopped(&OLDER) }
    fn what_is_left_of_a_job_is_what_its_own_rescue_leaves() { oracle::as_the_library_would(&NEWER, "pgboss.job") }
    fn what_is_left_of_a_job_is_what_its_own_rescue_leaves_in_an_older_version() { oracle::as_the_library_would(&OLDER, "pgboss.job") }
    fn a_dead_letter_is_what_its_own_rescue_writes() { oracle::as_the_library_would(&DEAD_LETTERS, "pgboss.job") }
    fn a_dead_letter_is_what_its_own_rescue_writes_in_an_older_version() { oracle::as_the_library_would(&OLDER_DEAD_LETTERS, "pgboss.job") }
    fn what_its_supervisor_failed_is_brought_back_as_it_would() { interrupted::retried_as_the_library_would(&NEWER) }
    fn what_its_supervisor_failed_is_brought_back_in_an_older_version() { interrupted::retried_as_the_library_would(&OLDER) }
    fn a_job_that_is_given_back_for_later_runs_then() { given_back_for_later(&NEWER) }
}
