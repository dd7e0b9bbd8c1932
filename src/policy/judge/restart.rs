//! Judges a restart sweep: the operator says which owners are dead, whatever the rows show.

use super::Evaluation;
use crate::model::{Clocks, FUTURE_TOLERANCE, Timestamp};
use crate::policy::scope::{Restart, RestartScope};
use crate::policy::verdict::Rule;

impl Evaluation<'_> {
    pub(super) fn restart(&mut self) {
        let Some(restart) = &self.policy.restart else { return };
        if let RestartScope::NotListed(living) = &restart.scope {
            return self.restart_by_live_owners(living, restart);
        }
        let owner = self.owner_name();
        let (dead, detail) = if !restart.scope.covers(self.claim) {
            (false, "the owner is not in the scope of this sweep".to_owned())
        } else if !self.precedes_sweep(restart) {
            (false, "not known to have been claimed before the sweep began".to_owned())
        } else {
            self.started_before(restart, format!("restart sweep: {owner} is declared dead"))
        };
        self.must_hold_no_lock(dead);
        self.ask(Rule::Restart, "owner", owner, dead, detail);
    }

    /// True if the claim was certainly made before the sweep began; any doubt makes the verdict unknown. Clocks count as equal:
    /// the sweep at a host's boot must recover the job of a worker that crashed seconds after its claim.
    pub(super) fn precedes_sweep(&mut self, restart: &Restart) -> bool {
        let why = match (&self.spec.claim.claimed_at, self.claim.claimed_at.at()) {
            (Some(column), at) => {
                if self.must_be_plausible(column, &self.claim.claimed_at, Some(FUTURE_TOLERANCE)).is_some() {
                    return false;
                }
                match at {
                    Some(at) if restart.began.is_after(at, Clocks::One) => return true,
                    Some(_) => "claimed after the sweep began, by the row's own time: it may be a new worker's",
                    None => "it does not say when it was claimed: that may be after the sweep began",
                }
            }
            (None, _) if restart.first.as_ref().is_none_or(|first| first.has(self.claim)) => return true,
            (None, _) => "it was not in flight, or was another claim, when the sweep began",
        };
        self.lack(why.to_owned());
        false
    }

    /// Whether a claim that is dead for `detail` was made before the instant that the operator named, if any.
    pub(super) fn started_before(&mut self, restart: &Restart, detail: String) -> (bool, String) {
        match (restart.before, self.claim.claimed_at.at()) {
            (None, _) => (true, detail),
            (Some(before), Some(at)) if before.is_after(at, Clocks::One) => {
                (true, format!("{detail}; claimed {at}, before {before}"))
            }
            (Some(before), at) => {
                let at = at.map_or_else(|| "at an unknown time".to_owned(), |at: Timestamp| at.to_string());
                (false, format!("claimed {at}, not before {before}"))
            }
        }
    }

    /// A session that holds a lock at this moment cannot be declared dead.
    pub(super) fn must_hold_no_lock(&mut self, dead: bool) {
        if dead && self.holds_lock() {
            self.lack("a living session holds its lock: stop that process first".to_owned());
        }
    }
}
