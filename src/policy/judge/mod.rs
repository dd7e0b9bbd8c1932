//! Judges one claim: a verdict from what the snapshot read and what the operator asked for.

mod external;
mod interrupted;
mod liveness;
mod trouble;

use super::Policy;
use super::finding::{Finding, Limit};
use super::thresholds::Allowed;
use super::verdict::{Check, CheckResult, Judgement, Proves, Reason, Rule, Value, Verdict};
use crate::model::{Cell, Claim, Clocks, Reading, Sign, Timestamp};
use crate::preset::{EARLIEST_MICROS, FURTHEST_EAST, Jobs, Liveness, TimeColumn};
use liveness::Opinion;
use std::fmt::Display;
use std::time::Duration;

/// Judges one claim. Pure and total: the same claim, policy and `now` always give the same verdict.
///
/// The first liveness source that has a value decides; a value that does not fit or is implausible makes the verdict
/// unknown, whichever source it belongs to. Rules about trouble are asked in addition. A running lease or a fresh
/// heartbeat on the claim's own row contradicts a live-owner list or an owner's restart: the verdict is unknown then.
/// A time whose zone is not declared is read as UTC, and that reading is tested. Of its checks the judgement has those
/// alone whose value cannot be used.
pub fn judge(jobs: &Jobs, claim: &Claim, policy: &Policy, now: Timestamp) -> Judgement {
    liveness::tested(Evaluation::new(jobs, claim, policy, now))
}

/// Judges one claim as [`judge`] does, and keeps every check.
pub fn explain(jobs: &Jobs, claim: &Claim, policy: &Policy, now: Timestamp) -> Judgement {
    liveness::tested(Evaluation { keeps_all: true, ..Evaluation::new(jobs, claim, policy, now) })
}

fn evaluate(mut evaluation: Evaluation<'_>) -> Judgement {
    let Evaluation { jobs, claim, policy, .. } = evaluation;
    if claim.key.0.iter().any(Cell::is_null) {
        evaluation.lack(Finding::NullKey);
    }
    if jobs.are_interrupted() {
        evaluation.interrupted();
    } else if jobs.waited() {
        evaluation.waiting();
    } else if policy.restart.is_some() {
        evaluation.restart();
    } else {
        evaluation.live_owners();
        evaluation.liveness();
        evaluation.owner_restarted();
        evaluation.trouble();
        evaluation.too_long();
        evaluation.no_progress();
    }
    evaluation.concluded()
}

struct Evaluation<'a> {
    jobs: &'a Jobs,
    claim: &'a Claim,
    policy: &'a Policy,
    now: Timestamp,
    last_seen_at: Option<Timestamp>,
    /// What the operator allows to claims of this queue and kind.
    older: Option<Allowed>,
    reasons: Vec<Reason>,
    lacking: Vec<Finding>,
    /// What is said so far, without the verdict and the silence.
    judgement: Judgement,
    /// Whether checks are kept whose value can be used.
    keeps_all: bool,
}

impl<'a> Evaluation<'a> {
    fn new(jobs: &'a Jobs, claim: &'a Claim, policy: &'a Policy, now: Timestamp) -> Evaluation<'a> {
        let last_seen_at = Timestamp::newest(claim.heartbeat.at(), claim.claimed_at.at());
        Evaluation {
            jobs,
            claim,
            policy,
            now,
            last_seen_at,
            older: policy.older_for(claim.queue.as_deref(), claim.kind.as_deref()),
            reasons: Vec::new(),
            lacking: Vec::new(),
            judgement: Judgement::default(),
            keeps_all: false,
        }
    }

    /// Each liveness source, with its sign for this claim.
    fn signs(&self) -> impl Iterator<Item = (&'a Liveness, &'a Sign)> + use<'a> {
        self.jobs.liveness.iter().zip(&self.claim.signs)
    }

