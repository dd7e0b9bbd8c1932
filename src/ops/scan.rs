//! Reads the claims of a snapshot, with how often each was lost before, judges them, and passes over them before for
//! evidence from outside the database.

use super::OpsError;
use super::history::Records;
use super::progress::{UnderWay, Work};
use super::selection::Selection;
use super::session::{CountLosses, Snapshot};
use super::snapshot_file::SnapshotFile;
use super::thresholds::cutoffs;
use crate::model::{Claim, Key, Loss, Owner, WaitingSide};
use crate::output::Request;
use crate::output::format::{count, grouped};
use crate::policy::{EarlierSnapshot, Judgement, Living, Policy, Verdict, judge, key_print, seen};
use crate::preset::QueueSpec;
use crate::store::{Detail, Found, Holders, StoreError, Wanted, catalog};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;

/// Receives a claim that is stuck or unknown, and whether the selection admits it; may break off.
type Each<'a> = &'a mut dyn FnMut(&QueueSpec, &Claim, Judgement, bool) -> ControlFlow<()>;

/// What a listing under that policy reads of each claim: an earlier snapshot is compared with the exact values.
pub(super) fn detail_for_listing(policy: &Policy) -> Detail {
    if policy.earlier.is_some() { Detail::ForAction } else { Detail::ForListing }
}

/// Keeps the longer of two spans, as far as they are known.
pub(super) fn longest(known: &mut Option<f64>, seconds: Option<f64>) {
    *known = [*known, seconds].into_iter().flatten().reduce(f64::max);
}

/// What a scan saw besides the claims that it handed over.
pub(super) struct Scanned {
    /// Ids that name no job.
    pub(super) not_found: Vec<String>,
    /// Who holds what in flight; `None` if only named jobs were read.
    pub(super) holders: Option<Holders>,
}

/// Judges the whole queue and hands over every claim that is stuck or unknown, selected or not; with ids, only the
/// named claims. `detail`, `most` and `waiting` are those of [`Reader::scan_until`].
pub(super) fn judged(
    snapshot: &mut Snapshot,
    selection: &Selection,
    policy: &Policy,
    detail: Detail,
    most: Option<u64>,
    waiting: Option<&mut WaitingSide>,
    each: Each<'_>,
) -> Result<Scanned, OpsError> {
    selection.check(&snapshot.spec, policy)?;
    let (now, progress) = (snapshot.now(), snapshot.progress.clone());
    let under_way = UnderWay::begin(&*progress, Work::Reading);
    let mut consider = |spec: &QueueSpec, claim: &Claim| {
        under_way.one();
        let judgement = judge(spec, claim, policy, now);
        match judgement.verdict {
            Verdict::Healthy => ControlFlow::Continue(()),
            _ => each(spec, claim, judgement, selection.admits(claim)),
        }
    };
    if selection.is_by_name() {
        let found = snapshot.find(&selection.ids)?;
        let mut in_flight = found.iter().filter(|found| found.in_flight);
        let _ = in_flight.try_for_each(|found| consider(&snapshot.spec, &found.claim));
        return Ok(Scanned { not_found: selection.without_job(&found), holders: None });
    }
    let wanted = match (policy.interrupted, policy.needs_every_claim()) {
        (Some(since), _) => Wanted::Since(now.minus(since)),
        (None, true) => Wanted::All,
        (None, false) => Wanted::Suspects(cutoffs(now, policy)),
    };
    let Snapshot { reader, spec, losses, .. } = snapshot;
    let mut one = |claim| consider(spec, &with_losses(losses.as_ref(), claim));
    let holders = reader.scan_until(spec, &wanted, detail, most, waiting, &mut one)?;
    Ok(Scanned { not_found: Vec::new(), holders: Some(holders) })
}

impl Snapshot {
    /// [`Reader::scan`](crate::store::Reader::scan), with losses counted.
    pub(super) fn scan(
        &mut self,
        wanted: &Wanted,
        detail: Detail,
        each: &mut dyn FnMut(&QueueSpec, Claim),
    ) -> Result<Holders, StoreError> {
        let Snapshot { reader, spec, losses, .. } = self;
        reader.scan(spec, wanted, detail, &mut |claim| each(spec, with_losses(losses.as_ref(), claim)))
    }

    /// Hands over each owner with its claims in flight, as a scan counted them or, if there were too many, the database.
    pub(super) fn each_holder(
        &mut self,
        holders: &Holders,
        each: &mut dyn FnMut(Option<&Owner>, u64),
    ) -> Result<(), StoreError> {
        match holders.owners() {
            Some(owners) => {
                owners.for_each(|(owner, claims)| each(owner, claims));
                Ok(())
            }
            None => self.reader.count_by_owner(&self.spec, each),
        }
    }

    /// How many claims are in flight, as a scan of all of them counted or else the database.
    pub(super) fn in_flight(&mut self, scanned: Option<&Holders>) -> Result<u64, StoreError> {
        scanned.map_or_else(|| self.reader.in_flight(&self.spec), |holders| Ok(holders.claims()))
    }

    /// [`Reader::find`](crate::store::Reader::find), with losses counted.
    pub(super) fn find(&mut self, ids: &[String]) -> Result<Vec<Found>, StoreError> {
        let losses = self.losses.as_ref();
        let found = self.reader.find(&self.spec, ids)?.into_iter();
        Ok(found.map(|found| Found { claim: with_losses(losses, found.claim), ..found }).collect())
    }

    /// [`Reader::find_keys`](crate::store::Reader::find_keys), with losses counted.
    pub(super) fn find_keys(&mut self, keys: &[Key]) -> Result<Vec<(Claim, bool)>, StoreError> {
        let losses = self.losses.as_ref();
        let found = self.reader.find_keys(&self.spec, keys)?.into_iter();
        Ok(found.map(|(claim, in_flight)| (with_losses(losses, claim), in_flight)).collect())
    }
}

fn with_losses(losses: Option<&CountLosses>, claim: Claim) -> Claim {
    match losses {
        Some(losses) => Claim { stalls: Some(losses(&claim)), ..claim },
        None => claim,
    }
}

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
    pub(super) fn counts_stalls(&self) -> bool {
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
    snapshot.reader.scan(&snapshot.spec, &Wanted::All, Detail::ForAction, &mut |claim| {
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
    if living.is_some() && snapshot.spec.owner.id.is_none() {
        return Err(OpsError::unsupported(&snapshot.spec, &Request::LiveOwners));
    }
    let before = file.map(|file| file.earlier(snapshot)).transpose()?.flatten();
    let at = snapshot.now();
    let mut now = file.map(|_| EarlierSnapshot { taken_at: at, seen: HashMap::new() });
    let (mut owners, mut matched, mut example) = (HashSet::new(), BTreeSet::new(), None);
    snapshot.reader.scan(&snapshot.spec, &Wanted::All, Detail::ForAction, &mut |claim| {
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
