use super::rules::Policy;
use super::stalls::spent;
use super::verdict::{Judgement, Proves, Rule, Verdict};
use crate::model::{Action, AttemptsChange, Cell, Claim, Step};
use crate::preset::{ActionSpec, Exhausted, MaxCounts, QueueSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is to be done about one job.
#[derive(Debug, Clone, PartialEq)]
pub enum Draft {
    /// One action, with its precondition.
    Step(Box<Step>),
    /// Nothing, and why.
    Skipped(Skipped),
}

/// A job that was examined and is not acted on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Why, for programs.
    pub reason: SkipReason,
    /// Why, for people.
    pub detail: String,
}

/// Why a job is not acted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// Nobody can tell whether it is stuck.
    Unknown,
    /// It was named, and it is healthy.
    Healthy,
    /// It was named, and it is not in flight.
    NotInFlight,
    /// It is in trouble, but its owner shows life.
    OwnerAlive,
    /// It was to be requeued, and has no attempt left.
    AttemptsExhausted,
    /// Its attempts cannot be counted on.
    AttemptsUnreadable,
    /// It was to be requeued, and was lost as often as is allowed.
    StallsExhausted,
    /// Nobody can tell how often it was lost, and there is a limit to that.
    StallsUnreadable,
    /// The preset does not have this action.
    ActionNotOffered,
    /// The preset refuses this action.
    ActionRefused,
    /// A condition of the preset keeps it back.
    Preset,
    /// A saved plan named it, and it is not as that plan saw it.
    Changed,
    /// It was not the same in two snapshots.
    ChangedBetweenSnapshots,
}

impl SkipReason {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            SkipReason::Unknown => "unknown",
            SkipReason::Healthy => "healthy",
            SkipReason::NotInFlight => "not_in_flight",
            SkipReason::OwnerAlive => "owner_alive",
            SkipReason::AttemptsExhausted => "attempts_exhausted",
            SkipReason::AttemptsUnreadable => "attempts_unreadable",
            SkipReason::StallsExhausted => "stalls_exhausted",
            SkipReason::StallsUnreadable => "stalls_unreadable",
            SkipReason::ActionNotOffered => "action_not_offered",
            SkipReason::ActionRefused => "action_refused",
            SkipReason::Preset => "preset",
            SkipReason::Changed => "changed",
            SkipReason::ChangedBetweenSnapshots => "changed_between_snapshots",
        }
    }
}

/// Drafts what to do about one claim. The same draft serves the dry run and the apply.
pub fn draft(spec: &QueueSpec, claim: &Claim, judgement: &Judgement, policy: &Policy) -> Draft {
    match chosen(spec, claim, judgement, policy) {
        Ok(step) => Draft::Step(Box::new(step)),
        Err(skipped) => Draft::Skipped(skipped),
    }
}

/// Whether a rule that fires is acted on. A limit for a state is in the config file for no other reason.
fn acts(rule: Rule, policy: &Policy) -> bool {
    rule.proves() == Proves::Death || rule == Rule::TooLong || policy.act_on.contains(&rule)
}

/// Whether a claim that is judged like that would be moved, as far as the rules go.
pub(super) fn is_acted_on(judgement: &Judgement, policy: &Policy) -> bool {
    matches!(&judgement.verdict, Verdict::Stuck(reasons) if reasons.iter().any(|reason| acts(reason.rule, policy)))
}

fn skipped<T>(reason: SkipReason, detail: impl Into<String>) -> Result<T, Skipped> {
    Err(Skipped { reason, detail: detail.into() })
}

