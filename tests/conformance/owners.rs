//! Owners in a table of their own: alive, silent, without a heartbeat, gone, or never named.

use crate::support::doctor::{apply, cutoffs, fit, fitted, look, mapping, outcomes, planned, scan, verdicts};
use crate::support::edit::Value::{Ago, Int, Null, Text};
use crate::support::edit::{Value, insert};
use crate::support::labs::{Lab, as_in_memory, for_each_store};
use crate::support::tables::{ORDERS, ORDERS_MAPPING, PINGS};
use jobdoctor::model::{Claim, Key, Outcome, Owner, OwnerRow, Precondition, Reading, Sign};
use jobdoctor::policy::{
    Globs, Inconsistency, LiveOwners, Living, Policy, Restart, RestartScope, Rule, Verdict, judge,
};
use jobdoctor::preset::Jobs;
use jobdoctor::store::Wanted;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

fn set_up(lab: &dyn Lab) {
    lab.create(&[ORDERS, PINGS]);
    let ping = |name: &'static str, seen: Value, booted: Value| {
        insert("worker_pings", &[("name", Text(name)), ("seen_at", seen), ("booted_at", booted)])
    };
    lab.edit(&[
        ping("alive", Ago(1), Ago(9000)),
        ping("silent", Ago(600), Ago(9000)),
        ping("mute", Null, Null),
        ping("reborn", Ago(1), Ago(60)),
        ping("early", Ago(-3600), Null),
        ping("unborn", Ago(1), Ago(-3600)),
    ]);
    let owners = [
        Text("alive"),
        Text("silent"),
        Text("mute"),
        Text("reborn"),
        Text("early"),
        Text("ghost"),
        Null,
        Text(""),
        Text("unborn"),
    ];
    for (n, worker) in owners.into_iter().enumerate() {
        let id = Int(n as i64);
        let cells =
            [("id", id), ("status", Text("working")), ("worker", worker), ("started", Ago(2400)), ("tries", Int(0))];
        lab.edit(&[insert("order_queue", &cells)]);
    }
}

/// Which rule or what else came of each job, by its id.
fn ends(lab: &dyn Lab, mapping_text: &str, policy: &Policy) -> Vec<String> {
    let (store, spec) = fitted(lab, &mapping(mapping_text));
    let said = verdicts(&*store, &spec, policy);
    said.iter()
        .map(|line| {
            let (head, verdict) = line.split_once(": ").unwrap();
            format!("{} {}", head.split(' ').next().unwrap(), verdict.split(';').next().unwrap())
        })
        .collect()
}

#[test]
fn the_heartbeat_of_the_owner_decides() {
    for_each_store(|lab| {
        set_up(lab);
        // The age would only speak after half an hour, and the claims are 40 minutes old.
        assert_eq!(
            ends(lab, ORDERS_MAPPING, &Policy::default()),
            [
                "1 stuck by owner_silent",
                "2 stuck by claim_age",
                "3 stuck by owner_restarted",
                "4 unknown",
                "5 stuck by owner_missing",
                "6 stuck by claim_age",
                "7 stuck by claim_age",
                "8 unknown",
            ],
            "{}",
            lab.name()
        );
        // Where it is no source it is a sign of life all the same, and may not hide what the other sources show.
        let by_age = r#"[{ by = "age", column = "started", silent_after = "30m" }]"#;
        let both = ORDERS_MAPPING.split("liveness   = ").nth(1).unwrap().split('\n').next().unwrap();
        let ends = ends(lab, &ORDERS_MAPPING.replace(both, by_age), &Policy::default());
        assert!(ends.contains(&"4 unknown".to_owned()), "{}: {ends:#?}", lab.name());
    });
}

