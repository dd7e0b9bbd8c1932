//! What earlier looks and lists do to a verdict, for every claim there may be.

use crate::property::tries;
use jobdoctor::model::{Cell, Claim, Clocks, EvidenceRow, Key, Precondition, Reading, Timestamp};
use jobdoctor::policy::{
    EarlierSnapshot, Globs, LiveOwners, Living, Policy, Rule, SeenClaim, Threshold, Verdict, judge, key_print, seen,
};
use jobdoctor::preset::Jobs;
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::property::claims::{ago, claim, now};
use crate::property::queue::lease;
use crate::property::queue_claim;

/// The reference schema with a column that shows progress.
fn with_progress() -> Jobs {
    let mut spec = lease().clone();
    spec.claim.progress = spec.claim.precondition.iter().take(1).cloned().collect();
    spec
}

/// A snapshot `last` seconds ago that had seen the claim as it is for `still` seconds then.
fn stood(claim: &Claim, still: i64, moved: bool) -> EarlierSnapshot {
    let seen = SeenClaim { moved, ..seen(None, claim, ago(still)) };
    EarlierSnapshot { taken_at: ago(still.min(5)), seen: HashMap::from([(key_print(claim), seen)]) }
}

fn policy(older: Option<u64>, looks: EarlierSnapshot) -> Policy {
    Policy { older: older.map(Duration::from_secs), earlier: Some(Arc::new(looks)), ..Policy::default() }
}

fn rules(verdict: &Verdict) -> Vec<Rule> {
    match verdict {
        Verdict::Stuck(reasons) => reasons.iter().map(|reason| reason.rule).collect(),
        _ => Vec::new(),
    }
}

proptest! {
    #![proptest_config(tries(300))]

    /// Nothing that stood still for less than asked is called stuck for it; and what looks say is said the same way twice.
    #[test]
    fn standing_still_takes_its_time(
        claim in claim(), still in 0_i64..20_000, moved in any::<bool>(), older in 1_u64..10_000, progress in any::<bool>(),
    ) {
        let (spec, mut claim) = (if progress { with_progress() } else { lease().clone() }, claim);
        claim.progress = progress.then(|| Precondition("7".to_owned()));
        let policy = policy(Some(older), stood(&claim, still, moved));
        let judgement = judge(&spec, &claim, &policy, now());
        let by_still = rules(&judgement.verdict).iter().any(|rule| [Rule::Unchanged, Rule::NoProgress].contains(rule));
        prop_assert!(!by_still || still as u64 >= older, "{judgement:#?}");
        prop_assert_eq!(judge(&spec, &claim, &policy, now()), judgement);
    }

    /// A snapshot never makes a running lease or a fresh heartbeat dead.
    #[test]
    fn life_stays_life(
        claim in claim(), still in 0_i64..100_000, left in 0_i64..1000, silence in 0_i64..300, by_lease in any::<bool>(),
    ) {
        let mut claim = claim;
        claim.progress = Some(Precondition("7".to_owned()));
        if by_lease {
            claim.signs[0].at = Reading::At(ago(-left));
        } else {
            claim.signs[0].at = Reading::Absent;
            claim.heartbeat = Reading::At(ago(silence));
            claim.signs[1].at = claim.heartbeat.clone();
        }
        let looks = stood(&claim, still, false);
        let judgement = judge(&with_progress(), &claim, &policy(Some(300), looks), now());
        prop_assert!(!judgement.verdict.is_death(), "{judgement:#?}");
    }

    /// A first snapshot judges as without one, and so does a claim that no look has seen.
    #[test]
    fn a_claim_that_was_never_seen(claim in claim(), older in proptest::option::of(1_u64..10_000)) {
        let spec = with_progress();
        let mut other = claim.clone();
        other.key = Key(vec![Cell::Text("another".to_owned())]);
        let plain = Policy { older: older.map(Duration::from_secs), ..Policy::default() };
        let with = policy(older, stood(&other, 90_000, true));
        prop_assert_eq!(judge(&spec, &claim, &plain, now()), judge(&spec, &claim, &with, now()));
    }

    /// A list condemns nobody that is on it, nobody that has no name, and nothing that came after it was made.
    #[test]
    fn a_list_condemns_the_missing_only(claim in claim(), made in -100_i64..10_000, listed in any::<bool>()) {
        let name = claim.owner.as_ref().filter(|_| listed).map_or("somebody-else", |owner| owner.id.as_str());
        let living = Living { live_owners: Arc::new(LiveOwners::parse(name).unwrap()), made_at: ago(made) };
        let policy = Policy { living: Some(living), ..Policy::default() };
        let judgement = judge(lease(), &claim, &policy, now());
        if rules(&judgement.verdict).contains(&Rule::LiveOwnerList) {
            prop_assert!(!listed && claim.owner.is_some());
            let is_before = |at: Option<Timestamp>| ago(made).is_after(at.unwrap(), Clocks::Two);
            prop_assert!(is_before(claim.claimed_at.at()) && is_before(judgement.last_seen_at), "{claim:#?}");
            prop_assert_eq!(judgement.liveness, Some("live_owner_list"));
        }
    }
}

