//! Claims of the reference schema, of every sort: fresh, silent, without signs, ahead of the clock, nonsensical.

use jobdoctor::model::{
    Cell, Claim, EvidenceRow, Key, LockSign, Owner, OwnerRow, Precondition, Reading, Sign, Timestamp,
};
use proptest::prelude::*;
use std::time::Duration;

/// The `now` of all properties: 2026-11-20T10:00:00Z.
pub const NOW_SECONDS: i64 = 1_795_168_800;

pub fn now() -> Timestamp {
    Timestamp::from_micros(NOW_SECONDS * 1_000_000).expect("2026 is in range")
}

/// So many seconds before (or, negative, after) it.
pub fn ago(seconds: i64) -> Timestamp {
    Timestamp::from_micros((NOW_SECONDS - seconds) * 1_000_000).expect("a few years around 2026 are in range")
}

fn reading() -> impl Strategy<Value = Reading> {
    prop_oneof![
        2 => Just(Reading::Absent),
        8 => (-40_000_000_i64..40_000_000).prop_map(|seconds| Reading::At(ago(seconds))),
        8 => (-90_i64..8_000).prop_map(|seconds| Reading::At(ago(seconds))),
        1 => Just(Reading::At(Timestamp::from_micros(5_000_000).expect("1970 is in range"))),
        1 => Just(Reading::Unfit { raw: "soon".to_owned(), why: "is text, not an integer".to_owned() }),
    ]
}

fn cell() -> impl Strategy<Value = Cell> {
    prop_oneof![
        1 => Just(Cell::Null),
        8 => (-2_i64..9).prop_map(Cell::Integer),
        1 => Just(Cell::Integer(i64::MAX)),
        1 => Just(Cell::Text("three".to_owned())),
        1 => Just(Cell::Real(1.5)),
    ]
}

prop_compose! {
    pub fn claim()(
        id in 1_i64..1_000_000,
        claimed_at in reading(),
        heartbeat in reading(),
        lease in reading(),
        deadline in reading(),
        owner in proptest::option::of("[a-z]{1,4}[0-9]{1,2}:[0-9]{1,3}"),
        attempts in cell(),
        max_attempts in cell(),
        stalls in proptest::option::of(0_i64..6),
        cancel_requested in any::<bool>(),
        max_runtime in proptest::option::of(1_u64..100_000),
    ) -> Claim {
        let sign = |at: &Reading| Sign { at: at.clone(), silent_after: None, lock: LockSign::Absent };
        Claim {
            key: Key(vec![Cell::Integer(id)]),
            state: "RUNNING".to_owned(),
            queue: Some("mail".to_owned()),
            kind: None,
            owner: owner.map(|id| Owner { host_spelling: Default::default(), host: id.split(':').next().map(str::to_owned), name: id.clone(), id }),
            owner_row: OwnerRow::NotAsked,
            signs: vec![sign(&lease), sign(&heartbeat), sign(&claimed_at)],
            claimed_at,
            heartbeat,
            attempts,
            max_attempts,
            stalls,
            deadline,
            cancel_requested,
            max_runtime: max_runtime.map(Duration::from_secs),
            skips: Vec::new(),
            extra: Vec::new(),
            progress: None,
            precondition: Precondition(format!("precondition of {id}")),
            vetoed: false,
            astray: Vec::new(),
            evidence_row: EvidenceRow::None,
        }
    }
}
