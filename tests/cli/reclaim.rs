//! What `reclaim` plans, prints and does.

use super::scene::{STATE, calm, incident, orphans};
use insta::assert_snapshot;

#[test]
fn table() {
    assert_snapshot!(incident().run(&["reclaim", "--db", "queue.db"]).whole());
}

#[test]
fn wide() {
    assert_snapshot!(incident().run(&["reclaim", "--db", "queue.db", "-o", "wide"]).whole());
}

#[test]
fn json() {
    assert_snapshot!(incident().run(&["reclaim", "--db", "queue.db", "-o", "json"]).whole());
}

#[test]
fn jsonl() {
    assert_snapshot!(incident().run(&["reclaim", "--db", "queue.db", "-o", "jsonl"]).whole());
}

#[test]
fn csv() {
    assert_snapshot!(incident().run(&["reclaim", "--db", "queue.db", "-o", "csv"]).whole());
}

#[test]
fn name() {
    assert_snapshot!(incident().run(&["reclaim", "--db", "queue.db", "-o", "name"]).whole());
}

#[test]
fn none() {
    assert_snapshot!(incident().run(&["reclaim", "--db", "queue.db", "-o", "none"]).whole());
}

#[test]
fn nothing_to_do() {
    assert_snapshot!(calm().run(&["reclaim", "--db", "queue.db"]).whole());
}

#[test]
fn applied_table() {
    assert_snapshot!(incident().run(&["reclaim", "--db", "queue.db", "--apply"]).whole());
}

#[test]
fn applied_json() {
    assert_snapshot!(incident().run(&["reclaim", "--db", "queue.db", "--apply", "-o", "json"]).whole());
}

#[test]
fn applied_csv() {
    assert_snapshot!(incident().run(&["reclaim", "--db", "queue.db", "--apply", "-o", "csv"]).whole());
}

#[test]
fn applied_quietly() {
    assert_snapshot!(incident().run(&["reclaim", "--db", "queue.db", "--apply", "-q", "-o", "name"]).whole());
}

#[test]
fn trouble_is_acted_on_when_asked_for() {
    let doctor = incident();
    let arguments = ["reclaim", "--db", "queue.db", "--owner", "web10:*", "--rule", "deadline_passed"];
    assert_snapshot!(doctor.run(&arguments).whole());
    doctor.run(&[&arguments[..], &["--apply"]].concat()).exits(0);
    assert_eq!(doctor.rows("queue.db", "SELECT status FROM jobs WHERE id = 8"), ["FAILED"]);
}

#[test]
fn exactly_the_listed_jobs_move() {
    let doctor = incident();
    let before = doctor.rows("queue.db", STATE);
    doctor.run(&["reclaim", "--db", "queue.db", "--apply"]).exits(0);
    let after = doctor.rows("queue.db", STATE);
    assert_eq!(
        after[..5],
        [
            "1 QUEUED - 2",
            // Out of attempts: failed, never back to the queue.
            "2 FAILED - 5",
            "3 QUEUED - 1",
            // Somebody wanted it cancelled.
            "4 CANCELLED - 2",
            "5 QUEUED - 1",
        ]
    );
    assert_eq!(after[5..], before[5..]);
}

#[test]
fn the_last_attempt_is_the_boundary() {
    let doctor = incident();
    doctor.sql(
        "queue.db",
        "DELETE FROM jobs WHERE id NOT IN (1, 2, 3, 5); UPDATE jobs SET attempts = 3 WHERE id = 1;
        UPDATE jobs SET attempts = 4 WHERE id = 2; UPDATE jobs SET attempts = 9 WHERE id = 3;
        UPDATE jobs SET attempts = 9, max_attempts = NULL WHERE id = 5",
    );
    doctor.run(&["reclaim", "--db", "queue.db", "--apply"]).exits(0);
    assert_eq!(doctor.rows("queue.db", STATE), ["1 QUEUED - 4", "2 FAILED - 5", "3 FAILED - 10", "5 QUEUED - 10"]);
}

#[test]
fn a_job_out_of_attempts_is_never_requeued() {
    let doctor = incident();
    let before = doctor.rows("queue.db", STATE);
    let arguments = ["reclaim", "--db", "queue.db", "--id", "2", "--to", "requeue", "--apply"];
    assert_snapshot!(doctor.run(&arguments).whole());
    assert_eq!(doctor.rows("queue.db", STATE), before);
}

#[test]
fn to_where_it_is_told() {
    let doctor = incident();
    doctor.run(&["reclaim", "--db", "queue.db", "--id", "1", "--to", "fail", "--apply"]).exits(0);
    doctor.run(&["reclaim", "--db", "queue.db", "--id", "3", "--to", "cancel", "--apply"]).exits(0);
    assert_eq!(doctor.rows("queue.db", "SELECT id, status FROM jobs WHERE id IN (1, 3)"), ["1 FAILED", "3 CANCELLED"]);
}

