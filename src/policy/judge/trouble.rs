//! Judges jobs whose worker may be alive: by deadline, maximum run time, or limit for a state.

use super::liveness::Opinion;
use super::{Evaluation, shown};
use crate::model::{Clocks, Reading, age};
use crate::policy::verdict::{CheckResult, Rule};

impl Evaluation<'_> {
    pub(super) fn trouble(&mut self) {
        if let Some(column) = &self.spec.rules.deadline {
            let implausible = self.must_be_plausible(column, &self.claim.deadline, None);
            let passed = self.claim.deadline.at().filter(|deadline| self.now.is_after(*deadline, Clocks::One));
            let detail = match (passed, &self.claim.deadline) {
                (Some(deadline), _) => format!("deadline passed {} ago", age(self.now.since(deadline))),
                (None, Reading::Absent) => "there is no deadline".to_owned(),
                (None, _) => "the deadline has not passed".to_owned(),
            };
            let value = shown(&self.claim.deadline);
            self.ask(Rule::DeadlinePassed, &column.column.to_string(), value, passed.is_some(), detail);
            if let (Some(why), Some(check)) = (implausible, self.checks.last_mut()) {
                check.result = CheckResult::Unusable;
                check.detail = why;
            }
        }
        let max = self.policy.max_runtime_for(self.spec, self.claim);
        if self.spec.rules.max_runtime.is_some() || max.is_some() {
            let (over, detail) = match (self.claim.claimed_at.at(), max) {
                (Some(since), Some(max)) => {
                    let (by, runs) = (self.policy.said_by(max.set_by, "max_runtime"), age(self.now.since(since)));
                    (self.is_over(since, max.span), format!("runs for {runs}, allowed {}{by}", age(max.span)))
                }
                (None, Some(_)) => (false, "it is not known since when it runs".to_owned()),
                (_, None) => (false, "no limit is set".to_owned()),
            };
            self.overrun = max.filter(|_| over);
            let value = max.map_or_else(|| "-".to_owned(), |max| age(max.span));
            self.ask(Rule::MaxRuntime, "maximum run time", value, over, detail);
        }
    }

    /// Judges a job that waits. A sign of life means that a worker holds it, whatever its state says.
    pub(super) fn waiting(&mut self) {
        let (spec, claim) = (self.spec, self.claim);
        let since = self.last_seen_at;
        // The time since which it waits is no sign of life.
        self.last_seen_at = claim.heartbeat.at();
        for (source, sign) in spec.liveness.iter().zip(&claim.signs) {
            if let Opinion::Alive(detail) = self.opinion(source, sign) {
                let (value, result) = (shown(&sign.at), CheckResult::Clear);
                let column = source.column().map_or_else(|| source.name().to_owned(), |time| time.column.to_string());
                self.note(source.name(), &column, value, result, detail);
                return;
            }
        }
        self.last_seen_at = since;
        self.too_long();
    }

    /// Compares the time in a state with the config file's limit; that suffices without a dead owner.
    pub(super) fn too_long(&mut self) {
        let Some(limit) = self.policy.too_long.limit(self.claim) else { return };
        let Some(since) = &self.spec.claim.claimed_at else { return };
        let implausible = match self.spec.waits {
            // A job that is due in the future is not late.
            true => self.must_be_plausible(since, &self.claim.claimed_at, None),
            false => None,
        };
        let held = self.claim.claimed_at.at().filter(|at| self.now.is_after(*at, Clocks::One));
        let (over, detail) = match (implausible, held) {
            (Some(why), _) => (false, why),
            (None, None) => (false, format!("nothing tells since when it is in {}", limit.state.text)),
            (None, Some(since_at)) => {
                let by = self.policy.too_long.name(limit);
                let (state, span, allowed) = (&limit.state.text, age(self.now.since(since_at)), age(limit.after));
                let detail = match self.spec.waits {
                    true => format!("waits in {state}, {span} past {}, allowed {allowed} ({by})", since.column.name),
                    false => format!("in {state} for {span}, allowed {allowed} ({by})"),
                };
                (self.is_over(since_at, limit.after), detail)
            }
        };
        self.ask(Rule::TooLong, &since.column.to_string(), shown(&self.claim.claimed_at), over, detail);
    }
}
