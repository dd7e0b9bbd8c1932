//! Judges jobs that their library failed because their worker died: they are to be retried unless the worker shows life.

use super::Evaluation;
use super::liveness::{Opinion, but};
use crate::model::{Clocks, FUTURE_TOLERANCE};
use crate::policy::finding::Finding;
use crate::policy::live_owners::Standing;
use crate::policy::verdict::{Rule, Value};

impl Evaluation<'_> {
    pub(super) fn interrupted(&mut self) {
        let (jobs, claim) = (self.jobs, self.claim);
        let Some(since) = &jobs.claim.claimed_at else { return };
        let implausible = self.must_be_plausible(since, &claim.claimed_at, Some(FUTURE_TOLERANCE));
        let life = self.owner_lives();
        // When it failed, which a later heartbeat of its owner does not change.
        self.last_seen_at = claim.claimed_at.at();
        let finding = match self.silence() {
            Some(ago) => Finding::Interrupted(ago),
            None => Finding::StateTimeUnknown(claim.state.clone()),
        };
        let opinion = match (life.or_else(|| self.is_to_end()), self.last_seen_at) {
            (Some(against), _) => Opinion::Unknown(but(finding, against)),
            (None, None) => Opinion::Unknown(finding),
            (None, Some(_)) => Opinion::Dead(Rule::Interrupted, finding),
        };
        let value = Value::Time(claim.claimed_at.clone());
        self.note(Rule::Interrupted.name(), &since.column, value, opinion, implausible);
    }

    /// Why the job is not to run again, whatever its worker did.
    fn is_to_end(&self) -> Option<Finding> {
        let deadline = self.claim.deadline.at().filter(|deadline| self.now.is_after(*deadline, Clocks::One));
        let passed = deadline.map(|deadline| Finding::DeadlinePassed(self.now.since(deadline)));
        passed.or(self.claim.cancel_requested.then_some(Finding::CancelRequested))
    }

    /// What shows that the owner that the job names lives.
    fn owner_lives(&mut self) -> Option<Finding> {
        if let Some(living) = &self.policy.living
            && living.says(self.claim, self.now, Clocks::Two) == Standing::Listed
        {
            return Some(Finding::List(self.owner_name(), Standing::Listed));
        }
        self.last_seen_at = self.claim.heartbeat.at();
        self.signs().find_map(|(source, sign)| match self.opinion(source, sign) {
            Opinion::Alive(life) => Some(life),
            _ => None,
        })
    }
}