#[test]
fn again_there_is_nothing_to_do() {
    let doctor = orphans(3);
    doctor.run(&["reclaim", "--db", "queue.db", "--apply"]).exits(0);
    let after = doctor.rows("queue.db", STATE);
    assert_snapshot!(doctor.run(&["reclaim", "--db", "queue.db", "--apply"]).whole(), @r"
[stderr]
nothing to do, of 0 in flight
[exit 0]
[EOF]
");
    assert_eq!(doctor.rows("queue.db", STATE), after);
}

#[test]
fn the_longest_silent_when_limited() {
    let doctor = incident();
    let ran = doctor.run(&["reclaim", "--db", "queue.db", "--limit", "2"]).exits(0);
    assert_snapshot!(ran.whole());
    let plan = doctor.run(&["reclaim", "--db", "queue.db", "--limit", "2", "--apply", "--json"]).exits(0).json();
    assert_eq!(plan["summary"]["planned"], 2);
    assert_eq!(plan["summary"]["beyond_limit"], 3);
    let queued = doctor.rows("queue.db", "SELECT id FROM jobs WHERE status = 'QUEUED' AND id < 9 ORDER BY id");
    assert_eq!(queued, ["1", "5"]);
}

#[test]
fn a_healthy_one_is_held_though_named() {
    let doctor = incident();
    let before = doctor.rows("queue.db", STATE);
    assert_snapshot!(doctor.run(&["reclaim", "--db", "queue.db", "--id", "6", "--id", "9", "--apply"]).whole());
    assert_eq!(doctor.rows("queue.db", STATE), before);
}

#[test]
fn more_than_a_batch() {
    let doctor = orphans(1234);
    let ran = doctor.run(&["reclaim", "--db", "queue.db", "--apply", "--max-jobs", "1234"]).exits(0);
    assert_eq!(ran.stderr.lines().last(), Some("requeued 1,234 jobs"));
    let hidden = "the table shows 50 of 1,234 jobs; all of them: jobdoctor history ";
    assert!(ran.stderr.contains(hidden), "{}", ran.stderr);
    assert_eq!(ran.stdout.lines().count(), 51);
    assert_eq!(doctor.rows("queue.db", "SELECT status, attempts, count(*) FROM jobs GROUP BY 1, 2"), ["QUEUED 1 1234"]);
}

#[test]
fn the_next_command_does_what_was_shown() {
    let doctor = incident();
    let arguments = [
        "reclaim",
        "--db",
        "queue.db",
        "--queue",
        "mail*",
        "--older=5m",
        "--limit",
        "2",
        "--color",
        "never",
        "-o",
        "wide",
    ];
    let said = doctor.run(&arguments).exits(0).stderr;
    let next = said.lines().find_map(|line| line.strip_prefix("to do exactly this: ")).unwrap();
    let (next, digest) = next.split_once(" --expect ").unwrap();
    assert_eq!(digest.split_once(' ').map(|(digest, rest)| (digest.len(), rest)), Some((16, "--apply")));
    assert_eq!(next, "jobdoctor reclaim --db queue.db --queue 'mail*' --older=5m --limit 2");
}

/// Behind a pulled brake too: it is bound to the plan, overrides the brake, and names what fails although the table does not.
#[test]
fn the_next_command_is_not_refused() {
    let doctor = orphans(70);
    doctor.sql("queue.db", "UPDATE jobs SET attempts = 5 WHERE id = 3");
    let dry = doctor.run(&["reclaim", "--db", "queue.db"]).exits(0).stderr;
    assert!(dry.contains("70 jobs to move (69 requeue, 1 fail)"), "{dry}");
    assert!(dry.contains("the table shows 50 of 70 steps; -o wide shows all\nto fail: 3\n"), "{dry}");
    let refused = doctor.run(&["reclaim", "--db", "queue.db", "--apply"]).exits(4).stderr;
    for (said, before) in
        [(&refused, "if they are dead all the same: jobdoctor "), (&dry, "to do exactly this: jobdoctor ")]
    {
        let next = said.lines().find_map(|line| line.strip_prefix(before)).unwrap();
        assert!(next.contains(" --expect ") && next.ends_with(" --apply --max-jobs 70"), "{next}");
    }
    let next = dry.lines().find_map(|line| line.strip_prefix("to do exactly this: jobdoctor ")).unwrap();
    doctor.run(&next.split(' ').collect::<Vec<_>>()).exits(0);
    assert_eq!(doctor.rows("queue.db", "SELECT status, count(*) FROM jobs GROUP BY 1"), ["FAILED 1", "QUEUED 69"]);
}
