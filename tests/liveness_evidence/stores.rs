//! Columns that show progress, in every store: they are read, and they are in the precondition.

use crate::support::doctor::{apply, mapping, outcomes, planned, scan};
use crate::support::edit::Value::{Ago, Int, Null, Text};
use crate::support::edit::{delete, insert, set};
use crate::support::labs::as_in_memory;
use crate::support::tables::JOBS;
use jobdoctor::model::Outcome::{Changed, Moved};
use jobdoctor::policy::{SeenClaim, seen};
use jobdoctor::preset::Jobs;
use jobdoctor::store::{Store, Wanted};

const MAPPING: &str = r#"
time   = { default = { sqlite = "epoch s", postgres = "native" } }
states = { waiting = ["QUEUED"], in_flight = ["RUNNING"] }
[claim]
table = "jobs"
key = "id"
state = "status"
claimed_at = "claimed_at"
progress = ["stalls", "error_code", "not_there"]
optional = ["not_there"]
liveness = [{ by = "age", column = "claimed_at", silent_after = "10m" }]
[owner]
id = "owner_id"
[action.requeue]
to = "QUEUED"
"#;

/// What is kept of the one claim there is, by a snapshot that saw it before as `before` says.
fn looked(store: &dyn Store, spec: &Jobs, before: Option<&SeenClaim>) -> SeenClaim {
    let claims = scan(store, spec, &Wanted::All);
    let [claim] = claims.as_slice() else { panic!("there is one claim: {claims:#?}") };
    seen(before, claim, crate::support::doctor::look(store).now())
}

#[test]
fn a_change_of_any_of_them_is_seen_and_stops_the_write() {
    as_in_memory(|lab| {
        let mut ends = Vec::new();
        lab.create(&[JOBS]);
        for (change, actions) in [
            (&[("stalls", Int(2))][..], true),
            (&[("stalls", Null)], true),
            (&[("error_code", Text(""))], true),
            (&[("error_code", Text("7"))], true),
            (&[("queue", Text("mail"))], false),
        ] {
            lab.edit(&[insert(
                "jobs",
                &[
                    ("id", Int(1)),
                    ("status", Text("RUNNING")),
                    ("owner_id", Text("w1")),
                    ("claimed_at", Ago(2000)),
                    ("stalls", Int(1)),
                ],
            )]);
            let (store, spec, steps) = planned(lab, &mapping(MAPPING));
            let first = looked(&*store, &spec, None);
            assert!(first.progress.is_some() && !first.moved);
            let same = looked(&*store, &spec, Some(&first));
            assert_eq!((same.values, same.progress, same.since_at), (first.values, first.progress, first.since_at));
            lab.edit(&[set("jobs", ("id", Int(1)), change)]);
            let second = looked(&*store, &spec, Some(&first));
            assert_eq!(second.values != first.values, actions, "{}: {change:?}", lab.name());
            assert_eq!(second.progress != first.progress, actions, "{}: {change:?}", lab.name());
            assert_eq!(second.moved, actions);
            let end = outcomes(&apply(&*store, &spec, &steps));
            assert_eq!(end, [if actions { Changed } else { Moved }], "{}: {change:?}", lab.name());
            ends.push(end);
            lab.edit(&[delete("jobs", ("id", Int(1)))]);
        }
        ends
    });
}
