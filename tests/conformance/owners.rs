//! Owners in a table of their own: alive, silent, without a heartbeat, gone, or never named.

use crate::support::doctor::{fit, mapping, verdicts};
use crate::support::edit::Value::{Ago, Int, Null, Text};
use crate::support::edit::{Value, insert};
use crate::support::labs::{Lab, as_in_memory, for_each_store};
use crate::support::tables::{ORDERS, ORDERS_MAPPING, PINGS};
use jobdoctor::policy::{Globs, Policy, Restart, RestartScope};

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
    let store = lab.store();
    let spec = fit(&*store, &mapping(mapping_text));
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
                "7 stuck by owner_missing",
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
        let began = crate::support::doctor::look(&*lab.store()).now();
        let scopes = [
            RestartScope::AllOwners,
            RestartScope::Owners(Globs::new(&["al*".to_owned()]).unwrap()),
            RestartScope::Owners(Globs::new(&["*".to_owned()]).unwrap()),
        ];
        scopes.map(|scope| {
            let store = lab.store();
            let spec = fit(&*store, &mapping(ORDERS_MAPPING));
            let policy =
                Policy { restart: Some(Restart { scope, before: None, began, first: None }), ..Policy::default() };
            // A sweep looks at all claims, not at suspects.
            let mut dead = Vec::new();
            for claim in crate::support::doctor::scan(&*store, &spec, &jobdoctor::store::Wanted::All) {
                if jobdoctor::policy::judge(&spec, &claim, &policy, began).verdict.is_death() {
                    dead.push(claim.key.to_string());
                }
            }
            dead.sort();
            dead
        })
    });
}
