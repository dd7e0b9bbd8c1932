//! Restart sweeps: somebody says which owners are dead, and what the rows show does not count.

use super::Bench;
use crate::model::{LockSign, Timestamp};
use crate::policy::scope::RestartScope;
use crate::policy::verdict::Rule;
use crate::spec::FUTURE_TOLERANCE;

impl Bench<'_> {
    pub(super) fn restart(&mut self) {
        let Some(restart) = &self.policy.restart else { return };
        if let RestartScope::NotListed(living) = &restart.scope {
            return self.restart_by_roster(living, restart.before);
        }
        let owner = self.owner_name();
        let later = self.claim.claimed_at.at().is_some_and(|at| at > restart.began);
        let covers = restart.scope.covers(self.claim);
        let (dead, detail) = match (covers, later, restart.before) {
            (false, _, _) => (false, "the owner is not in the scope of this sweep".to_owned()),
            (true, true, _) => {
                self.lack("claimed after the sweep began, by the row's own time: it may be a new worker's".to_owned());
                (false, "claimed after the sweep began".to_owned())
            }
            (true, false, None) => (true, format!("restart sweep: {owner} is declared dead")),
            (true, false, Some(before)) => self.started_before(before),
        };
        if dead && self.claim.signs.iter().any(|sign| sign.lock == LockSign::Held) {
            // Nobody can declare a session dead that holds a lock at this moment.
            self.lack("a living session holds its lock: stop that process first".to_owned());
        }
        self.ask(Rule::Restart, "owner", owner, dead, detail);
    }

    /// Whether the claim was made before an instant, and is dead for it. One of which nobody can tell is never touched.
    pub(super) fn started_before(&mut self, before: Timestamp) -> (bool, String) {
        if let Some(claimed_at) = &self.spec.claim.claimed_at {
            self.must_be_plausible(claimed_at, &self.claim.claimed_at, Some(FUTURE_TOLERANCE));
        }
        match self.claim.claimed_at.at() {
            Some(at) if at < before => (true, format!("restart sweep: claimed {at}, before {before}")),
            Some(at) => (false, format!("claimed {at}, not before {before}")),
            None => {
                self.lack(format!("it is not known when it was claimed, before {before} or after"));
                (false, "it is not known when it was claimed".to_owned())
            }
        }
    }
}
