//! Drafts what to do about one claim: a step, or a reason to skip it.

use super::Policy;
use super::finding::{Finding, SkipReason, Skipped};
use super::verdict::{Judgement, Proves, Reason, Rule, Verdict};
use crate::model::{Action, AttemptsChange, Cell, Claim, FailCode, Step, Write};
use crate::preset::{ActionSpec, Exhausted, Jobs, MaxCounts};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq)]
pub enum Draft {
    Step(Box<Step>),
    Skipped(Skipped),
}

impl Draft {
    pub fn step(&self) -> Option<&Step> {
        match self {
            Draft::Step(step) => Some(step),
            Draft::Skipped(_) => None,
        }
    }
}

/// How many jobs a reclaim would requeue, fail, cancel, end as timed out, or skip.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlannedActions {
    /// Requeued.
    pub requeue: u64,
    /// Failed.
    pub fail: u64,
    /// Cancelled.
    pub cancel: u64,
    /// Ended as timed out.
    pub time_out: u64,
    /// Skipped.
    pub skip: u64,
}

impl PlannedActions {
    /// One job with that action, or one that is skipped.
    pub fn of(action: Option<Action>) -> PlannedActions {
        let mut one = PlannedActions::default();
        let count = match action {
            Some(Action::Requeue) => &mut one.requeue,
            Some(Action::Fail) => &mut one.fail,
            Some(Action::Cancel) => &mut one.cancel,
            Some(Action::TimeOut) => &mut one.time_out,
            Some(Action::Wake) | None => &mut one.skip,
        };
        *count += 1;
        one
    }

    /// How many jobs have each action; without one, those that are skipped.
    pub fn counts(&self) -> [(Option<Action>, u64); 5] {
        [
            (Some(Action::Requeue), self.requeue),
            (Some(Action::Fail), self.fail),
            (Some(Action::Cancel), self.cancel),
            (Some(Action::TimeOut), self.time_out),
            (None, self.skip),
        ]
    }

    /// Takes away those, as far as they are among these.
    pub fn remove(&mut self, other: PlannedActions) {
        self.requeue = self.requeue.saturating_sub(other.requeue);
        self.fail = self.fail.saturating_sub(other.fail);
        self.cancel = self.cancel.saturating_sub(other.cancel);
        self.time_out = self.time_out.saturating_sub(other.time_out);
        self.skip = self.skip.saturating_sub(other.skip);
    }

    pub fn add(&mut self, other: PlannedActions) {
        self.requeue += other.requeue;
        self.fail += other.fail;
        self.cancel += other.cancel;
        self.time_out += other.time_out;
        self.skip += other.skip;
    }
}

/// Drafts what to do about one claim. The same draft serves the dry run and the apply.
pub fn draft(jobs: &Jobs, claim: &Claim, judgement: &Judgement, policy: &Policy) -> Draft {
    match chosen(jobs, claim, judgement, policy) {
        Ok(step) => Draft::Step(Box::new(step)),
        Err(skipped) => Draft::Skipped(skipped),
    }
}

/// Whether a rule that fires is acted on. A limit for a state always is: the config file has it for that.
fn acts(reason: &Reason, policy: &Policy) -> bool {
    reason.proves != Proves::Trouble || reason.rule == Rule::TooLong || policy.act_on.contains(&reason.rule)
}

/// Whether some rule that fired is acted on.
pub(super) fn is_acted_on(judgement: &Judgement, policy: &Policy) -> bool {
    judgement.verdict.reasons().iter().any(|reason| acts(reason, policy))
}

fn skipped<T>(reason: SkipReason, findings: impl IntoIterator<Item = Finding>) -> Result<T, Skipped> {
    Err(Skipped { reason, findings: findings.into_iter().collect() })
}