#[test]
fn what_an_absent_owner_means_is_the_presets_word() {
    as_in_memory(|lab| {
        set_up(lab);
        let mut all = Vec::new();
        for missing in ["dead", "next", "unknown"] {
            for unset in ["dead", "next", "unknown"] {
                let text = ORDERS_MAPPING
                    .replace(r#"missing   = "dead""#, &format!("missing = '{missing}'"))
                    .replace(r#"unset     = "next""#, &format!("unset = '{unset}'"));
                let ends = ends(lab, &text, &Policy::default());
                let of = |id: &str| ends.iter().find(|line| line.starts_with(id)).cloned().unwrap_or_default();
                let expected = |word: &str, rule: &str| match word {
                    "dead" => format!("stuck by {rule}"),
                    "next" => "stuck by claim_age".to_owned(),
                    _ => "unknown".to_owned(),
                };
                assert_eq!(of("5"), format!("5 {}", expected(missing, "owner_missing")), "{}", lab.name());
                assert_eq!(of("6"), format!("6 {}", expected(unset, "owner_unset")), "{}", lab.name());
                all.push(ends);
            }
        }
        all
    });
}

#[test]
fn a_restart_sweep_takes_the_owners_in_its_scope_whatever_their_age() {
    as_in_memory(|lab| {
        set_up(lab);
        let began = look(&*lab.store()).now();
        let scopes = [
            RestartScope::AllOwners,
            RestartScope::Owners(Globs::new(&["al*".to_owned()]).unwrap()),
            RestartScope::Owners(Globs::new(&["*".to_owned()]).unwrap()),
        ];
        scopes.map(|scope| {
            let (store, spec) = fitted(lab, &mapping(ORDERS_MAPPING));
            let policy =
                Policy { restart: Some(Restart { scope, before: None, began, first: None }), ..Policy::default() };
            // A sweep looks at all claims, not at suspects.
            let mut dead = Vec::new();
            for claim in scan(&*store, &spec, &Wanted::All) {
                if judge(&spec, &claim, &policy, began).verdict.is_death() {
                    dead.push(claim.key.to_string());
                }
            }
            dead.sort();
            dead
        })
    });
}

/// What names nobody: NULL first, and blanks of which some are no ASCII.
const NOBODY: [Value; 6] = [Null, Text(""), Text(" "), Text("\t"), Text("\u{2003}\u{a0}"), Text("\u{3000}\n")];

/// Jobs of nobody, and rows of the owners' table that have these names: alive, silent, restarted.
fn set_up_nobody(lab: &dyn Lab) {
    lab.create(&[ORDERS, PINGS]);
    for (n, worker) in NOBODY.into_iter().enumerate() {
        let id = Int(n as i64);
        let cells =
            [("id", id), ("status", Text("working")), ("worker", worker), ("started", Ago(2400)), ("tries", Int(0))];
        lab.edit(&[insert("order_queue", &cells)]);
        if n > 0 {
            let seen = if n % 2 == 0 { Ago(1) } else { Ago(600) };
            lab.edit(&[insert(
                "worker_pings",
                &[("name", worker), ("seen_at", seen), ("booted_at", Ago(60 * n as i64))],
            )]);
        }
    }
}

/// Every policy whose rules read an owner, by name.
fn policies(began: jobdoctor::model::Timestamp) -> Vec<(&'static str, Policy)> {
    let living = || Living { live_owners: Arc::new(LiveOwners::parse("web1\n").unwrap()), made_at: began };
    let restart = |scope: RestartScope| Policy {
        restart: Some(Restart { scope, before: None, began, first: None }),
        ..Policy::default()
    };
    let globs = |pattern: &str| RestartScope::Owners(Globs::new(&[pattern.to_owned()]).unwrap());
    vec![
        ("the sources", Policy::default()),
        ("--older", Policy { older: Some(Duration::from_secs(7200)), ..Policy::default() }),
        ("a live-owner list", Policy { living: Some(living()), ..Policy::default() }),
        ("--restart --all-owners", restart(RestartScope::AllOwners)),
        ("--restart --owner '*'", restart(globs("*"))),
        ("--restart --owner ''", restart(globs(""))),
        ("--restart --host ''", restart(RestartScope::Hosts(vec![String::new(), " ".to_owned()]))),
        ("--restart --alive-from", restart(RestartScope::NotListed(living()))),
    ]
}

/// The mapping with each meaning of an absent owner, and with an owner that says nothing about life.
fn mappings() -> Vec<String> {
    let mut mappings = vec![ORDERS_MAPPING.replace(r#"{ by = "owner", silent_after = "2m" }, "#, "")];
    for missing in ["dead", "next", "unknown"] {
        for unset in ["dead", "next", "unknown"] {
            let text = ORDERS_MAPPING.replace(r#"missing   = "dead""#, &format!("missing = '{missing}'"));
            mappings.push(text.replace(r#"unset     = "next""#, &format!("unset = '{unset}'")));
        }
    }
    mappings
}

#[test]
fn an_owner_of_blanks_is_nobody_to_every_rule() {
    as_in_memory(|lab| {
        set_up_nobody(lab);
        let (store, mut all) = (lab.store(), Vec::new());
        for text in mappings() {
            let spec = fit(&*store, &mapping(&text));
            let mut claims = scan(&*store, &spec, &Wanted::All);
            claims.sort_by_key(|claim| claim.key.to_string());
            assert_eq!(claims.len(), NOBODY.len());
            // The rows were written one after another.
            let bare = |claim: &Claim| {
                let timeless = |sign: &Sign| match sign.at == claim.claimed_at {
                    true => Sign { at: Reading::Absent, ..sign.clone() },
                    false => sign.clone(),
                };
                Claim {
                    key: Key(Vec::new()),
                    precondition: Precondition(String::new()),
                    signs: claim.signs.iter().map(timeless).collect(),
                    claimed_at: Reading::Absent,
                    ..claim.clone()
                }
            };
            assert!(claims.iter().all(|claim| bare(claim) == bare(&claims[0])), "{}: {claims:#?}", lab.name());
            super::holders::must_be_those_of(lab, &spec, &claims);
            for (name, policy) in policies(look(&*store).now()) {
                let reader = look(&*store);
                let (now, wanted) = (reader.now(), cutoffs(&*reader, &policy));
                drop(reader);
                let verdicts: Vec<(&str, Vec<Rule>)> = claims
                    .iter()
                    .map(|claim| match judge(&spec, claim, &policy, now).verdict {
                        Verdict::Stuck(reasons) => ("stuck", reasons.iter().map(|reason| reason.rule).collect()),
                        other => (other.kind().name(), Vec::new()),
                    })
                    .collect();
                assert!(
                    verdicts.iter().all(|verdict| *verdict == verdicts[0]),
                    "{}: {name}: {verdicts:#?}",
                    lab.name()
                );
                let passed = scan(&*store, &spec, &wanted).len();
                let is_lost = verdicts[0].0 != "healthy" && !policy.needs_every_claim() && passed < NOBODY.len();
                assert!(!is_lost, "{}: {name}: {passed} pass the pre-filter: {text}", lab.name());
                all.push((name, verdicts[0].clone()));
            }
        }
        let (store, spec, steps) = planned(lab, &mapping(ORDERS_MAPPING));
        assert_eq!(outcomes(&apply(&*store, &spec, &steps)), [Outcome::Moved; NOBODY.len()], "{}", lab.name());
        all
    });
}

/// The mutant that takes any text for an owner: each of these rules notices it.
#[test]
fn an_owner_of_blanks_that_was_somebody_would_be_caught() {
    let lab = crate::support::labs::MemoryLab::new();
    set_up_nobody(&lab);
    let mut caught = BTreeSet::new();
    for text in mappings() {
        let spec: Jobs = fit(&*lab.store(), &mapping(&text));
        let nobody = scan(&*lab.store(), &spec, &Wanted::All).remove(0);
        let id = String::new();
        let somebody = Claim {
            owner: Some(Owner { name: id.clone(), host: Some(id.clone()), host_spelling: Default::default(), id }),
            owner_row: OwnerRow::Missing { seen: Reading::Absent },
            ..nobody.clone()
        };
        let now = look(&*lab.store()).now();
        for (name, policy) in policies(now) {
            let verdict = |claim: &Claim| judge(&spec, claim, &policy, now).verdict;
            if verdict(&nobody) != verdict(&somebody) {
                caught.insert(name);
            }
            let is_shown = |claim: &Claim| {
                Inconsistency::ALL.map(|one| one.is_shown_by(&spec, claim, &judge(&spec, claim, &policy, now)))
            };
            assert_ne!(is_shown(&nobody), is_shown(&somebody));
        }
    }
    let all: BTreeSet<&str> = policies(look(&*lab.store()).now()).into_iter().map(|(name, _)| name).collect();
    let differs: BTreeSet<&str> = all.into_iter().filter(|name| *name != "--restart --all-owners").collect();
    assert_eq!(caught.into_iter().filter(|name| *name != "--restart --all-owners").collect::<BTreeSet<_>>(), differs);
}
