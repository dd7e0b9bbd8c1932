//! Judges jobs whose worker may be alive: by deadline, maximum run time, or limit for a state.

use super::Evaluation;
use super::liveness::Opinion;
use crate::model::{Clocks, Reading};
use crate::policy::finding::{Finding, Limit};
use crate::policy::thresholds::{Allowed, SetBy};
use crate::policy::verdict::{Rule, Value};
use std::fmt::Display;

impl Evaluation<'_> {
    pub(super) fn trouble(&mut self) {
        if let Some(column) = &self.jobs.rules.deadline {
            let implausible = self.must_be_plausible(column, &self.claim.deadline, None);
            let passed = self.claim.deadline.at().filter(|deadline| self.now.is_after(*deadline, Clocks::One));
            let finding = match (passed, &self.claim.deadline) {
                (Some(deadline), _) => Finding::DeadlinePassed(self.now.since(deadline)),
                (None, Reading::Absent) => Finding::NoDeadline,
                (None, _) => Finding::DeadlineAhead,
            };
            let value = Value::Time(self.claim.deadline.clone());
            let opinion = Opinion::of(passed.is_some(), Rule::DeadlinePassed, finding);
            self.note(Rule::DeadlinePassed.name(), &column.column, value, opinion, implausible);
        }
        let max = self.policy.max_runtime_for(self.jobs, self.claim);
        if self.jobs.rules.max_runtime.is_some() || max.is_some() {
            let (over, finding) = match (self.claim.claimed_at.at(), max) {
                (Some(since), Some(max)) => {
                    (self.is_over(since, max.span), Finding::Runs(self.now.since(since), self.limit(max)))
                }
                (None, Some(_)) => (false, Finding::RunTimeUnknown),
                (_, None) => (false, Finding::NoRunLimit),
            };
            self.judgement.overrun = max.filter(|_| over);
            let value = max.map_or(Value::Time(Reading::Absent), |max| Value::Span(max.span));
            self.ask(Rule::MaxRuntime, &"maximum run time", value, over, finding);
        }
    }

    /// Judges a job that waits. A sign of life means that a worker holds it, whatever its state says.
    pub(super) fn waiting(&mut self) {
        let since = self.last_seen_at;
        // The time since which it waits is no sign of life.
        self.last_seen_at = self.claim.heartbeat.at();
        for (source, sign) in self.signs() {
            let opinion = self.opinion(source, sign);
            if matches!(opinion, Opinion::Alive(_)) {
                let name = source.name();
                let column: &dyn Display = source.column().map_or(&name, |time| &time.column);
                return self.note(name, column, Value::Time(sign.at.clone()), opinion, None);
            }
        }
        self.last_seen_at = since;
        self.too_long();
    }

    /// Compares the time in a state with the config file's limit; that suffices without a dead owner.
    pub(super) fn too_long(&mut self) {
        let Some(limit) = self.policy.too_long.limit(self.claim) else { return };
        let Some(since) = &self.jobs.claim.claimed_at else { return };
        let implausible = match self.jobs.waited() {
            // A job that is due in the future is not late.
            true => self.must_be_plausible(since, &self.claim.claimed_at, None),
            false => None,
        };
        let held = self.claim.claimed_at.at().filter(|at| self.now.is_after(*at, Clocks::One));
        let state = limit.state.text.clone();
        let (over, finding) = match (implausible, held) {
            (Some(why), _) => (false, why),
            (None, None) => (false, Finding::StateTimeUnknown(state)),
            (None, Some(since_at)) => {
                let allowed = Allowed { span: limit.after, set_by: SetBy::TooLong(limit.number) };
                let (span, target) = (self.now.since(since_at), self.policy.too_long.target.clone());
                let finding = match self.jobs.waited() {
                    true => Finding::Waits(state, since.column.name.clone(), span, Limit { allowed, target }),
                    false => Finding::InState(state, span, Limit { allowed, target }),
                };
                (self.is_over(since_at, limit.after), finding)
            }
        };
        let value = Value::Time(self.claim.claimed_at.clone());
        self.ask(Rule::TooLong, &since.column, value, over, finding);
    }
}
