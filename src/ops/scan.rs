//! Reads the claims of a snapshot, with how often each was lost before, judges them, and passes over them before for
//! evidence from outside the database.

use super::OpsError;
use super::history::Records;
use super::session::{CountLosses, Snapshot};
use super::snapshot_file::SnapshotFile;
use crate::model::{Claim, Key, Loss, Owner};
use crate::output::Request;
use crate::output::format::{count, grouped};
use crate::policy::{EarlierSnapshot, Living, key_print, seen};
use crate::preset::Jobs;
use crate::store::{Detail, Found, Holders, StoreError, Wanted, catalog};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Keeps the longer of two spans, as far as they are known.
pub(super) fn longest(known: &mut Option<f64>, seconds: Option<f64>) {
    *known = [*known, seconds].into_iter().flatten().reduce(f64::max);
}

impl Snapshot {
    /// Hands over each owner with its claims in flight, as a scan counted them or, if there were too many, the database.
    pub(super) fn each_holder(
        &mut self,
        jobs: &Jobs,
        holders: &Holders,
        each: &mut dyn FnMut(Option<&Owner>, u64),
    ) -> Result<(), StoreError> {
        match holders.owners() {
            Some(owners) => {
                owners.for_each(|(owner, claims)| each(owner, claims));
                Ok(())
            }
            None => self.reader.count_by_owner(jobs, each),
        }
    }

    /// How many claims are in flight, as a scan of all of them counted or else the database.
    pub(super) fn in_flight(&mut self, scanned: Option<&Holders>) -> Result<u64, StoreError> {
        scanned.map_or_else(|| self.reader.in_flight(&self.jobs), |holders| Ok(holders.claims()))
    }

    /// [`Reader::find`](crate::store::Reader::find), with losses counted.
    pub(super) fn find(&mut self, jobs: &Jobs, ids: &[String]) -> Result<Vec<Found>, StoreError> {
        let losses = self.losses.as_ref();
        let found = self.reader.find(jobs, ids)?.into_iter();
        Ok(found.map(|found| Found { claim: with_losses(jobs, losses, found.claim), ..found }).collect())
    }

    /// [`Reader::find_keys`](crate::store::Reader::find_keys), with losses counted.
    pub(super) fn find_keys(&mut self, jobs: &Jobs, keys: &[Key]) -> Result<Vec<(Claim, bool)>, StoreError> {
        let losses = self.losses.as_ref();
        let found = self.reader.find_keys(jobs, keys)?.into_iter();
        Ok(found.map(|(claim, in_flight)| (with_losses(jobs, losses, claim), in_flight)).collect())
    }

    /// The snapshot with the losses of its jobs counted.
    pub fn counting_losses(mut self) -> Result<Snapshot, OpsError> {
        self.count_losses(&self.jobs.clone())?;
        Ok(self)
    }

    /// Counts the losses of these jobs: by the rows themselves; if they do not, by the queue's ledger. The journal of one
    /// host would know its own runs only.
    pub(super) fn count_losses(&mut self, jobs: &Jobs) -> Result<(), OpsError> {
        // Nothing tells the losses of a deleted job from those of a new one under its id.
        if self.counts_stalls(jobs) || jobs.attempts.column.is_none() && self.reuses_ids(jobs)? {
            return Ok(());
        }
        let Some(ledger) = (Records { journals: None, snapshot: Some(self) }).ledger()? else { return Ok(()) };
        let mut losses = Losses::default();
        self.reader.ledger_losses(&ledger, &self.target.table, &mut |loss| losses.add(&loss))?;
        self.losses = Some(Box::new(move |claim| losses.of(claim)));
        Ok(())
    }

    /// True if the rows or the ledger tell how often these jobs were lost before.
    pub(super) fn counts_stalls(&self, jobs: &Jobs) -> bool {
        jobs.attempts.stalls.is_some() || self.losses.is_some()
    }

