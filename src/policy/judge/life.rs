//! What is inferred about an owner, and the life on the claim's own row that outranks it.

use super::{Evaluation, shown};
use crate::model::{Clocks, FUTURE_TOLERANCE, OwnerRow, age};
use crate::policy::verdict::{Check, CheckResult, Rule};
use crate::preset::Liveness;

/// What an owner's restart after the claim means.
const RESTARTED: &str = "the owner started after the claim was made: it is another process under the same name";

impl Evaluation<'_> {
    /// What shows of the claim itself that its worker lives, in words: a running lease, a fresh heartbeat, or a lock that a
    /// session holds.
    pub(super) fn sign_of_life(&self) -> Option<String> {
        if self.holds_lock() {
            return Some("a session holds its lock".to_owned());
        }
        let mut sources = self.spec.liveness.iter().zip(&self.claim.signs);
        sources.find_map(|(source, sign)| match (source, sign.at.at()?) {
            (Liveness::Lease { .. }, end) if !self.now.is_after(end, Clocks::One) => {
                Some(format!("its lease runs for another {}", age(end.since(self.now))))
            }
            (Liveness::Heartbeat { .. }, beat) => {
                let allowed = self.allowed(source, sign)?;
                let fresh = !self.is_over(beat, allowed.span);
                fresh.then(|| {
                    format!("its heartbeat is {} old, allowed {}", age(self.now.since(beat)), self.limit(allowed))
                })
            }
            _ => None,
        })
    }

    pub(super) fn owner_restarted(&mut self) {
        let Some(column) = self.spec.owner.row.as_ref().and_then(|row| row.started.as_ref()) else { return };
        let OwnerRow::Present { started, .. } = &self.claim.owner_row else { return };
        if self.must_be_plausible(column, started, Some(FUTURE_TOLERANCE)).is_some() {
            return;
        }
        let place = column.column.to_string();
        let (Some(start), Some(claimed)) = (started.at(), self.claim.claimed_at.at()) else {
            let detail = "it does not say when the owner started, or when the job was claimed".to_owned();
            let (rule, value, result) = (Rule::OwnerRestarted.name(), shown(started), CheckResult::NoValue);
            return self.checks.push(Check { rule, column: place, value, result, detail });
        };
        let (later, column) = (start.is_after(claimed, Clocks::Two), place);
        match (later, self.sign_of_life()) {
            (true, None) => self.ask(Rule::OwnerRestarted, &column, shown(started), true, RESTARTED.to_owned()),
            (true, Some(life)) => self.contradicts(Rule::OwnerRestarted, &column, shown(started), RESTARTED, &life),
            (false, _) => {
                let detail = "the owner did not start more than a minute after the claim".to_owned();
                self.ask(Rule::OwnerRestarted, &column, shown(started), false, detail);
            }
        }
    }

    /// A rule infers death, and the claim's own row shows life: both are said, and nothing is concluded.
    pub(super) fn contradicts(&mut self, rule: Rule, column: &str, value: String, death: &str, life: &str) {
        let detail = format!("{death}, but {life}");
        self.lack(detail.clone());
        self.checks.push(Check {
            rule: rule.name(),
            column: column.to_owned(),
            value,
            result: CheckResult::Unusable,
            detail,
        });
    }
}
