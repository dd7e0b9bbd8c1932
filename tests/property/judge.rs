use super::claims::{ago, claim, now};
use super::queue::lease;
use super::tries;
use jobdoctor::model::{Claim, Reading, Timestamp};
use jobdoctor::policy::{Policy, Reason, Rule, Verdict, judge};
use proptest::prelude::*;
use std::time::Duration;

fn older(seconds: Option<u64>) -> Policy {
    Policy { older: seconds.map(Duration::from_secs), ..Policy::default() }
}

proptest! {
    #![proptest_config(tries(300))]

    /// Stuck and unknown come with reasons; the same claim is judged the same way twice.
    #[test]
    fn is_total_and_says_why(claim in claim(), seconds in proptest::option::of(1_u64..100_000)) {
        let spec = lease();
        let judgement = judge(spec, &claim, &older(seconds), now());
        match &judgement.verdict {
            Verdict::Healthy => {}
            Verdict::Stuck(reasons) => prop_assert!(!reasons.is_empty()),
            Verdict::Unknown(lacking) => prop_assert!(!lacking.is_empty()),
        }
        prop_assert_eq!(judge(spec, &claim, &older(seconds), now()), judgement);
    }

    /// A running lease is life, whatever `--older` says.
    #[test]
    fn a_running_lease_is_life(claim in claim(), left in 0_i64..1000, seconds in proptest::option::of(1_u64..100_000)) {
        let mut claim = claim;
        claim.signs[0].at = Reading::At(ago(-left));
        let verdict = judge(lease(), &claim, &older(seconds), now()).verdict;
        prop_assert!(!verdict.is_death(), "{verdict:?}");
    }

    /// A heartbeat within the threshold is life as well, unless a lease that is not outlived has run out.
    #[test]
    fn a_fresh_heartbeat_is_life(claim in claim(), threshold in 2_u64..100_000, part in 0.0_f64..1.0) {
        let mut claim = claim;
        let silence = (threshold as f64 * part) as i64;
        claim.heartbeat = Reading::At(ago(silence));
        claim.signs[1].at = claim.heartbeat.clone();
        claim.signs[0].at = Reading::Absent;
        let verdict = judge(lease(), &claim, &older(Some(threshold)), now()).verdict;
        prop_assert!(!verdict.is_death(), "{verdict:?}");
    }

    /// With `--older`, nothing that is silent for less is called dead, whatever its lease says.
    #[test]
    fn nothing_younger_than_asked_is_dead(claim in claim(), threshold in 1_u64..100_000) {
        let judgement = judge(lease(), &claim, &older(Some(threshold)), now());
        if judgement.verdict.is_death() {
            prop_assert!(judgement.silence.is_none_or(|silence| silence >= Duration::from_secs(threshold)));
        }
    }

    /// Time alone never brings a dead claim back to life.
    #[test]
    fn death_is_for_good(claim in claim(), seconds in proptest::option::of(1_u64..100_000), later in 0_i64..10_000_000) {
        let (spec, policy) = (lease(), older(seconds));
        if judge(spec, &claim, &policy, now()).verdict.is_death() {
            let verdict = judge(spec, &claim, &policy, ago(-later)).verdict;
            prop_assert!(verdict.is_death(), "{verdict:?}");
        }
    }

    /// A sign of life far ahead of the clock, or a value that does not fit, makes the verdict unknown; two seconds do not.
    #[test]
    fn what_cannot_be_right_is_unknown(claim in claim(), ahead in 61_i64..1_000_000) {
        let mut odd = claim.clone();
        odd.claimed_at = Reading::At(ago(-ahead));
        let verdict = judge(lease(), &odd, &older(None), now()).verdict;
        prop_assert!(matches!(verdict, Verdict::Unknown(_)), "{verdict:?}");
        let mut unfit = claim.clone();
        unfit.signs[1].at = Reading::Unfit { raw: "x".into(), why: "is text".into() };
        prop_assert!(matches!(judge(lease(), &unfit, &older(None), now()).verdict, Verdict::Unknown(_)));
        let mut fresh = claim;
        fresh.signs = fresh.signs.iter().map(|sign| { let mut sign = sign.clone(); sign.at = Reading::Absent; sign }).collect();
        fresh.signs[1].at = Reading::At(ago(-2));
        fresh.heartbeat = Reading::At(ago(-2));
        fresh.claimed_at = Reading::At(ago(50));
        fresh.signs[2].at = fresh.claimed_at.clone();
        fresh.deadline = Reading::Absent;
        fresh.max_runtime = None;
        prop_assert_eq!(judge(lease(), &fresh, &older(None), now()).verdict, Verdict::Healthy);
    }
}