    /// True if the key is a rowid, and the highest one is free again once its row is gone.
    fn reuses_ids(&mut self, jobs: &Jobs) -> Result<bool, OpsError> {
        let table = jobs.queue.tables.get(&jobs.claim.lock_table);
        let (Some(table), [key]) = (table, jobs.claim.key.as_slice()) else { return Ok(false) };
        let asked = catalog::reuses_ids(jobs.queue.engine, table, &key.name);
        Ok(asked.map(|asked| self.reader.ask(&asked)).transpose()?.unwrap_or(false))
    }
}

/// The claim with how often it was lost before, where its own row does not count that.
pub(super) fn with_losses(jobs: &Jobs, losses: Option<&CountLosses>, claim: Claim) -> Claim {
    match losses.filter(|_| jobs.attempts.stalls.is_none()) {
        Some(losses) => Claim { stalls: Some(losses(&claim)), ..claim },
        None => claim,
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

/// What a pass over all claims in flight found before any was judged.
pub struct Prescan {
    /// What the saved snapshot saw.
    pub before: Option<EarlierSnapshot>,
    /// What this snapshot sees, to be saved.
    pub now: Option<EarlierSnapshot>,
    /// What is odd about the live-owner list.
    pub list: OddList,
}

/// What is odd about a live-owner list, in sentences.
#[derive(Default)]
pub struct OddList {
    /// Why it may be that of another queue.
    pub wrong: Option<String>,
    /// How many of its entries name no owner in flight.
    pub unmatched: Option<String>,
}

/// What is in flight in this snapshot, in some 100 bytes of memory a claim.
pub fn in_flight(snapshot: &mut Snapshot) -> Result<EarlierSnapshot, OpsError> {
    let at = snapshot.now();
    let mut snapshot_now = EarlierSnapshot { taken_at: at, seen: HashMap::new() };
    snapshot.reader.scan(&snapshot.jobs, &Wanted::All, Detail::ForAction, &mut |claim| {
        snapshot_now.seen.insert(key_print(&claim), seen(None, &claim, at));
    })?;
    Ok(snapshot_now)
}

/// Passes over all claims in flight: whether any of their owners is on the list, and what to save of them. This is the
/// cost of a live-owner list or a snapshot file: one more full read of what is in flight, without an index.
pub fn prescan(
    snapshot: &mut Snapshot,
    living: Option<&Living>,
    file: Option<&SnapshotFile>,
) -> Result<Prescan, OpsError> {
    if living.is_some() && snapshot.jobs.owner.id.is_none() {
        return Err(OpsError::unsupported(&snapshot.jobs, &Request::LiveOwners));
    }
    let before = file.map(|file| file.earlier(snapshot)).transpose()?.flatten();
    let at = snapshot.now();
    let mut now = file.map(|_| EarlierSnapshot { taken_at: at, seen: HashMap::new() });
    let (mut owners, mut matched, mut example) = (HashSet::new(), BTreeSet::new(), None);
    snapshot.reader.scan(&snapshot.jobs, &Wanted::All, Detail::ForAction, &mut |claim| {
        if let (Some(living), Some(owner)) = (living, &claim.owner)
            && owners.insert(owner.id.clone())
        {
            matched.extend(living.live_owners.entries_of(owner));
            example.get_or_insert_with(|| owner.name.clone());
        }
        if let Some(now) = &mut now {
            let key = key_print(&claim);
            let known = before.as_ref().and_then(|before| before.seen.get(&key));
            now.seen.insert(key, seen(known, &claim, at));
        }
    })?;
    let unmatched = living.filter(|_| example.is_some()).and_then(|living| {
        let entries = living.live_owners.entries();
        let unmatched = entries.difference(&matched).count();
        let of = count(entries.len() as u64, "entry", "entries");
        (unmatched > 0)
            .then(|| format!("{} of {of} of the live-owner list name no owner in flight", grouped(unmatched as u64)))
    });
    let wrong = living.zip(example.filter(|_| matched.is_empty())).map(|(living, owner)| {
        let entries = living.live_owners.examples().join(", ");
        format!(
            "no owner in flight is on the list of living owners: owners look like {owner}, but the list starts with \
             {entries}"
        )
    });
    Ok(Prescan { before, now, list: OddList { wrong, unmatched } })
}
