//! What may happen to a stuck job between the snapshot and the write. Each scenario names the one value that tells it apart, so
//! that the mutants can show that the guard stands on every one of them.

use crate::support::doctor;
use crate::support::edit::Value::{Ago, Int, Null, Text};
use crate::support::edit::{Edit, delete, insert, set};
use crate::support::labs::Lab;
use crate::support::tables::{JOBS, ORDERS, ORDERS_MAPPING, PINGS};
use jobdoctor::model::{Key, Outcome, Step};
use jobdoctor::policy::Policy;
use jobdoctor::preset::Jobs;
use jobdoctor::store::Store;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queue {
    /// The reference schema, all columns.
    Lease,
    /// A home-made table whose heartbeats are the workers'.
    Orders,
}

pub struct Scenario {
    pub name: &'static str,
    pub queue: Queue,
    /// How job 1 stands when it is judged, over the fixture.
    pub before: Vec<Edit>,
    pub edits: Vec<Edit>,
    /// How a step on job 1 must end.
    pub ends: Outcome,
    /// The fenced column that alone shows it; none where several do.
    pub alone: Option<&'static str>,
}

const JOB: (&str, crate::support::edit::Value) = ("id", Int(1));

impl Queue {
    pub const ALL: [Queue; 2] = [Queue::Lease, Queue::Orders];

    pub fn tables(self) -> &'static [&'static str] {
        match self {
            Queue::Lease => &["jobs"],
            Queue::Orders => &["order_queue", "worker_pings"],
        }
    }

    /// Three jobs: 1 and 2 are stuck, each with an owner of its own, and 3 is alive.
    pub fn set_up(self, lab: &dyn Lab) {
        match self {
            Queue::Lease => {
                lab.create(&[JOBS]);
                lab.edit(&[lease_job(1, 1000), lease_job(2, 900), lease_job(3, -900)]);
            }
            Queue::Orders => {
                lab.create(&[ORDERS, PINGS]);
                lab.edit(&[
                    order(1, "w1"),
                    order(2, "w2"),
                    order(3, "w3"),
                    ping("w1", 1000),
                    ping("w2", 900),
                    ping("w3", 0),
                ]);
            }
        }
    }

    pub fn spec(self, store: &dyn Store) -> Jobs {
        let preset = match self {
            Queue::Lease => doctor::built_in("lease"),
            Queue::Orders => doctor::mapping(ORDERS_MAPPING),
        };
        doctor::fit(store, &preset)
    }

    /// The lab's store, the queue as it fits its tables, and the steps on 1 and 2.
    pub fn planned(self, lab: &dyn Lab) -> (Box<dyn Store>, Jobs, Vec<Step>) {
        let store = lab.store();
        let spec = self.spec(&*store);
        let steps = self.steps(&*store, &spec);
        (store, spec, steps)
    }

    pub fn image(self, lab: &dyn Lab) -> Vec<String> {
        self.tables().iter().map(|table| lab.image(table)).collect()
    }

    pub fn steps(self, store: &dyn Store, spec: &Jobs) -> Vec<Step> {
        let steps = doctor::steps(store, spec, &Policy::default());
        let ids: Vec<String> = steps.iter().map(|step| Key::to_string(&step.key)).collect();
        assert_eq!(ids, ["1", "2"], "{self:?}: the fixture is not what it should be");
        steps
    }
}

/// A job whose lease ended so many seconds ago, claimed and last seen before that.
fn lease_job(id: i64, ended: i64) -> Edit {
    let owner = ["w1:10", "w2:20", "w3:30"][usize::try_from(id - 1).unwrap()];
    insert(
        "jobs",
        &[
            ("id", Int(id)),
            ("queue", Text("mail")),
            ("kind", Text("SendMail")),
            ("status", Text("RUNNING")),
            ("owner_id", Text(owner)),
            ("lease_token", Text("t1")),
            ("claimed_at", Ago(2000)),
            ("heartbeat_at", Ago(1900)),
            ("lease_expires_at", Ago(ended)),
            ("attempts", Int(1)),
            ("max_attempts", Int(5)),
        ],
    )
}

fn order(id: i64, worker: &'static str) -> Edit {
    insert(
        "order_queue",
        &[
            ("id", Int(id)),
            ("status", Text("working")),
            ("worker", Text(worker)),
            ("started", Ago(2400)),
            ("tries", Int(0)),
            ("paused", Int(0)),
        ],
    )
}

fn ping(name: &'static str, seen: i64) -> Edit {
    insert("worker_pings", &[("name", Text(name)), ("seen_at", Ago(seen))])
}

pub fn all() -> Vec<Scenario> {
    let mut all = lease();
    all.extend(orders());
    all
}

