//! Judges a restart sweep: the operator says which owners are dead, whatever the rows show.

use super::Evaluation;
use crate::model::{Clocks, FUTURE_TOLERANCE};
use crate::policy::finding::Finding;
use crate::policy::scope::{Restart, RestartScope};
use crate::policy::verdict::{Rule, Value};

impl Evaluation<'_> {
    pub(super) fn restart(&mut self) {
        let Some(restart) = &self.policy.restart else { return };
        if let RestartScope::NotListed(living) = &restart.scope {
            return self.restart_by_live_owners(living, restart);
        }
        let owner = self.owner_name();
        let (dead, finding) = if !restart.scope.covers(self.claim) {
            (false, Finding::OutOfScope)
        } else if !self.precedes_sweep(restart) {
            (false, Finding::NotBeforeSweep)
        } else {
            self.started_before(restart, Finding::DeclaredDead(owner.clone()))
        };
        self.must_hold_no_lock(dead);
        self.ask(Rule::Restart, "owner", Value::Name(owner), dead, finding);
    }

    /// True if the claim was certainly made before the sweep began; any doubt makes the verdict unknown. Clocks count
    /// as equal: the sweep at a host's boot must recover the job of a worker that crashed seconds after its claim.
    pub(super) fn precedes_sweep(&mut self, restart: &Restart) -> bool {
        let why = match (&self.spec.claim.claimed_at, self.claim.claimed_at.at()) {
            (Some(column), at) => {
                if self.must_be_plausible(column, &self.claim.claimed_at, Some(FUTURE_TOLERANCE)).is_some() {
                    return false;
                }
                match at {
                    Some(at) if restart.began.is_after(at, Clocks::One) => return true,
                    Some(_) => Finding::ClaimedAfterSweep,
                    None => Finding::ClaimTimeUnknown,
                }
            }
            (None, _) if restart.first.as_ref().is_none_or(|first| first.has(self.claim)) => return true,
            (None, _) => Finding::NotAmongFirst,
        };
        self.lack(why);
        false
    }

    /// Whether a claim that is dead by `death` was made before the instant that the operator named, if any.
    pub(super) fn started_before(&mut self, restart: &Restart, death: Finding) -> (bool, Finding) {
        match (restart.before, self.claim.claimed_at.at()) {
            (None, _) => (true, death),
            (Some(before), Some(at)) if before.is_after(at, Clocks::One) => {
                (true, Finding::ClaimedBefore(Box::new(death), at, before))
            }
            (Some(before), at) => (false, Finding::ClaimedLater(at, before)),
        }
    }

    /// A session that holds a lock at this moment cannot be declared dead.
    pub(super) fn must_hold_no_lock(&mut self, dead: bool) {
        if dead && self.holds_lock() {
            self.lack(Finding::LockHeldInSweep);
        }
    }
}
