//! Listings: each claim once, none that matters left out, and the same verdicts as the memory store reaches.

use crate::support::doctor::{built_in, cutoffs, fitted, limits, look, mapping, scan, verdicts};
use crate::support::edit::Value::{Ago, Int, Null, Text};
use crate::support::edit::{Edit, insert};
use crate::support::labs::{Lab, PostgresLab, Route, as_in_memory, for_each_store};
use crate::support::tables::{JOBS, Kind, ORDERS, ORDERS_MAPPING, PINGS, Table};
use jobdoctor::model::Claim;
use jobdoctor::policy::{Policy, Verdict, judge};
use jobdoctor::preset::{Jobs, Preset};
use jobdoctor::store::{Detail, Limits, StoreErrorKind, Wanted};
use std::thread;
use std::time::{Duration, Instant};

const MINUTE: u64 = 60;

fn policies() -> Vec<Policy> {
    let older = [None, Some(MINUTE), Some(10 * MINUTE), Some(60 * MINUTE)];
    older.map(|older| Policy { older: older.map(Duration::from_secs), ..Policy::default() }).to_vec()
}

fn keys(claims: &[Claim]) -> Vec<String> {
    let mut keys: Vec<String> = claims.iter().map(|claim| claim.key.to_string()).collect();
    keys.sort();
    keys
}

/// Each claim once; every one of interest among the suspects, and each of them once. Gives the verdicts.
pub fn listed(lab: &dyn Lab, preset: &Preset) -> Vec<Vec<String>> {
    listed_under(lab, preset, &policies())
}

pub fn listed_under(lab: &dyn Lab, preset: &Preset, policies: &[Policy]) -> Vec<Vec<String>> {
    let (store, spec) = fitted(lab, preset);
    let claims = scan(&*store, &spec, &Wanted::All);
    once(lab, &claims);
    assert_eq!(claims.len() as u64, look(&*store).in_flight(&spec).unwrap(), "{}", lab.name());
    super::holders::must_be_those_of(lab, &spec, &claims);
    policies.iter().map(|policy| sifted(lab, &spec, policy)).collect()
}

fn once(lab: &dyn Lab, claims: &[Claim]) {
    let keys = keys(claims);
    let twice: Vec<&String> = keys.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| &pair[0]).collect();
    assert!(twice.is_empty(), "{}: handed over more than once: {twice:?}", lab.name());
}

fn sifted(lab: &dyn Lab, spec: &Jobs, policy: &Policy) -> Vec<String> {
    let store = lab.store();
    let mut reader = look(&*store);
    let wanted = cutoffs(&*reader, policy);
    let mut suspects = Vec::new();
    reader.scan(spec, &wanted, Detail::ForAction, &mut |claim| suspects.push(claim)).unwrap();
    once(lab, &suspects);
    let suspects = keys(&suspects);
    let mut lost = Vec::new();
    let now = reader.now();
    // Within the same snapshot, so that nothing may differ but the pre-filter.
    reader
        .scan(spec, &Wanted::All, Detail::ForAction, &mut |claim| {
            let judgement = judge(spec, &claim, policy, now);
            if judgement.verdict != Verdict::Healthy && suspects.binary_search(&claim.key.to_string()).is_err() {
                lost.push((claim, judgement.verdict));
            }
        })
        .unwrap();
    assert!(
        lost.is_empty(),
        "{}: older {:?}: the pre-filter lost {} such as {:#?}",
        lab.name(),
        policy.older,
        lost.len(),
        lost.first()
    );
    verdicts(&*store, spec, policy)
}

#[test]
fn every_combination_of_signs_on_the_row() {
    let mut rows = Vec::new();
    for lease in [Null, Ago(1000), Ago(-300), Ago(-40_000_000)] {
        for heartbeat in [Null, Ago(0), Ago(400), Ago(700), Ago(-30), Ago(-3600)] {
            for claimed in [Null, Ago(50), Ago(4000), Ago(-3600)] {
                for deadline in [Null, Ago(600), Ago(-600)] {
                    for runtime in [Null, Int(10), Int(100_000)] {
                        let n = rows.len() as i64;
                        rows.push(insert(
                            "jobs",
                            &[
                                ("id", Int(n)),
                                ("queue", Text("mail")),
                                ("status", Text(if n % 2 == 0 { "RUNNING" } else { "CLAIMED" })),
                                ("owner_id", if n % 5 == 0 { Null } else { Text("web1:7") }),
                                ("lease_expires_at", lease),
                                ("heartbeat_at", heartbeat),
                                ("claimed_at", claimed),
                                ("deadline_at", deadline),
                                ("max_runtime_seconds", runtime),
                                ("attempts", if n % 7 == 0 { Null } else { Int(n % 4) }),
                                ("max_attempts", if n % 3 == 0 { Null } else { Int(3) }),
                                ("cancel_requested_at", if n % 11 == 0 { Ago(5) } else { Null }),
                            ],
                        ));
                    }
                }
            }
        }
    }
    for status in ["QUEUED", "SUCCEEDED", "FAILED", "CANCELLED", "TIMED_OUT", "SOMETHING"] {
        let id = Int(rows.len() as i64);
        rows.push(insert("jobs", &[("id", id), ("status", Text(status)), ("heartbeat_at", Ago(9999))]));
    }
    as_in_memory(|lab| {
        lab.create(&[JOBS]);
        lab.edit(&rows);
        listed(lab, &built_in("lease"))
    });
}

