//! The instants at which a verdict turns, to the microsecond: what is not over yet is no reason.

use super::claims::{ago, now};
use super::queue::lease;
use jobdoctor::model::{Claim, Reading, Timestamp};
use jobdoctor::policy::{Policy, Restart, RestartScope, Rule, Verdict, judge};

fn rules(claim: &Claim, policy: &Policy) -> Vec<Rule> {
    match judge(lease(), claim, policy, now()).verdict {
        Verdict::Stuck(reasons) => reasons.iter().map(|reason| reason.rule).collect(),
        _ => Vec::new(),
    }
}

fn moved(at: Timestamp, micros: i64) -> Timestamp {
    Timestamp::from_micros(at.micros() + micros).expect("it is in range")
}

#[test]
fn a_deadline_is_passed_after_its_instant() {
    for (micros, is_passed) in [(-1, true), (0, false), (1, false)] {
        let claim = Claim { deadline: Reading::At(moved(now(), micros)), ..super::queue_claim() };
        let found = rules(&claim, &Policy::default());
        assert_eq!(found.contains(&Rule::DeadlinePassed), is_passed, "{micros} µs from now: {found:?}");
    }
}

#[test]
fn a_restart_ends_the_claims_that_were_made_before_it() {
    let before = ago(100);
    let restart = Restart { scope: RestartScope::AllOwners, before: Some(before), began: now(), first: None };
    let policy = Policy { restart: Some(restart), ..Policy::default() };
    for (micros, is_dead) in [(-1, true), (0, false), (1, false)] {
        let claim = Claim { claimed_at: Reading::At(moved(before, micros)), ..super::queue_claim() };
        let found = rules(&claim, &policy);
        assert_eq!(found, if is_dead { vec![Rule::Restart] } else { vec![] }, "{micros} µs from it");
    }
}