fn lease() -> Vec<Scenario> {
    let scenario = |name, alone, edits| Scenario {
        name,
        queue: Queue::Lease,
        before: Vec::new(),
        edits,
        ends: Outcome::Changed,
        alone,
    };
    let one = |name, column, value| scenario(name, Some(column), vec![set("jobs", JOB, &[(column, value)])]);
    let fresh_claim = [
        ("status", Text("CLAIMED")),
        ("owner_id", Text("w9:90")),
        ("lease_token", Text("t2")),
        ("claimed_at", Ago(0)),
        ("heartbeat_at", Ago(0)),
        ("lease_expires_at", Ago(-300)),
        ("attempts", Int(2)),
    ];
    let kept_claim = [("owner_id", Text("w9:90")), ("lease_token", Text("t2"))];
    let done = [("status", Text("SUCCEEDED")), ("owner_id", Null), ("lease_expires_at", Null), ("finished_at", Ago(0))];
    vec![
        scenario("it is completed", None, vec![set("jobs", JOB, &done)]),
        scenario(
            "only its state is set to done",
            Some("status"),
            vec![set("jobs", JOB, &[("status", Text("SUCCEEDED"))])],
        ),
        one("it goes on to another state in flight", "status", Text("CLAIMED")),
        scenario("it is claimed again, with a fresh heartbeat", None, vec![set("jobs", JOB, &fresh_claim)]),
        scenario("it is claimed again, with the old heartbeat kept", None, vec![set("jobs", JOB, &kept_claim)]),
        one("another owner takes it and keeps all else", "owner_id", Text("w9:90")),
        one("the same owner claims it again: only the token tells", "lease_token", Text("t2")),
        one("the token is emptied, which is not NULL", "lease_token", Text("")),
        one("it is claimed again by a worker that stamps nothing else", "claimed_at", Ago(0)),
        one("it is given a heartbeat", "heartbeat_at", Ago(0)),
        one("its lease is extended", "lease_expires_at", Ago(-300)),
        one("its attempts are changed", "attempts", Int(2)),
        one("its attempts are lost", "attempts", Null),
        one("it is given more attempts", "max_attempts", Int(20)),
        one("it is counted as lost by another tool", "stalls", Int(3)),
        one("it is asked to be cancelled", "cancel_requested_at", Ago(0)),
        one("it is given a deadline", "deadline_at", Ago(-3600)),
        one("it is allowed to run longer", "max_runtime_seconds", Int(86_400)),
        Scenario { ends: Outcome::Gone, ..scenario("it is deleted", None, vec![delete("jobs", JOB)]) },
        scenario(
            "it is deleted, and another one takes its id",
            None,
            vec![delete("jobs", JOB), insert("jobs", &[JOB, ("status", Text("QUEUED"))])],
        ),
        Scenario {
            before: vec![set("jobs", JOB, &[("owner_id", Null)])],
            ..one("an owner that was NULL becomes the empty text", "owner_id", Text(""))
        },
    ]
}

fn orders() -> Vec<Scenario> {
    let w1 = ("name", Text("w1"));
    let scenario = |name, alone, edits| Scenario {
        name,
        queue: Queue::Orders,
        before: Vec::new(),
        edits,
        ends: Outcome::Changed,
        alone,
    };
    let job = |cells: &[(&'static str, crate::support::edit::Value)]| vec![set("order_queue", JOB, cells)];
    let ghost = || vec![set("order_queue", JOB, &[("worker", Text("ghost"))])];
    vec![
        scenario(
            "its owner comes back to life",
            Some("seen_at"),
            vec![set("worker_pings", w1, &[("seen_at", Ago(0))])],
        ),
        scenario("its owner boots again", Some("booted_at"), vec![set("worker_pings", w1, &[("booted_at", Ago(10))])]),
        scenario("its owner's row is deleted", None, vec![delete("worker_pings", w1)]),
        Scenario {
            before: vec![set("worker_pings", w1, &[("seen_at", Null)])],
            ..scenario("the row of an owner that never beat is deleted", Some("name"), vec![delete("worker_pings", w1)])
        },
        Scenario {
            before: ghost(),
            ..scenario(
                "its missing owner comes back",
                None,
                vec![insert("worker_pings", &[("name", Text("ghost")), ("seen_at", Ago(0))])],
            )
        },
        Scenario {
            before: ghost(),
            ..scenario(
                "its missing owner comes back and has not beaten yet",
                Some("name"),
                vec![insert("worker_pings", &[("name", Text("ghost"))])],
            )
        },
        Scenario {
            before: ghost(),
            ..scenario("another missing owner takes it", Some("worker"), job(&[("worker", Text("ghost two"))]))
        },
        scenario("it is completed", Some("status"), job(&[("status", Text("shipped"))])),
        scenario("it is started again", Some("started"), job(&[("started", Ago(1))])),
        scenario("its tries are changed", Some("tries"), job(&[("tries", Int(3))])),
        scenario("a live owner takes it", None, job(&[("worker", Text("w3")), ("started", Ago(0))])),
        scenario("an operator pauses it", None, job(&[("paused", Int(1))])),
        Scenario { ends: Outcome::Gone, ..scenario("it is deleted", None, vec![delete("order_queue", JOB)]) },
    ]
}