#[test]
fn every_combination_of_signs_of_the_owner() {
    let mut rows = Vec::new();
    let mut workers: Vec<&'static str> = Vec::new();
    for seen in [Null, Ago(0), Ago(300), Ago(-30), Ago(-3600)] {
        for booted in [Null, Ago(9000), Ago(20)] {
            let name: &'static str = format!("w{}", workers.len()).leak();
            workers.push(name);
            rows.push(insert("worker_pings", &[("name", Text(name)), ("seen_at", seen), ("booted_at", booted)]));
        }
    }
    let owners = workers.into_iter().map(Text).chain([Null, Text("ghost"), Text("")]);
    let mut id = 0;
    for worker in owners {
        // None at a threshold: which second a snapshot falls into is chance.
        for started in [Null, Ago(30), Ago(602), Ago(4000), Ago(-3600)] {
            id += 1;
            rows.push(insert(
                "order_queue",
                &[
                    ("id", Int(id)),
                    ("status", Text("working")),
                    ("worker", worker),
                    ("started", started),
                    ("tries", Int(id % 6)),
                    ("paused", if id % 9 == 0 { Int(1) } else { Null }),
                ],
            ));
        }
    }
    as_in_memory(|lab| {
        lab.create(&[ORDERS, PINGS]);
        lab.edit(&rows);
        listed(lab, &mapping(ORDERS_MAPPING))
    });
}

const PATIENT: Table = Table {
    name: "patient",
    columns: &[
        ("id", Kind::Id),
        ("status", Kind::Text),
        ("started", Kind::Time),
        ("beat", Kind::Time),
        ("patience", Kind::Int),
        ("expire_in", Kind::Int),
    ],
};

/// Thresholds that the row itself carries, and may not carry.
fn patient() -> Vec<Edit> {
    let mut rows = Vec::new();
    for started in [Null, Ago(100), Ago(5000)] {
        for beat in [Null, Ago(-30), Ago(100), Ago(5000)] {
            for patience in [Null, Int(-5), Int(0), Int(60), Int(4000), Int(i64::MAX)] {
                for expire_in in [Null, Int(-5), Int(0), Int(60), Int(4000), Int(100_000_000), Int(i64::MAX)] {
                    rows.push(insert(
                        "patient",
                        &[
                            ("id", Int(rows.len() as i64)),
                            ("status", Text("on")),
                            ("started", started),
                            ("beat", beat),
                            ("patience", patience),
                            ("expire_in", expire_in),
                        ],
                    ));
                }
            }
        }
    }
    rows
}

fn patient_with(liveness: &str) -> Preset {
    mapping(&format!(
        r#"
        time   = {{ default = {{ sqlite = "epoch s", postgres = "native" }} }}
        states = {{ waiting = ["off"], in_flight = ["on"] }}
        [claim]
        table = "patient"
        key = "id"
        state = "status"
        claimed_at = "started"
        liveness = [{liveness}]
        [action.requeue]
        to = "off"
        "#
    ))
}

#[test]
fn thresholds_and_spans_on_the_row() {
    const AGE: &str = "{ by = 'age', column = 'started', silent_after = '1h' }";
    let rows = patient();
    for liveness in [
        format!("{{ by = 'heartbeat', column = 'beat', silent_after = 'patience' }}, {AGE}"),
        "{ by = 'lease', column = 'started', plus = 'expire_in' }, \
         { by = 'heartbeat', column = 'beat', silent_after = '1m' }"
            .to_owned(),
        format!("{{ by = 'heartbeat', column = 'beat', silent_after = 'required' }}, {AGE}"),
        // No source at all: all are unknown.
        String::new(),
    ] {
        as_in_memory(|lab| {
            lab.create(&[PATIENT]);
            lab.edit(&rows);
            listed(lab, &patient_with(&liveness))
        });
    }
}

