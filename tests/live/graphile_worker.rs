//! Graphile Worker, from npm.

use super::environment::Runtime;
use super::later::given_back_for_later;
use super::library::{Late, Library, Patient, Rescue};
use super::looks::A_WHILE;
use super::oracle;
use super::scenario;
use super::transcript::Transcript;

// A claim shows its age and its pool; the library itself would wait for 4 hours. So A's claims are moved back in time,
// by less than that: its own rescue, within a minute of a worker's start, shall not be quicker.
const NEWER: Library = Library {
    name: "graphile-worker 0.18",
    preset: "graphile-worker",
    script: "graphile-worker/app.cjs",
    runtime: Runtime::Node("graphile-worker"),
    last_attempt: Some(&["--max-attempts", "1"]),
    options: &["--older", "2h"],
    age: Some(
        "UPDATE graphile_worker._private_jobs SET locked_at = locked_at - interval '3 hours' \
         WHERE id = $1::text::bigint",
    ),
    silence: 3.0 * 3600.0,
    rule: "claim_age",
    owner: "SELECT locked_by FROM graphile_worker._private_jobs WHERE id = $1::text::bigint",
    names: |owner, _| owner.starts_with("pool-"),
    attempts: (1, 1),
    row: "SELECT j.xmin || ' ' || j::text FROM graphile_worker._private_jobs AS j WHERE id = $1::text::bigint",
    state: "SELECT concat_ws(', ', 'attempts ' || attempts || ' of ' || max_attempts, \
                             CASE WHEN locked_at IS NULL THEN 'free' ELSE 'locked' END || CASE WHEN locked_by IS NULL \
                             THEN '' ELSE ' by a pool' END, CASE WHEN is_available THEN 'available' END, \
                             CASE WHEN run_at <= now() THEN 'due' END, \
                             CASE WHEN last_error IS NOT NULL THEN 'error' END) \
            FROM graphile_worker._private_jobs WHERE id = $1::text::bigint",
    requeued: "attempts 1 of 25, free, available, due",
    failed: "attempts 1 of 1, free, due, error",
    finished: ("gone", "gone"),
    patient: Some(Patient { arguments: &["--poll", "60"], is_seen: true }),
    // Whoever finishes first deletes the row; the other deletes nothing.
    late: Late::both_end_in("gone"),
    rescue: Some(Rescue {
        age: "UPDATE graphile_worker._private_jobs SET locked_at = locked_at - interval '5 hours' \
              WHERE id = $1::text::bigint",
        arguments: &["rescue"],
        // It only unlocks a job that is out of attempts, which then stays for ever and says nothing.
        fails: false,
        differs: &[],
    }),
    ..Library::PLAIN
};

const OLDER: Library =
    Library { name: "graphile-worker 0.17", runtime: Runtime::Node("graphile-worker-0.17"), ..NEWER };

stories! {
    fn jobs_of_a_killed_worker_run_again() { scenario::killed(&NEWER) }
    fn jobs_of_a_killed_worker_run_again_in_the_version_before() { scenario::killed(&OLDER) }
    fn a_worker_that_comes_back_deletes_the_job_of_the_next() { scenario::stopped(&NEWER) }
    fn what_is_left_of_a_job_is_what_its_own_rescue_leaves() { oracle::as_the_library_would(&NEWER, "graphile_worker._private_jobs") }
}

#[test]
fn a_named_queue_is_free_again() {
    let Some(app) = NEWER.application() else { return };
    let mut told = Transcript::new("graphile-worker 0.18: a worker is killed that holds a named queue");
    let mut client = app.client();
    let held = app.enqueue(&["1", "--named-queue", "n", "--seconds", "600", "--seconds-again", "0.2"]);
    let waiting = app.enqueue(&["1", "--named-queue", "n", "--seconds", "0.2"]);
    let mut a = app.work("A", &["--concurrency", "2"]);
    assert_eq!(a.wait_for("started", 1, A_WHILE), held);
    a.kill();
    NEWER.make_old(&mut app.session(), &held);
    // Both were locked in the same instant.
    let queue = "UPDATE graphile_worker._private_job_queues SET locked_at = locked_at - interval '3 hours'";
    client.execute(queue, &[]).expect("make the queue's lock old");
    told.say(&format!("SIGKILL for A, which held {held:?} and with it the queue of {waiting:?}"));

    let done = app.document(&["reclaim", "--older", "2h", "--apply"]);
    assert_eq!(done["summary"]["outcomes"]["moved"], 1, "{done}");
    let free: bool = client
        .query_one("SELECT is_available AND locked_by IS NULL FROM graphile_worker._private_job_queues", &[])
        .expect("the queue")
        .get(0);
    assert!(free, "the queue is unlocked with its job");
    let mut c = app.work("C", &["--concurrency", "2"]);
    assert_eq!(c.wait_for("finished", 2, A_WHILE), [held, waiting].concat());
    told.say("C has run both");
    NEWER.ran();
}

stories! {
    fn a_job_that_is_given_back_for_later_runs_then() { given_back_for_later(&NEWER) }
}
