//! What `reclaim` plans, prints and does.

use super::scene::{STATE, incident, orphans};

#[test]
fn exactly_the_listed_jobs_move() {
    let doctor = incident();
    let before = doctor.rows(STATE);
    doctor.on_queue(&["reclaim", "--apply"]).exits(0);
    let after = doctor.rows(STATE);
    assert_eq!(
        after[..5],
        [
            "1 QUEUED - 2",
            // Out of attempts: failed, never back to the queue.
            "2 FAILED web2:911 5",
            "3 QUEUED - 1",
            // Somebody wanted it cancelled.
            "4 CANCELLED - 2",
            "5 QUEUED - 1",
        ]
    );
    assert_eq!(after[5..], before[5..]);
}

#[test]
fn to_where_it_is_told() {
    let doctor = incident();
    doctor.on_queue(&["reclaim", "--id", "1", "--to", "fail", "--apply"]).exits(0);
    doctor.on_queue(&["reclaim", "--id", "3", "--to", "cancel", "--apply"]).exits(0);
    assert_eq!(doctor.rows("SELECT id, status FROM jobs WHERE id IN (1, 3)"), ["1 FAILED", "3 CANCELLED"]);
}

#[test]
fn more_than_a_batch() {
    let doctor = orphans(1234);
    let ran = doctor.on_queue(&["reclaim", "--apply", "--max-jobs", "1234"]).exits(0);
    assert_eq!(ran.stderr.lines().last(), Some("requeued 1,234 jobs"));
    assert_eq!(ran.stdout.lines().count(), 1235, "a pipe gets every row");
    assert_eq!(doctor.rows("SELECT status, attempts, count(*) FROM jobs GROUP BY 1, 2"), ["QUEUED 1 1234"]);
}

#[test]
fn the_next_command_does_what_was_shown() {
    let doctor = incident();
    let line = "reclaim --db queue.db --queue mail* --older=5m --limit 2 --color never -o wide";
    let said = doctor.run(&line.split(' ').collect::<Vec<_>>()).exits(0).stderr;
    let next = said.lines().find_map(|line| line.strip_prefix("to do exactly this: ")).unwrap();
    let (next, digest) = next.split_once(" --expect ").unwrap();
    assert_eq!(digest.split_once(' ').map(|(digest, rest)| (digest.len(), rest)), Some((16, "--apply")));
    assert_eq!(next, "jobdoctor reclaim --db queue.db --queue 'mail*' --older=5m --limit 2");
}

/// Behind a pulled brake too: it is bound to the plan and overrides the brake.
#[test]
fn the_next_command_is_not_refused() {
    let doctor = orphans(70);
    doctor.sql("UPDATE jobs SET attempts = 5 WHERE id = 3");
    let dry = doctor.on_queue(&["reclaim"]).exits(0).stderr;
    assert!(dry.contains("70 jobs to move (69 requeue, 1 fail)"), "{dry}");
    let refused = doctor.on_queue(&["reclaim", "--apply"]).exits(4).stderr;
    for (said, before) in
        [(&refused, "if that is right all the same: jobdoctor "), (&dry, "to do exactly this: jobdoctor ")]
    {
        let next = said.lines().find_map(|line| line.strip_prefix(before)).unwrap();
        assert!(next.contains(" --expect ") && next.ends_with(" --apply --max-jobs 70"), "{next}");
    }
    let next = dry.lines().find_map(|line| line.strip_prefix("to do exactly this: jobdoctor ")).unwrap();
    doctor.run(&next.split(' ').collect::<Vec<_>>()).exits(0);
    assert_eq!(doctor.rows("SELECT status, count(*) FROM jobs GROUP BY 1"), ["FAILED 1", "QUEUED 69"]);
}
