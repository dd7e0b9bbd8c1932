//! What is played, each by its name: two or three sessions and their steps.

use super::fixture::Queue;
use super::step::{Change, Effect, Place, Step};
use crate::support::edit::Value::{Ago, Int, Null, Text};
use crate::support::edit::{Cells, Value};

/// One of them.
pub(super) struct Spec {
    /// What happens, in words.
    pub(super) name: &'static str,
    /// Where.
    pub(super) queue: Queue,
    /// The steps of each session.
    pub(super) sessions: Vec<Vec<Step>>,
}

impl Spec {
    /// How many steps each session has.
    pub(super) fn lengths(&self) -> Vec<usize> {
        self.sessions.iter().map(Vec::len).collect()
    }
}

/// By its name.
pub(super) fn named(name: &str) -> Spec {
    all().into_iter().find(|spec| spec.name == name).unwrap_or_else(|| panic!("no specification is called {name}"))
}

/// All of them.
pub(super) fn all() -> Vec<Spec> {
    let lease = |name, sessions| Spec { name, queue: Queue::Lease, sessions };
    let orders = |name, sessions| Spec { name, queue: Queue::Orders, sessions };
    vec![
        lease("a heartbeat, and a doctor", vec![open(&[beat(1)]), doctor()]),
        lease(
            "a heartbeat that is taken back, and a doctor",
            vec![vec![Step::Begin, beat(1), Step::Rollback], doctor()],
        ),
        lease("heartbeats of two jobs of one batch", vec![vec![beat(1), beat(2)], doctor()]),
        lease("a finish in a transaction, and a doctor", vec![open(&[finish(1)]), doctor()]),
        lease("a finish of one statement, and a doctor", vec![vec![finish(1)], doctor()]),
        lease(
            "given back, claimed by another worker, and a doctor",
            vec![vec![give_back(1)], vec![claim(1, -300)], doctor()],
        ),
        lease("claimed again with the old lease kept", vec![vec![give_back(1), claim(1, 1000)], doctor()]),
        lease("a claim in a transaction of what a doctor gives back", vec![open(&[claim(1, -300)]), doctor()]),
        lease("a worker that locks rows in the opposite order", vec![open(&[beat(2), beat(1)]), doctor()]),
        lease("a row that is locked, and nothing else", vec![open(&[lock(1)]), doctor()]),
        lease("a row that is deleted", vec![open(&[delete(1)]), doctor()]),
        lease("two doctors", vec![doctor(), doctor()]),
        lease("a heartbeat in a transaction, and two doctors", vec![open(&[beat(1)]), doctor(), doctor()]),
        lease("a finish, and two doctors", vec![vec![finish(1)], doctor(), doctor()]),
        lease(
            "a claim of what one doctor gives back, and another doctor",
            vec![vec![claim(1, -300)], doctor(), doctor()],
        ),
        orders("the owner's heartbeat, and a doctor", vec![open(&[ping("w1")]), doctor()]),
        orders(
            "the owner's heartbeat that is taken back",
            vec![vec![Step::Begin, ping("w1"), Step::Rollback], doctor()],
        ),
        orders("the owner's heartbeat, and two doctors", vec![open(&[ping("w1")]), doctor(), doctor()]),
        orders("one of a dead owner's jobs is done after all", vec![open(&[ship(1)]), doctor()]),
    ]
}

/// A doctor looks, writes, and commits.
fn doctor() -> Vec<Step> {
    vec![Step::Snapshot, Step::Act, Step::Settle]
}

/// A worker's statements in one transaction.
fn open(steps: &[Step]) -> Vec<Step> {
    [&[Step::Begin], steps, &[Step::Commit]].concat()
}

fn change(words: &'static str, place: Place, only_if: &[(&'static str, Value)], effect: Effect) -> Step {
    Step::Change(Change { words, place, only_if: only_if.to_vec(), effect })
}

/// Who holds a job, in a statement that is fenced as README.md has it.
fn held(id: i64) -> Cells {
    let owner = ["w1", "w2", "w3"][usize::try_from(id - 1).expect("a job")];
    vec![("owner_id", Text(owner)), ("lease_token", Text("t1")), ("status", Text("RUNNING"))]
}

fn beat(id: i64) -> Step {
    change("heartbeat", Place::Job(id), &held(id), Effect::Set(vec![("lease_expires_at", Ago(-300))]))
}

fn finish(id: i64) -> Step {
    let done = [("status", Text("SUCCEEDED")), ("owner_id", Null), ("lease_token", Null), ("lease_expires_at", Null)];
    change("finish", Place::Job(id), &held(id), Effect::Set(done.to_vec()))
}

fn give_back(id: i64) -> Step {
    let free = [
        ("status", Text("QUEUED")),
        ("owner_id", Null),
        ("lease_token", Null),
        ("lease_expires_at", Null),
        ("attempts", Int(2)),
    ];
    change("give back", Place::Job(id), &held(id), Effect::Set(free.to_vec()))
}

/// By another worker, with a lease that ended so many seconds ago.
fn claim(id: i64, ended: i64) -> Step {
    let claimed = [
        ("status", Text("RUNNING")),
        ("owner_id", Text("w9")),
        ("lease_token", Text("t9")),
        ("lease_expires_at", Ago(ended)),
    ];
    change("claim", Place::Job(id), &[("status", Text("QUEUED"))], Effect::Set(claimed.to_vec()))
}

fn lock(id: i64) -> Step {
    change("lock", Place::Job(id), &[], Effect::Lock)
}

fn delete(id: i64) -> Step {
    change("delete", Place::Job(id), &[], Effect::Delete)
}

fn ping(name: &'static str) -> Step {
    change("ping", Place::Ping(name), &[], Effect::Set(vec![("seen_at", Ago(0))]))
}

fn ship(id: i64) -> Step {
    let only_if = [("worker", Text("w1")), ("status", Text("working"))];
    change("ship", Place::Order(id), &only_if, Effect::Set(vec![("status", Text("shipped")), ("worker", Null)]))
}