/// A claim of the reference schema whose heartbeat is an hour ahead of the store's clock.
fn ahead() -> Claim {
    let mut claim = Claim { claimed_at: Reading::At(ago(-3000)), heartbeat: Reading::At(ago(-3600)), ..queue_claim() };
    for (sign, at) in claim.signs.iter_mut().zip([Reading::Absent, claim.heartbeat.clone(), claim.claimed_at.clone()]) {
        sign.at = at;
    }
    claim
}

fn verdict(claim: &Claim, looks: EarlierSnapshot) -> &'static str {
    judge(lease(), claim, &policy(None, looks), now()).verdict.kind().name()
}

/// Thresholds are reached: 5 minutes of looking are 5 minutes of silence at the least.
#[test]
fn a_wrong_clock_at_the_threshold() {
    assert_eq!(verdict(&ahead(), stood(&ahead(), 299, false)), "unknown");
    assert_eq!(verdict(&ahead(), stood(&ahead(), 299, true)), "healthy");
    assert_eq!(verdict(&ahead(), stood(&ahead(), 300, false)), "stuck");
    assert_eq!(verdict(&ahead(), stood(&ahead(), 300, true)), "stuck");
    let before = Claim { precondition: Precondition("as it was before".to_owned()), ..ahead() };
    assert_eq!(verdict(&ahead(), stood(&before, 90_000, false)), "healthy", "it has just changed");
}

/// The owner's own heartbeat is in another table, and is life as well.
#[test]
fn an_evidence_row_that_changes() {
    let with = |image: &str| Claim {
        evidence_row: EvidenceRow::Row { key: Cell::Integer(7), image: Precondition(image.to_owned()) },
        ..ahead()
    };
    assert_eq!(verdict(&with("b"), stood(&with("a"), 90_000, false)), "healthy");
    assert_eq!(verdict(&with("a"), stood(&with("a"), 90_000, false)), "stuck");
    assert_eq!(
        verdict(&Claim { evidence_row: EvidenceRow::Absent, ..ahead() }, stood(&with("a"), 90_000, false)),
        "healthy"
    );
}

/// What else is wrong with a claim is no question of clocks.
#[test]
fn what_looks_cannot_mend() {
    let still = |claim: &Claim| verdict(claim, stood(claim, 90_000, false));
    let unfit = || Reading::Unfit { raw: "soon".to_owned(), why: "is text".to_owned() };
    let mut claim = ahead();
    claim.signs[0].at = Reading::At(ago(-10));
    assert_eq!(still(&claim), "unknown", "a running lease");
    claim.signs[0].at = Reading::At(ago(-90_000_000));
    assert_eq!(still(&claim), "unknown", "a lease of years");
    claim.signs[0].at = Reading::At(ago(10));
    assert_eq!(still(&claim), "stuck", "a lease that has run out is no life");
    claim.signs[0].at = unfit();
    assert_eq!(still(&claim), "unknown");
    assert_eq!(still(&Claim { claimed_at: unfit(), ..ahead() }), "unknown");
    assert_eq!(still(&Claim { key: Key(vec![Cell::Null]), ..ahead() }), "unknown");
    let mut no_beat = ahead();
    (no_beat.heartbeat, no_beat.signs[1].at) = (Reading::Absent, Reading::Absent);
    assert_eq!(still(&no_beat), "unknown", "without a heartbeat a running job does not change either");
}

/// The store's clock was put back: nothing has stood still for longer than that clock says.
#[test]
fn a_clock_that_was_put_back() {
    let future = |at: Timestamp| EarlierSnapshot {
        taken_at: at,
        seen: HashMap::from([(key_print(&ahead()), seen(None, &ahead(), at))]),
    };
    assert_eq!(verdict(&ahead(), future(ago(-90_000))), "unknown");
    let kept = seen(Some(&seen(None, &ahead(), ago(-90_000))), &ahead(), now());
    assert_eq!((kept.since_at, kept.progress_since_at), (now(), now()));
}

/// The threshold of the claim's own kind is the one that counts here too, be it longer or shorter than the target's.
#[test]
fn a_wrong_clock_under_the_threshold_of_its_kind() {
    let resize = || Claim { kind: Some("Resize".to_owned()), ..ahead() };
    let under = |older: u64| {
        let kind = Globs::new(&["Resize".to_owned()]).unwrap();
        let entry = Threshold { kind, older: Some(Duration::from_secs(older)), ..Threshold::default() };
        let mut policy = policy(Some(300), stood(&resize(), 600, false));
        policy.thresholds.entries = vec![entry];
        judge(lease(), &resize(), &policy, now()).verdict.kind().name()
    };
    assert_eq!(under(500), "stuck");
    assert_eq!(under(18_000), "unknown", "five hours are allowed, and it was looked at for ten minutes");
}