fn chosen(jobs: &Jobs, claim: &Claim, judgement: &Judgement, policy: &Policy) -> Result<Step, Skipped> {
    let reasons = match &judgement.verdict {
        Verdict::Healthy => {
            let mut clear = judgement.checks.iter().filter(|check| check.result == super::CheckResult::Clear);
            // A sign of life explains more than a deadline that has not passed.
            let less_telling = [Rule::DeadlinePassed.name(), Rule::MaxRuntime.name()];
            let why = clear.clone().find(|check| !less_telling.contains(&check.rule)).or_else(|| clear.next());
            return skipped(SkipReason::Healthy, why.map(|check| check.finding.clone()));
        }
        Verdict::Unknown(lacking) => return skipped(SkipReason::Unknown, lacking.iter().cloned()),
        Verdict::Stuck(reasons) => reasons,
    };
    let Some(reason) = reasons.iter().find(|reason| acts(reason, policy)) else {
        return skipped(SkipReason::OwnerAlive, reasons.iter().map(|reason| reason.finding.clone()));
    };
    if let (Some(since), Some(ago)) =
        (policy.interrupted, judgement.silence.filter(|ago| policy.interrupted < Some(*ago)))
    {
        return skipped(SkipReason::FailedBefore, [Finding::FailedBefore(ago, since)]);
    }
    let by_rule = match reason.rule {
        Rule::TooLong => policy.too_long.limit(claim).map(|limit| limit.action),
        rule => policy.actions.get(&rule).copied(),
    };
    let mut lost = None;
    let (action, fail_code) = match (policy.to, by_rule) {
        (Some(to), _) => (to, FailCode::ByOperator),
        (None, _) if claim.cancel_requested && offers(jobs, Action::Cancel) => (Action::Cancel, FailCode::ByOperator),
        // A requeue counts attempts and losses, also if a rule asks for it.
        (None, Some(by_rule)) if by_rule != Action::Requeue => (by_rule, FailCode::LimitExceeded),
        (None, None) if reason.rule == Rule::DeadlinePassed => (Action::Fail, FailCode::LimitExceeded),
        (None, _) if is_exhausted(jobs, claim)? => {
            let is_lost = reasons.iter().any(|reason| reason.proves != Proves::Trouble);
            (Action::Fail, if is_lost { FailCode::WorkerLost } else { FailCode::LimitExceeded })
        }
        (None, _) => {
            lost = spent(claim, policy)?;
            (if lost.is_some() { Action::Fail } else { Action::Requeue }, FailCode::LimitExceeded)
        }
    };
    let Some(moved) = jobs.actions.get(&action) else {
        let not_offered = Finding::NotOffered(jobs.queue.preset.clone(), action);
        return skipped(SkipReason::ActionNotOffered, lost.into_iter().chain([not_offered]));
    };
    let mut skips = jobs.skips.iter().zip(&claim.skips);
    let skip = skips.find(|(skip, applies)| **applies && skip.actions.contains(&action));
    let skip = skip.map(|(skip, _)| Finding::Preset(skip.reason.clone()));
    // What jobdoctor does not retry may be retried by the library's own command, unless it is to be left alone.
    if let (true, Some(why)) = (jobs.are_interrupted(), &skip) {
        return skipped(SkipReason::Preset, [why.clone()]);
    }
    if let Some(why) = &moved.refused {
        return skipped(SkipReason::ActionRefused, lost.into_iter().chain([Finding::Preset(why.clone())]));
    }
    if action == Action::Requeue && is_exhausted(jobs, claim)? {
        return skipped(SkipReason::AttemptsExhausted, None);
    }
    if let (Action::Requeue, Some(lost)) = (action, spent(claim, policy)?) {
        return skipped(SkipReason::StallsExhausted, [lost]);
    }
    if let Some(why) = skip {
        return skipped(SkipReason::Preset, [why]);
    }
    let rules = reasons.iter().map(|reason| reason.rule.name()).chain(lost.map(|_| "max_stalls"));
    Ok(Step {
        id: claim.key.to_string(),
        key: claim.key.clone(),
        queue: claim.queue.clone(),
        kind: claim.kind.clone(),
        owner: claim.owner.as_ref().map(|owner| owner.name.clone()),
        action,
        state: claim.state.clone(),
        state_after: moved.to.name.clone(),
        attempts: claim.attempts.as_integer(),
        attempts_after: attempts_after(jobs, claim, moved)?,
        rules: rules.map(str::to_owned).collect(),
        stage: Write::Act {
            precondition: claim.precondition.clone(),
            evidence_row: claim.evidence_row.clone(),
            fail_code,
            or_fail: action == Action::Requeue && policy.instead_of_requeue(jobs).is_some(),
            refusal: None,
        },
    })
}

fn offers(jobs: &Jobs, action: Action) -> bool {
    jobs.actions.get(&action).is_some_and(|moved| moved.refused.is_none())
}

