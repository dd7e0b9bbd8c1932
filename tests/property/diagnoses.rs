//! Whatever the findings are: each stuck job is part of one event or none, no order of reading changes anything, and there
//! is a bound to what is kept.

use super::claims::{ago, claim, now};
use super::queue::lease;
use super::queue_claim;
use super::tries;
use jobdoctor::model::{Claim, Owner, Reading};
use jobdoctor::output;
use jobdoctor::policy::{Diagnoses, Diagnosis, DiagnosisKind, Group, Grouped, PlannedActions, Policy, Verdict, judge};
use proptest::prelude::*;

fn grouped(claims: &[Claim]) -> Grouped {
    with_groups(claims).0
}

/// The diagnoses, and the group of each listed claim that has one.
fn with_groups(claims: &[Claim]) -> (Grouped, Vec<Group>) {
    let (mut diagnoses, mut groups) = (Diagnoses::new(lease()), Vec::new());
    for claim in claims {
        let judgement = judge(lease(), claim, &Policy::default(), now());
        if judgement.verdict != Verdict::Healthy {
            groups.extend(diagnoses.add(claim, &judgement, true, PlannedActions::default()));
        }
    }
    claims.iter().for_each(|claim| diagnoses.holds(claim.owner.as_ref(), 1));
    (diagnoses.finish(), groups)
}

fn stuck(claims: &[Claim]) -> u64 {
    let is_stuck =
        |claim: &&Claim| matches!(judge(lease(), claim, &Policy::default(), now()).verdict, Verdict::Stuck(_));
    claims.iter().filter(is_stuck).count() as u64
}

prop_compose! {
    /// Claims of few owners and kinds, so that some have much in common.
    fn some()(claim in claim(), host in 0..3_u8, pid in 0..3_u8, kind in 0..3_u8, named in 0..9_u8) -> Claim {
        let id = format!("host-{host}:{pid}");
        let owner = Owner { host_spelling: Default::default(), host: Some(format!("host-{host}")), name: id.clone(), id };
        let kind = (kind > 0).then(|| format!("kind {kind}"));
        Claim { owner: (named > 0).then_some(owner), kind, ..claim }
    }
}

proptest! {
    #![proptest_config(tries(300))]

    #[test]
    fn they_add_up_in_any_order(claims in proptest::collection::vec(some(), 0..40)) {
        let (told, groups) = with_groups(&claims);
        for diagnosis in told.diagnoses.iter().filter(|one| one.what != DiagnosisKind::NoClaimTime) {
            let explained = groups.iter().filter(|group| diagnosis.groups.contains(group)).count() as u64;
            prop_assert_eq!(explained, diagnosis.jobs, "{:#?}", diagnosis);
        }
        let is_of_its_own = |kind: &DiagnosisKind| *kind != DiagnosisKind::NoClaimTime && !kind.is_of_unknown_claims();
        let of_their_own = told.diagnoses.iter().filter(|diagnosis| is_of_its_own(&diagnosis.what));
        let sum: u64 = of_their_own.map(|diagnosis| diagnosis.jobs).sum();
        prop_assert_eq!(sum + told.alone, stuck(&claims), "{:#?}", told);
        let text = |diagnosis: &Diagnosis| output::Diagnosis::of(diagnosis.clone(), now()).text;
        prop_assert!(told.diagnoses.iter().all(|diagnosis| diagnosis.jobs > 0 && !text(diagnosis).is_empty()));
        let backwards: Vec<Claim> = claims.into_iter().rev().collect();
        prop_assert_eq!(grouped(&backwards), told);
    }

    /// Whoever holds a claim that is alive has not vanished.
    #[test]
    fn nobody_alive_has_vanished(claims in proptest::collection::vec(some(), 0..40)) {
        let told = grouped(&claims);
        let alive: Vec<&Owner> = claims
            .iter()
            .filter(|claim| judge(lease(), claim, &Policy::default(), now()).verdict == Verdict::Healthy)
            .filter_map(|claim| claim.owner.as_ref())
            .collect();
        for diagnosis in &told.diagnoses {
            let gone = matches!(diagnosis.what, DiagnosisKind::Vanished | DiagnosisKind::OneByOne | DiagnosisKind::Silent(_) | DiagnosisKind::AllSilent);
            let lives = alive.iter().any(|owner| match &diagnosis.owner {
                Some(name) => *name == owner.name,
                None => diagnosis.host.is_some() && diagnosis.host == owner.host && diagnosis.kind.is_none(),
            });
            prop_assert!(!(gone && lives), "{diagnosis:?}");
            prop_assert!(diagnosis.what != DiagnosisKind::AllSilent || alive.is_empty(), "{diagnosis:?}");
            // A mutant that compares each death with the one before it takes an hour of deaths for one.
            if let (DiagnosisKind::Vanished, Some(since), Some(until)) = (&diagnosis.what, diagnosis.since, diagnosis.until) {
                prop_assert!(until.since(since).as_secs() <= 60, "{diagnosis:?}");
            }
        }
    }
}

/// An owner for every claim, more of them than are told apart: they stand alone, and nothing is said of all.
#[test]
fn owners_without_end_are_counted_and_no_more() {
    let one = |n: i64| {
        let id = format!("{n}");
        let mut claim = Claim {
            owner: Some(Owner { host_spelling: Default::default(), host: None, name: id.clone(), id }),
            ..queue_claim()
        };
        claim.heartbeat = Reading::At(ago(1000 + n % 30));
        claim.signs[1].at = claim.heartbeat.clone();
        claim
    };
    let few: Vec<Claim> = (0..10_000).map(one).collect();
    let told = grouped(&few);
    assert_eq!(
        (&told.diagnoses[0].what, told.diagnoses[0].jobs, told.diagnoses[0].owners),
        (&DiagnosisKind::AllSilent, 10_000, Some(10_000))
    );
    let many: Vec<Claim> = (0..25_000).map(one).collect();
    let told = grouped(&many);
    assert_eq!(
        (&told.diagnoses[0].what, told.diagnoses[0].jobs, told.alone),
        (&DiagnosisKind::Vanished, 10_000, 15_000)
    );
}