fn chosen(spec: &QueueSpec, claim: &Claim, judgement: &Judgement, policy: &Policy) -> Result<Step, Skipped> {
    let reasons = match &judgement.verdict {
        Verdict::Healthy => {
            let mut clear = judgement.checks.iter().filter(|check| check.result == super::CheckResult::Clear);
            // That nothing is wrong beside says less than what shows life, or how long it may still take.
            let beside = [Rule::DeadlinePassed.name(), Rule::MaxRuntime.name()];
            let why = clear.clone().find(|check| !beside.contains(&check.rule)).or_else(|| clear.next());
            return skipped(SkipReason::Healthy, why.map_or("it shows life", |check| check.detail.as_str()));
        }
        Verdict::Unknown(lacking) => return skipped(SkipReason::Unknown, lacking.join("; ")),
        Verdict::Stuck(reasons) => reasons,
    };
    let Some(reason) = reasons.iter().find(|reason| acts(reason.rule, policy)) else {
        let details: Vec<&str> = reasons.iter().map(|reason| reason.detail.as_str()).collect();
        return skipped(SkipReason::OwnerAlive, format!("{}, but its owner shows life", details.join("; ")));
    };
    let by_rule = match reason.rule {
        Rule::TooLong => policy.too_long.limit(claim).map(|limit| limit.action),
        rule => policy.actions.get(&rule).copied(),
    };
    let mut lost = None;
    let action = match (policy.to, by_rule) {
        (Some(to), _) => to,
        (None, _) if claim.cancel_requested && offers(spec, Action::Cancel) => Action::Cancel,
        // A requeue counts attempts and losses, whoever asks for it.
        (None, Some(by_rule)) if by_rule != Action::Requeue => by_rule,
        (None, None) if reason.rule == Rule::DeadlinePassed => Action::Fail,
        (None, _) if is_exhausted(spec, claim, Action::Requeue)? => Action::Fail,
        (None, _) => {
            lost = spent(claim, policy)?;
            if lost.is_some() { Action::Fail } else { Action::Requeue }
        }
    };
    let and_lost = |why: String| lost.as_ref().map_or(why.clone(), |lost| format!("{lost}; and {why}"));
    let moved = match spec.actions.get(&action) {
        None => {
            return skipped(SkipReason::ActionNotOffered, and_lost(format!("preset {} has no {action}", spec.preset)));
        }
        Some(moved) => moved,
    };
    if let Some(why) = &moved.refused {
        return skipped(SkipReason::ActionRefused, and_lost(why.clone()));
    }
    if action == Action::Requeue && is_exhausted(spec, claim, Action::Requeue)? {
        return skipped(SkipReason::AttemptsExhausted, "its attempts are used up: it can only fail");
    }
    if let (Action::Requeue, Some(lost)) = (action, spent(claim, policy)?) {
        return skipped(SkipReason::StallsExhausted, format!("{lost}: it can only fail"));
    }
    let mut skips = spec.skips.iter().zip(&claim.skips);
    if let Some((skip, _)) = skips.find(|(skip, applies)| **applies && skip.actions.contains(&action)) {
        return skipped(SkipReason::Preset, skip.reason.as_str());
    }
    Ok(Step {
        key: claim.key.clone(),
        queue: claim.queue.clone(),
        action,
        state_after: moved.to.name.clone(),
        attempts_after: attempts_after(spec, claim, moved)?,
        precondition: claim.precondition.clone(),
        evidence_row: claim.evidence_row.clone(),
    })
}

fn offers(spec: &QueueSpec, action: Action) -> bool {
    spec.actions.get(&action).is_some_and(|moved| moved.refused.is_none())
}

/// The counter after an action; `None` where the table has none, or holds NULL and keeps it.
fn attempts_after(spec: &QueueSpec, claim: &Claim, moved: &ActionSpec) -> Result<Option<i64>, Skipped> {
    if spec.attempts.column.is_none() {
        return Ok(None);
    }
    let before = match (&claim.attempts, moved.attempts) {
        (Cell::Integer(n), _) => *n,
        (Cell::Null, AttemptsChange::Keep) => return Ok(None),
        (Cell::Null, _) => 0,
        (other, AttemptsChange::Keep) if !matches!(other, Cell::Integer(_)) => return Ok(None),
        (other, _) => {
            return skipped(
                SkipReason::AttemptsUnreadable,
                format!("attempts is {}, not an integer: `{other}`", other.type_name()),
            );
        }
    };
    let max = match claim.max_attempts {
        Cell::Integer(max) => Some(max),
        _ => None,
    };
    match moved.attempts.after(before, max) {
        Some(after) => Ok(Some(after)),
        None => skipped(SkipReason::AttemptsUnreadable, format!("attempts is {before} and cannot be counted on")),
    }
}

/// Whether the job would have used up its attempts after that action.
fn is_exhausted(spec: &QueueSpec, claim: &Claim, action: Action) -> Result<bool, Skipped> {
    if spec.attempts.exhausted == Exhausted::Leave {
        return Ok(false);
    }
    let max = match &claim.max_attempts {
        Cell::Null => return Ok(false),
        Cell::Integer(max) => *max,
        other => {
            return skipped(
                SkipReason::AttemptsUnreadable,
                format!("the maximum of attempts is {}, not an integer: `{other}`", other.type_name()),
            );
        }
    };
    let Some(moved) = spec.actions.get(&action) else { return Ok(false) };
    let Some(after) = attempts_after(spec, claim, moved)? else { return Ok(false) };
    Ok(match spec.attempts.max_counts {
        MaxCounts::Runs => after >= max,
        MaxCounts::Retries => after > max,
    })
}
