use super::claims::{claim, now};
use super::queue::lease;
use super::tries;
use jobdoctor::model::{Action, Cell, EvidenceRow, FailCode, Precondition, Step, Write};
use jobdoctor::policy::{Digest, Draft, Policy, SkipReason, Verdict, draft, judge};
use proptest::prelude::*;
use std::time::Duration;

proptest! {
    #![proptest_config(tries(300))]

    /// Every claim is a step or held; only what is dead becomes a step, and it keeps its precondition.
    #[test]
    fn only_the_dead_are_moved(claim in claim(), to in proptest::option::of(0_usize..3)) {
        let policy = Policy { older: Some(Duration::from_secs(300)), to: to.map(|n| Action::ALL[n]), ..Policy::default() };
        let judgement = judge(lease(), &claim, &policy, now());
        match draft(lease(), &claim, &judgement, &policy) {
            Draft::Step(step) => {
                prop_assert!(judgement.verdict.is_death());
                prop_assert_eq!(step.precondition(), &claim.precondition.0);
                prop_assert!(to.is_none_or(|n| step.action == Action::ALL[n]));
            }
            Draft::Skipped(held) => match judgement.verdict {
                Verdict::Healthy => prop_assert_eq!(held.reason, SkipReason::Healthy),
                Verdict::Unknown(_) => prop_assert_eq!(held.reason, SkipReason::Unknown),
                Verdict::Stuck(_) => prop_assert!(held.reason != SkipReason::Healthy),
            },
        }
    }

    /// One death costs one attempt; a job whose attempts are used up never goes back, even if it is asked to.
    #[test]
    fn attempts_are_respected(claim in claim(), forced in any::<bool>()) {
        let policy = Policy { to: forced.then_some(Action::Requeue), ..Policy::default() };
        let judgement = judge(lease(), &claim, &policy, now());
        if let Draft::Step(step) = draft(lease(), &claim, &judgement, &policy) {
            let before = match claim.attempts { Cell::Integer(n) => n, _ => 0 };
            if step.action != Action::Cancel || step.attempts_after.is_some() {
                prop_assert_eq!(step.attempts_after, before.checked_add(1));
            }
            if let (Action::Requeue, Cell::Integer(max)) = (step.action, &claim.max_attempts) {
                prop_assert!(before + 1 < *max, "{before} + 1 of {max}");
            }
        }
    }

    /// No job goes back that was lost as often as is allowed, or of which nobody knows how often it was.
    #[test]
    fn the_stall_budget_is_respected(claim in claim(), max in 0_u32..6, forced in any::<bool>()) {
        let policy =
            Policy { to: forced.then_some(Action::Requeue), max_stalls: Some(max), ..Policy::default() };
        let judgement = judge(lease(), &claim, &policy, now());
        if let Draft::Step(step) = draft(lease(), &claim, &judgement, &policy)
            && step.action == Action::Requeue
        {
            prop_assert!(claim.stalls.is_some_and(|stalls| stalls < i64::from(max)), "{:?} of {max}", claim.stalls);
        }
    }

    /// The digest does not depend on the order in which steps were found, and on everything in them.
    #[test]
    fn the_digest_is_of_the_set(claims in proptest::collection::vec(claim(), 1..12), swap in any::<u64>()) {
        let policy = Policy::default();
        let mut steps: Vec<Step> = claims
            .iter()
            .filter_map(|claim| match draft(lease(), claim, &judge(lease(), claim, &policy, now()), &policy) {
                Draft::Step(step) => Some(*step),
                Draft::Skipped(_) => None,
            })
            .collect();
        let digest = |steps: &[Step]| {
            let mut digest = Digest::default();
            steps.iter().for_each(|step| digest.add(Digest::print(step)));
            digest.hex("")
        };
        let whole = digest(&steps);
        if !steps.is_empty() {
            let at = (swap % steps.len() as u64) as usize;
            steps.rotate_left(at);
            prop_assert_eq!(&digest(&steps), &whole);
            let other = Precondition(format!("{}x", steps[0].precondition()));
            steps[0].stage = Write::Act { precondition: other, evidence_row: EvidenceRow::None, fail_code: FailCode::default(), or_fail: false, refusal: None };
            prop_assert_ne!(digest(&steps), whole);
        }
    }
}