    /// How long the operator allows a claim of this queue and kind to be silent.
    fn older_span(&self) -> Option<Duration> {
        self.older.as_ref().map(|older| older.span)
    }

    fn silence(&self) -> Option<Duration> {
        self.last_seen_at.map(|sign| self.now.since(sign))
    }

    /// True if an instant lies further back than `span`, beyond doubt.
    fn is_over(&self, at: Timestamp, span: Duration) -> bool {
        self.now.minus(span).is_after(at, Clocks::One)
    }

    fn concluded(self) -> Judgement {
        let silence = self.silence();
        let verdict = match (self.lacking.is_empty(), self.reasons.is_empty()) {
            (false, _) => Verdict::Unknown(self.lacking),
            (true, false) => Verdict::Stuck(self.reasons),
            (true, true) => Verdict::Healthy,
        };
        Judgement { verdict, last_seen_at: self.last_seen_at, silence, ..self.judgement }
    }

    fn ask(&mut self, rule: Rule, column: &dyn Display, value: Value, fires: bool, finding: Finding) {
        self.note(rule.name(), column, value, Opinion::of(fires, rule, finding), None);
    }

    /// Notes what a rule makes of a value. An implausible one cannot be used, whatever that is.
    fn note(
        &mut self,
        rule: &'static str,
        column: &dyn Display,
        value: Value,
        opinion: Opinion,
        implausible: Option<Finding>,
    ) {
        let is_contradicted = matches!(opinion, Opinion::Contradicted(..));
        let (result, finding) = match opinion {
            Opinion::Dead(rule, finding) | Opinion::Contradicted(rule, finding) => {
                let proves = if is_contradicted { Proves::Trouble } else { rule.proves() };
                self.reasons.push(Reason { rule, proves, finding: finding.clone() });
                (CheckResult::Fires, finding)
            }
            Opinion::Alive(finding) => (CheckResult::Clear, finding),
            Opinion::Silent(finding) => (CheckResult::NoValue, finding),
            Opinion::Unknown(finding) => {
                self.lack(finding.clone());
                (CheckResult::Unusable, finding)
            }
            Opinion::NotAsked => (CheckResult::NotAsked, Finding::NotAsked),
        };
        let (result, finding) = implausible.map_or((result, finding), |why| (CheckResult::Unusable, why));
        if self.keeps_all || result == CheckResult::Unusable {
            self.judgement.checks.push(Check { rule, column: column.to_string(), value, result, finding });
        }
    }

    fn limit(&self, allowed: Allowed) -> Limit {
        Limit { allowed, target: self.policy.thresholds.target.clone() }
    }

    /// Makes the verdict unknown, and says why, if a value does not fit its declaration or is implausible. `ahead` is
    /// how far it may lie in the future; `None` is any distance.
    fn must_be_plausible(&mut self, time: &TimeColumn, reading: &Reading, ahead: Option<Duration>) -> Option<Finding> {
        let name = || time.column.name.clone();
        let why = match (reading, ahead) {
            (Reading::Unfit { raw, why }, _) => unfit(Some(time), raw, why),
            (Reading::At(at), _) if at.micros() < EARLIEST_MICROS => Finding::TooEarly(name(), *at),
            (Reading::At(at), Some(ahead)) if at.is_after(self.now.plus(ahead), Clocks::One) => {
                let by = at.since(self.now);
                Finding::Ahead(name(), *at, by, self.jobs.has_unknown_zone(time) && by <= ahead + FURTHEST_EAST)
            }
            _ => return None,
        };
        self.lack(why.clone());
        Some(why)
    }

    fn lack(&mut self, what: Finding) {
        if !self.lacking.contains(&what) {
            self.lacking.push(what);
        }
    }
}

/// What is wrong with a value that does not fit its declaration.
fn unfit(time: Option<&TimeColumn>, raw: &str, why: &str) -> Finding {
    Finding::Unfit(time.map(|time| time.column.name.clone()), raw.to_owned(), why.to_owned())
}
