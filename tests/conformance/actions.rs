//! What an action leaves behind, column by column, and when a job has used up its attempts.

use crate::support::doctor::{Unrecorded, apply, built_in, fitted, outcomes, planned, steps, to, verdicts};
use crate::support::edit::Value::{Ago, Int, Null, Text};
use crate::support::edit::{Edit, Value, insert};
use crate::support::labs::{Lab, as_in_memory, for_each_store};
use crate::support::tables::{JOBS, PLAIN_JOBS, RETRY_JOBS};
use jobdoctor::model::{Action, Outcome};
use jobdoctor::policy::{Policy, Restart, RestartScope};

fn dead(id: i64, attempts: Value, max: Value) -> Edit {
    insert(
        "jobs",
        &[
            ("id", Int(id)),
            ("queue", Text("mail")),
            ("kind", Text("SendMail")),
            ("status", Text("RUNNING")),
            ("run_at", Ago(9000)),
            ("owner_id", Text("web1:77")),
            ("lease_token", Text("secret")),
            ("claimed_at", Ago(8000)),
            ("heartbeat_at", Ago(7000)),
            ("lease_expires_at", Ago(6000)),
            ("attempts", attempts),
            ("max_attempts", max),
            ("cancel_requested_at", if id == 9 { Ago(10) } else { Null }),
        ],
    )
}

fn moved(lab: &dyn Lab, action: Action) -> Vec<String> {
    lab.create(&[JOBS]);
    lab.edit(&[dead(1, Int(1), Int(5)), dead(2, Null, Null)]);
    let (store, spec) = fitted(lab, &built_in("lease"));
    let steps = steps(&*store, &spec, &to(action));
    assert_eq!(outcomes(&apply(&*store, &spec, &steps)), [Outcome::Moved; 2], "{}", lab.name());
    [lab.row(&JOBS, 1), lab.row(&JOBS, 2)].concat()
}

#[test]
fn a_requeued_job_is_as_if_it_had_never_been_claimed_but_for_the_attempt() {
    as_in_memory(|lab| {
        let row = moved(lab, Action::Requeue);
        let expected = [
            "id=1",
            "queue=mail",
            "kind=SendMail",
            "status=QUEUED",
            "run_at=now",
            "owner_id=NULL",
            "lease_token=NULL",
            "claimed_at=NULL",
            "heartbeat_at=NULL",
            "lease_expires_at=NULL",
            "attempts=2",
            "max_attempts=5",
            "stalls=1",
            "max_runtime_seconds=NULL",
            "deadline_at=NULL",
            "cancel_requested_at=NULL",
            "error_code=NULL",
            "error_detail=the test says so",
            "finished_at=NULL",
        ];
        assert_eq!(row[..expected.len()], expected, "{}", lab.name());
        assert!(row[expected.len()..].contains(&"attempts=1".to_owned()), "{}: NULL counts as none", lab.name());
        row
    });
}

#[test]
fn a_failed_job_keeps_what_tells_how_it_died() {
    as_in_memory(|lab| {
        let row = moved(lab, Action::Fail);
        for word in ["status=FAILED", "finished_at=now", "claimed_at=another time", "attempts=2", "lease_token=NULL"] {
            assert!(row.iter().take(19).any(|found| found == word), "{}: {word} is not in {row:?}", lab.name());
        }
        row
    });
}

#[test]
fn a_cancelled_job() {
    as_in_memory(|lab| moved(lab, Action::Cancel));
}

#[test]
fn a_request_to_cancel_turns_the_action_of_a_dead_job() {
    for_each_store(|lab| {
        lab.create(&[JOBS]);
        lab.edit(&[dead(9, Int(4), Int(5)), dead(8, Int(0), Int(5))]);
        let (store, spec) = fitted(lab, &built_in("lease"));
        let said = verdicts(&*store, &spec, &Policy::default());
        assert!(said[0].ends_with("requeue to QUEUED, attempts Some(1)"), "{}: {said:?}", lab.name());
        assert!(said[1].ends_with("cancel to CANCELLED, attempts Some(5)"), "{}: {said:?}", lab.name());
    });
}

/// Attempts and maximum before, and what comes of it.
fn boundaries(lab: &dyn Lab, rows: &[Edit], expected: &[&str]) {
    lab.edit(rows);
    let (store, spec) = fitted(lab, &built_in("lease"));
    let said = verdicts(&*store, &spec, &Policy::default());
    assert_eq!(said.len(), expected.len(), "{}: {said:#?}", lab.name());
    for (said, expected) in said.iter().zip(expected) {
        assert!(said.ends_with(expected), "{}: {said}, not {expected}", lab.name());
    }
}