/// More than two pages, in which almost everything ties, through every listing.
#[test]
fn pages_lose_nothing_and_repeat_nothing() {
    let mut rows = Vec::new();
    for n in 0..2500_i64 {
        let (lease, heartbeat, claimed) = match n {
            // Decided by the lease, the heartbeat, the claim, and by nothing.
            0..950 => (Ago(1000 + n % 2), Null, Null),
            950..1900 => (Null, Ago(2000), Ago(3000)),
            1900..1950 => (Null, Null, Ago(8000)),
            _ => (Null, Null, Null),
        };
        rows.push(insert(
            "jobs",
            &[
                ("id", Int(n * 7)),
                ("status", Text("RUNNING")),
                ("lease_expires_at", lease),
                ("heartbeat_at", heartbeat),
                ("claimed_at", claimed),
            ],
        ));
    }
    let expected: Vec<String> = (0..2500).map(|n| (n * 7).to_string()).collect();
    for_each_store(|lab| {
        lab.create(&[JOBS]);
        lab.edit(&rows);
        let (store, spec) = fitted(lab, &built_in("lease"));
        for wanted in [Wanted::All, cutoffs(&*look(&*store), &Policy::default())] {
            let claims = scan(&*store, &spec, &wanted);
            once(lab, &claims);
            let there = keys(&claims);
            let missing: Vec<&String> =
                expected.iter().filter(|key| there.binary_search(key).is_err()).take(5).collect();
            assert_eq!(claims.len(), expected.len(), "{}: {wanted:?} lost {missing:?}", lab.name());
        }
    });
}

/// The same where what the pages are ordered by is NULL for most.
#[test]
fn pages_of_rows_without_a_sign() {
    let rows: Vec<Edit> = (0..2500_i64)
        .map(|n| {
            let beat = if n % 3 == 0 { Ago(50) } else { Null };
            let started = if n % 3 == 1 { Ago(9000) } else { Null };
            insert("patient", &[("id", Int(n)), ("status", Text("on")), ("beat", beat), ("started", started)])
        })
        .collect();
    let presets = [
        "{ by = 'heartbeat', column = 'beat', silent_after = 'required' }",
        "{ by = 'heartbeat', column = 'beat', silent_after = 'patience' }, \
         { by = 'age', column = 'started', silent_after = '1h' }",
    ];
    for_each_store(|lab| {
        lab.create(&[PATIENT]);
        lab.edit(&rows);
        presets.iter().for_each(|liveness| drop(listed(lab, &patient_with(liveness))));
    });
}

#[test]
fn an_empty_table_has_no_claims() {
    as_in_memory(|lab| {
        lab.create(&[JOBS]);
        listed(lab, &built_in("lease"))
    });
}

#[test]
fn the_states_in_use() {
    as_in_memory(|lab| {
        lab.create(&[JOBS]);
        let statuses = [Text("QUEUED"), Text("RUNNING"), Text("RUNNING"), Null, Text("odd"), Text("")];
        let rows = statuses.iter().enumerate();
        let rows: Vec<Edit> =
            rows.map(|(n, status)| insert("jobs", &[("id", Int(n as i64)), ("status", *status)])).collect();
        lab.edit(&rows);
        let (store, spec) = fitted(lab, &built_in("lease"));
        let mut states: Vec<String> =
            look(&*store).states_in_use(&spec).unwrap().iter().map(ToString::to_string).collect();
        states.sort();
        states
    });
}

/// Stopped by hand, say, or on a machine that slept or was busy. Postgres ends a snapshot that stands about for as long as it may
/// take in all, and hangs up: that is no server that was lost.
#[test]
fn a_look_that_stood_about_for_too_long_has_run_out_of_time() {
    for lab in [PostgresLab::new(), PostgresLab::by(Route::Pooled)] {
        lab.create(&[JOBS]);
        let (store, spec) = fitted(&lab, &built_in("lease"));
        let limits = Limits { deadline: Instant::now() + Duration::from_secs(1), ..limits() };
        let mut reader = store.reader(&limits, &[]).unwrap();
        thread::sleep(limits.left() + Duration::from_millis(200));
        let error = reader.scan(&spec, &Wanted::All, Detail::ForAction, &mut |_| ()).unwrap_err();
        assert_eq!(error.kind, StoreErrorKind::TimedOut, "{}: {error:?}", lab.name());
    }
}
