//! Laravel's database queue, with its own components from Debian.

use crate::live::environment::Runtime;
use crate::live::interrupted::{self, By, Interrupted};
use crate::live::later::given_back_for_later;
use crate::live::library::{Late, Library};
use crate::live::scenario;

// A claim shows nothing but its age; a worker would take it over after 90 s. So A's claims are moved back in time, while no
// worker looks at their queue.
const LIBRARY: Library = Library {
    name: "laravel",
    preset: "laravel",
    script: "laravel/app.php",
    runtime: Runtime::Php(&["Illuminate/Queue", "Illuminate/Events", "Illuminate/Console"]),
    last_attempt: Some(&["--tries", "1"]),
    age: Some("UPDATE jobs SET reserved_at = reserved_at - 120 WHERE id = $1::text::bigint"),
    silence: 120.0,
    rule: "claim_age",
    owner: "SELECT NULL::text FROM jobs WHERE id = $1::text::bigint",
    names: |_, _| false,
    attempts: (1, 1),
    row: "SELECT j.xmin || ' ' || j::text FROM jobs AS j WHERE id = $1::text::bigint",
    state: "SELECT concat_ws(', ', 'attempts ' || attempts, CASE WHEN reserved_at IS NULL THEN 'free' ELSE 'reserved' END, \
                             CASE WHEN available_at <= extract(epoch FROM now()) THEN 'due' END) \
            FROM jobs WHERE id = $1::text::bigint \
            UNION ALL SELECT 'in failed_jobs of ' || connection FROM failed_jobs WHERE payload::json ->> 'id' = $1",
    requeued: "attempts 1, free, due",
    failed: "in failed_jobs of database",
    finished: ("gone", "gone"),
    // Who finishes first deletes the row; the other deletes nothing.
    late: Late::both_end_in("gone"),
    interrupted: Some(Interrupted {
        by: By::Reaper(&["work", "--queue", "a"]),
        options: &["--option", "connection=default"],
        differs: &[],
    }),
    ..Library::PLAIN
};

stories! {
    fn jobs_of_a_killed_worker_run_again() { scenario::killed(&LIBRARY) }
    fn a_worker_that_comes_back_deletes_the_job_of_the_next() { scenario::stopped(&LIBRARY) }
    fn what_the_next_worker_failed_is_brought_back_as_it_would() { interrupted::retried_as_the_library_would(&LIBRARY) }
    fn a_job_that_is_given_back_for_later_runs_then() { given_back_for_later(&LIBRARY) }
}