#[test]
fn the_last_run_that_counts() {
    for_each_store(|lab| {
        lab.create(&[JOBS]);
        let rows = [
            dead(1, Int(3), Int(5)),
            dead(2, Int(4), Int(5)),
            dead(3, Int(5), Int(5)),
            dead(4, Int(9), Int(5)),
            dead(5, Null, Int(1)),
            dead(6, Int(1000), Null),
            dead(7, Int(-1), Int(5)),
            dead(8, Int(i64::MAX), Null),
        ];
        boundaries(
            lab,
            &rows,
            &[
                "requeue to QUEUED, attempts Some(4)",
                "fail to FAILED, attempts Some(5)",
                "fail to FAILED, attempts Some(6)",
                "fail to FAILED, attempts Some(10)",
                "fail to FAILED, attempts Some(1)",
                "requeue to QUEUED, attempts Some(1001)",
                "requeue to QUEUED, attempts Some(0)",
                "skipped: AttemptsUnreadable",
            ],
        );
    });
}

#[test]
fn the_last_retry_that_counts() {
    for_each_store(|lab| {
        lab.create(&[RETRY_JOBS]);
        let row = |id: i64, retries: Value, max: Value| {
            insert(
                "jobs",
                &[
                    ("id", Int(id)),
                    ("status", Text("CLAIMED")),
                    ("owner_id", Text("w")),
                    ("heartbeat_at", Ago(7000)),
                    ("retry_count", retries),
                    ("max_retry", max),
                ],
            )
        };
        let rows = [
            row(1, Int(1), Int(3)),
            row(2, Int(2), Int(3)),
            row(3, Int(3), Int(3)),
            row(4, Null, Int(0)),
            row(5, Null, Null),
        ];
        boundaries(
            lab,
            &rows,
            &[
                "requeue to QUEUED, attempts Some(2)",
                "requeue to QUEUED, attempts Some(3)",
                "fail to FAILED, attempts Some(4)",
                "fail to FAILED, attempts Some(1)",
                "requeue to QUEUED, attempts Some(1)",
            ],
        );
        let (store, spec, steps) = planned(lab, &built_in("lease"));
        assert_eq!(outcomes(&apply(&*store, &spec, &steps[..2])), [Outcome::Moved; 2], "{}", lab.name());
        assert!(lab.row(&RETRY_JOBS, 2).contains(&"retry_count=3".to_owned()), "{}", lab.name());
    });
}

#[test]
fn a_plain_table_is_swept_by_restart_only() {
    as_in_memory(|lab| {
        lab.create(&[PLAIN_JOBS]);
        let row = |id: i64, attempts: i64| {
            let cells =
                [("id", Int(id)), ("status", Text("running")), ("attempts", Int(attempts)), ("max_attempts", Int(3))];
            insert("jobs", &cells)
        };
        lab.edit(&[row(1, 0), row(2, 2)]);
        let (store, spec) = fitted(lab, &built_in("simple"));
        let silent = verdicts(&*store, &spec, &Policy::default());
        assert!(silent.iter().all(|line| line.ends_with("unknown; skipped: Unknown")), "{}: {silent:?}", lab.name());
        let began = crate::support::doctor::look(&*store).now();
        let sweep = Policy {
            restart: Some(Restart { scope: RestartScope::AllOwners, before: None, began, first: None }),
            ..Policy::default()
        };
        let steps = steps(&*store, &spec, &sweep);
        assert_eq!(outcomes(&apply(&*store, &spec, &steps[..1])), [Outcome::Moved], "{}", lab.name());
        assert_eq!(outcomes(&apply(&*store, &spec, &steps[1..])), [Outcome::Moved], "{}", lab.name());
        (lab.row(&PLAIN_JOBS, 1), lab.row(&PLAIN_JOBS, 2))
    });
}

/// Text that would end a literal, or the statement, if it ever stood in one.
#[test]
fn the_reason_and_the_keys_are_values() {
    for_each_store(|lab| {
        lab.create(&[JOBS]);
        lab.edit(&[dead(1, Int(0), Int(5))]);
        let (store, spec, steps) = planned(lab, &built_in("lease"));
        let reason = "it's \"quoted\" $1 ?1 :now {jobs} \\ ; DROP TABLE jobs -- \u{1f4a3}";
        let mut writer = store.writer(&crate::support::doctor::limits()).unwrap();
        let batch = jobdoctor::model::Batch { action: Action::Requeue, steps: &steps, reason, waits: &[] };
        assert_eq!(outcomes(&writer.apply(&spec, &batch, &mut Unrecorded)), [Outcome::Moved], "{}", lab.name());
        assert!(lab.row(&JOBS, 1).contains(&format!("error_detail={reason}")), "{}", lab.name());
    });
}