/// The counter after an action; `None` where the table has none, or holds NULL and keeps it.
fn attempts_after(jobs: &Jobs, claim: &Claim, moved: &ActionSpec) -> Result<Option<i64>, Skipped> {
    if jobs.attempts.column.is_none() {
        return Ok(None);
    }
    let before = match (&claim.attempts, moved.attempts) {
        (Cell::Integer(n), _) => *n,
        (_, AttemptsChange::Keep) => return Ok(None),
        (Cell::Null, _) => 0,
        (other, _) => return skipped(SkipReason::AttemptsUnreadable, [no_integer("attempts", other)]),
    };
    match moved.attempts.after(before, claim.max_attempts.as_integer()) {
        Some(after) => Ok(Some(after)),
        None => skipped(SkipReason::AttemptsUnreadable, [Finding::Uncountable(before)]),
    }
}

fn no_integer(what: &str, value: &Cell) -> Finding {
    Finding::NoInteger(what.to_owned(), value.type_name().to_owned(), value.to_string())
}

/// Whether the job would have used up its attempts after a requeue.
fn is_exhausted(jobs: &Jobs, claim: &Claim) -> Result<bool, Skipped> {
    if jobs.attempts.exhausted == Exhausted::Leave {
        return Ok(false);
    }
    let max = match &claim.max_attempts {
        Cell::Null => return Ok(false),
        Cell::Integer(max) => *max,
        other => return skipped(SkipReason::AttemptsUnreadable, [no_integer("the maximum of attempts", other)]),
    };
    let Some(requeue) = jobs.actions.get(&Action::Requeue) else { return Ok(false) };
    let Some(after) = attempts_after(jobs, claim, requeue)? else { return Ok(false) };
    Ok(match jobs.attempts.max_counts {
        MaxCounts::Runs => after >= max,
        MaxCounts::Retries => after > max,
    })
}

/// Why the stall budget is spent, if it is: with 1, the first loss requeues and the second fails; with 0, the first one
/// fails.
///
/// # Errors
/// When there is a budget and nothing tells how much is spent: never silently unlimited.
fn spent(claim: &Claim, policy: &Policy) -> Result<Option<Finding>, Skipped> {
    let Some(max) = policy.max_stalls else { return Ok(None) };
    match claim.stalls {
        None => skipped(SkipReason::StallsUnreadable, [Finding::LossesUnknown(max)]),
        Some(stalls) => Ok((stalls >= i64::from(max)).then_some(Finding::Lost(stalls, max))),
    }
}

/// Why the stall budget fails a job; `None` if the step rests on something else.
pub fn why_failed(claim: &Claim, policy: &Policy, step: &Step) -> Option<Finding> {
    let is_failed = step.action == Action::Fail && policy.to.is_none();
    if is_failed { spent(claim, policy).ok().flatten() } else { None }
}

/// The most slices of one batch: each is a statement of its own, and the batch's locks block the workers meanwhile.
const SLICES: usize = 50;

/// How much later than now requeued jobs may run: `delay`, plus a share of `jitter` for each job, so that they do not
/// all start at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delay {
    /// For all jobs; up to 7 days.
    pub delay: Option<Duration>,
    /// The window over which they are spread; up to 7 days.
    pub jitter: Option<Duration>,
}

impl Delay {
    pub fn is_asked(&self) -> bool {
        self.delay.is_some() || self.jitter.is_some()
    }

    /// How long each of `count` jobs waits: those from number `first` on, of `of` requeued jobs. The window is cut into
    /// slices, and each slice gets an instant of its own part, so that no part stays empty however long the run is;
    /// `chance` picks it, from 0 to below 1. Empty without a delay or jitter.
    pub fn waits(&self, first: usize, count: usize, of: usize, mut chance: impl FnMut() -> f64) -> Vec<Duration> {
        if !self.is_asked() {
            return Vec::new();
        }
        let (delay, jitter) = (self.delay.unwrap_or_default(), self.jitter.unwrap_or_default());
        let of = of.max(first + count).max(1) as f64;
        let slices = count.clamp(1, SLICES);
        let mut waits = Vec::with_capacity(count);
        for slice in 0..slices {
            // As even as whole rows allow: 51 rows are 49 slices of one and one of two.
            let (begin, end) = (slice * count / slices, (slice + 1) * count / slices);
            let at = (first + begin) as f64 + (end - begin) as f64 * chance().clamp(0.0, 1.0);
            waits.extend(std::iter::repeat_n(delay + jitter.mul_f64((at / of).clamp(0.0, 1.0)), end - begin));
        }
        waits
    }
}