/// A lease that the owner has outlived says nothing: the heartbeat judges. (The promise comes before the lease.)
#[test]
fn an_outlived_lease_does_not_kill() {
    let judged = |beat: i64| {
        let spec = lease();
        let mut claim = super::queue_claim();
        let at = |seconds: i64| Reading::At(ago(seconds));
        claim.signs[0].at = at(600);
        claim.signs[1].at = at(beat);
        claim.heartbeat = at(beat);
        judge(spec, &claim, &Policy::default(), now()).verdict
    };
    assert_eq!(judged(3), Verdict::Healthy);
    let Verdict::Stuck(reasons) = judged(599) else { panic!("599 s of silence are more than 5 m") };
    assert_eq!(reasons[0].rule, Rule::HeartbeatSilent);
    let Verdict::Stuck(reasons) = judged(660) else { panic!("the lease ran out after the last beat") };
    assert_eq!(reasons[0].rule, Rule::LeaseExpired);
}

/// A lease without any sign of life has been silent for at least as long as it has been over, and nobody knows how much
/// longer: with `--older`, what is not proven is unknown.
#[test]
fn a_lease_without_a_sign_is_not_called_silent_for_longer_than_it_is_over() {
    let judged = |older: u64| {
        let mut claim = super::queue_claim();
        claim.claimed_at = Reading::Absent;
        claim.heartbeat = Reading::Absent;
        claim.signs[1].at = Reading::Absent;
        claim.signs[2].at = Reading::Absent;
        judge(lease(), &claim, &self::older(Some(older)), now()).verdict
    };
    assert!(judged(599).is_death());
    assert!(matches!(judged(600), Verdict::Unknown(_)), "in one second it is not longer for sure");
}

/// Thresholds are exceeded, not reached.
#[test]
fn exactly_at_the_threshold_is_alive() {
    let mut claim = super::queue_claim();
    claim.signs[0].at = Reading::Absent;
    let beat = |micros: i64| {
        let at = Timestamp::from_micros(now().micros() - 300_000_000 - micros).expect("in range");
        let mut claim = claim.clone();
        claim.claimed_at = Reading::At(ago(4000));
        claim.heartbeat = Reading::At(at);
        claim.signs[1].at = Reading::At(at);
        judge(lease(), &claim, &Policy::default(), now()).verdict
    };
    assert_eq!(beat(0), Verdict::Healthy);
    assert!(matches!(beat(1), Verdict::Stuck(_)));
}

#[test]
fn a_deadline_is_passed_after_its_instant() {
    for (micros, is_passed) in [(-1, true), (0, false), (1, false)] {
        let deadline = Timestamp::from_micros(now().micros() + micros).expect("in range");
        let claim = Claim { deadline: Reading::At(deadline), ..super::queue_claim() };
        let verdict = judge(lease(), &claim, &Policy::default(), now()).verdict;
        let is_a_reason = |reasons: &[Reason]| reasons.iter().any(|reason| reason.rule == Rule::DeadlinePassed);
        let found = matches!(&verdict, Verdict::Stuck(reasons) if is_a_reason(reasons));
        assert_eq!(found, is_passed, "{micros} µs from now: {verdict:?}");
    }
}
