//! What there is nothing to judge by is unknown, and says what it lacks: silence must never pass for health.

use super::claims::{ago, now};
use super::prefilter::running;
use super::queue::lease;
use jobdoctor::model::{Action, Claim, Reading, Sign};
use jobdoctor::output::sentence;
use jobdoctor::policy::{
    EarlierSnapshot, Globs, Policy, StateLimit, TooLong, Verdict, explain, judge, key_print, seen,
};
use jobdoctor::preset::{ClaimSpec, Jobs, Liveness, SilentAfter};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// A queue that shows no sign of life but when a job was claimed.
fn signless() -> (Jobs, Claim) {
    let (mut spec, mut claim) = (lease().clone(), super::queue_claim());
    spec.liveness.clear();
    claim.signs.clear();
    claim.heartbeat = Reading::Absent;
    (spec, claim)
}

fn lacking(spec: &Jobs, claim: &Claim, policy: &Policy) -> String {
    match judge(spec, claim, policy, now()).verdict {
        Verdict::Unknown(lacking) => lacking.iter().map(sentence).collect::<Vec<_>>().join("; "),
        verdict => panic!("{verdict:?}"),
    }
}

fn limited(seconds: u64) -> Policy {
    let limit = StateLimit {
        number: 1,
        state: running(),
        queue: Globs::default(),
        kind: Globs::default(),
        after: Duration::from_secs(seconds),
        since: None,
        action: Action::Fail,
    };
    Policy { too_long: TooLong { target: "shop".to_owned(), entries: vec![limit] }, ..Policy::default() }
}

#[test]
fn a_queue_without_any_sign_of_life() {
    let (spec, claim) = signless();
    assert!(claim.claimed_at.at().is_some(), "that it was claimed is no sign of life");
    let add =
        r#"no liveness is declared; add liveness = [{ by = "age", column = "claimed_at", silent_after = "30m" }]"#;
    assert_eq!(lacking(&spec, &claim, &Policy::default()), add);
    let spec = Jobs { claim: ClaimSpec { claimed_at: None, ..spec.claim.clone() }, ..spec };
    assert!(lacking(&spec, &claim, &Policy::default()).contains("only a restart sweep can judge its claims"));
}

#[test]
fn a_queue_that_nothing_can_be_done_to_says_why() {
    let (mut spec, claim) = signless();
    spec.actions.values_mut().for_each(|moved| moved.refused = Some("it mends itself".to_owned()));
    assert_eq!(lacking(&spec, &claim, &Policy::default()), "it mends itself");
}

/// How long it may be in its state is something to judge by, where it is known since when it is.
#[test]
fn a_limit_of_time_counts_from_a_time() {
    let (spec, mut claim) = signless();
    assert_eq!(judge(&spec, &claim, &limited(701), now()).verdict, Verdict::Healthy);
    assert!(matches!(judge(&spec, &claim, &limited(600), now()).verdict, Verdict::Stuck(_)));
    claim.claimed_at = Reading::Absent;
    assert!(lacking(&spec, &claim, &limited(600)).contains("no liveness is declared"));
}

/// A heartbeat whose threshold is on the row, and is not there: the next source is asked, and none is a guess.
#[test]
fn a_row_without_a_threshold_of_its_own() {
    let (mut spec, mut claim) = (lease().clone(), super::queue_claim());
    let per_row = SilentAfter::Column(spec.claim.key[0].clone());
    spec.liveness.retain(|source| matches!(source, Liveness::Heartbeat { .. }));
    let Some(Liveness::Heartbeat { silent_after, .. }) = spec.liveness.first_mut() else { panic!("a heartbeat") };
    *silent_after = per_row;
    let beat = |silent_after| Sign { silent_after, ..super::queue_claim().signs[1].clone() };
    claim.signs = vec![beat(None)];
    assert_eq!(
        lacking(&spec, &claim, &Policy::default()),
        "no sign of life to judge by: nothing in heartbeat",
        "which is to say that no source had an opinion"
    );
    claim.signs = vec![beat(Some(Duration::from_secs(661)))];
    assert_eq!(judge(&spec, &claim, &Policy::default(), now()).verdict, Verdict::Healthy);
}

/// Progress alone is judged by the silence that the operator allows.
#[test]
fn progress_without_any_other_sign() {
    let (mut spec, mut claim) = signless();
    spec.claim.progress = spec.claim.precondition.iter().take(1).cloned().collect();
    claim.progress = Some(jobdoctor::model::Precondition("7".to_owned()));
    let last = seen(None, &claim, ago(400));
    // It has changed since in something else, so it has not stood still.
    claim.precondition = jobdoctor::model::Precondition("another".to_owned());
    let looks = EarlierSnapshot { taken_at: ago(5), seen: HashMap::from([(key_print(&claim), last)]) };
    let judged = |older: Option<u64>| {
        let older = older.map(Duration::from_secs);
        let policy = Policy { older, earlier: Some(Arc::new(looks.clone())), ..Policy::default() };
        let judgement = explain(&spec, &claim, &policy, now());
        let asked = judgement.checks.iter().filter(|check| sentence(&check.finding).starts_with("no progress")).count();
        assert_eq!(asked, usize::from(older.is_some()), "once, and not again as if its owner were known to live");
        judgement.verdict
    };
    let Verdict::Stuck(reasons) = judged(Some(300)) else { panic!("{:?}", judged(Some(300))) };
    assert!(sentence(&reasons[0].finding).starts_with("no progress for 6m 40s"), "{reasons:?}");
    assert!(!judged(Some(500)).is_death(), "{:?}", judged(Some(500)));
    assert!(matches!(judged(None), Verdict::Unknown(_)), "{:?}", judged(None));
}
