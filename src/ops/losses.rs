//! Counts how often a job was lost before: in a column of its row, or in the ledger.

use super::OpsError;
use super::delay::can_return_later;
use super::history::Records;
use super::session::{CountLosses, Snapshot};
use super::sweep_lock::ignored_ledger;
use crate::model::{Claim, Loss};
use crate::output::Request;
use crate::policy::Delay;
use crate::store::catalog;
use std::collections::HashMap;

impl Snapshot {
    /// The snapshot with losses counted: by the rows themselves; if they do not, by the queue's ledger. The journal of
    /// one host would know its own runs only.
    pub fn counting_losses(mut self) -> Result<Snapshot, OpsError> {
        if self.counts_stalls() {
            return Ok(self);
        }
        // Nothing tells the losses of a deleted job from those of a new one under its id.
        if self.spec.attempts.column.is_none() && self.reuses_ids()? {
            return Ok(self);
        }
        let Some(ledger) = (Records { journals: None, snapshot: Some(&mut self) }).ledger()? else { return Ok(self) };
        let mut losses = Losses::default();
        self.reader.ledger_losses(&ledger, &self.target.table, &mut |loss| losses.add(&loss))?;
        Ok(self.counting_stalls(Box::new(move |claim| losses.of(claim))))
    }

    /// The snapshot with losses counted by `count`, if the rows do not count them.
    #[must_use]
    pub fn counting_stalls(self, count: CountLosses) -> Snapshot {
        if self.counts_stalls() { self } else { Snapshot { losses: Some(count), ..self } }
    }

    /// True if the rows or the ledger tell how often its claims were lost before.
    fn counts_stalls(&self) -> bool {
        self.spec.attempts.stalls.is_some() || self.losses.is_some()
    }

    /// True if the key is a rowid, and the highest one is free again once its row is gone.
    fn reuses_ids(&mut self) -> Result<bool, OpsError> {
        let table = self.spec.tables.get(&self.spec.claim.lock_table);
        let (Some(table), [key]) = (table, self.spec.claim.key.as_slice()) else { return Ok(false) };
        let asked = catalog::reuses_ids(self.spec.engine, table, &key.name);
        Ok(asked.map(|asked| self.reader.ask(&asked)).transpose()?.unwrap_or(false))
    }
}

/// Losses by job, as the ledger records them.
#[derive(Default)]
struct Losses(HashMap<String, Lost>);

/// The last job that had a key.
#[derive(Default)]
struct Lost {
    times: i64,
    kind: Option<String>,
    attempts: Option<i64>,
}

impl Lost {
    /// False if a job of that kind with so many attempts must be another one under the same key: SQLite reuses the id
    /// of a deleted row. A job keeps its kind, and its attempts never become fewer.
    fn may_be(&self, kind: Option<&str>, attempts: Option<i64>) -> bool {
        self.kind.as_deref() == kind && attempts.zip(self.attempts).is_none_or(|(now, then)| now >= then)
    }
}

impl Losses {
    /// One more, later than all before.
    fn add(&mut self, loss: &Loss) {
        let lost = self.0.entry(loss.key.exact()).or_default();
        if !lost.may_be(loss.kind.as_deref(), loss.attempts) {
            lost.times = 0;
        }
        lost.times += if loss.reverted { -1 } else { 1 };
        (lost.kind, lost.attempts) = (loss.kind.clone(), loss.attempts_after);
    }

    /// How often the job of a claim was lost before.
    fn of(&self, claim: &Claim) -> i64 {
        let attempts = claim.attempts.as_integer();
        let lost = self.0.get(&claim.key.exact()).filter(|lost| lost.may_be(claim.kind.as_deref(), attempts));
        lost.map_or(0, |lost| lost.times.max(0))
    }
}

/// Refuses a stall budget where nothing counts stalls: it would never be spent.
pub(super) fn must_be_counted(snapshot: &Snapshot, max_stalls: Option<u32>) -> Result<(), OpsError> {
    match (max_stalls, ignored_ledger(snapshot)) {
        (Some(_), Some(error)) if snapshot.spec.attempts.stalls.is_none() => Err(error.into()),
        (Some(_), _) if !snapshot.counts_stalls() => Err(OpsError::unsupported(&snapshot.spec, Request::Stalls)),
        _ => Ok(()),
    }
}

/// What the target asks of every run and this queue cannot do: it would refuse each. With the finding's id.
pub fn unfit_for_target(snapshot: &Snapshot, max_stalls: Option<u32>, delay: &Delay) -> Vec<(&'static str, String)> {
    let budget = must_be_counted(snapshot, max_stalls).err().map(|error| ("max_stalls", error.to_string()));
    let delay = can_return_later(&snapshot.spec, delay).err().map(|error| ("delay", error.to_string()));
    budget.into_iter().chain(delay).collect()
}
