//! Reads the claims of a snapshot and judges them: the one place where both is done.

use super::OpsError;
use super::progress::{UnderWay, Work};
use super::selection::Selection;
use super::session::Snapshot;
use super::thresholds::cutoffs;
use crate::model::{Claim, Key};
use crate::policy::{Judgement, Policy, Verdict, judge};
use crate::preset::QueueSpec;
use crate::store::{Found, StoreError, Wanted};

/// What is done with a claim that is stuck or unknown; the last is whether it is among those asked for.
type Each<'a> = &'a mut dyn FnMut(&QueueSpec, &Claim, Judgement, bool) -> Result<(), OpsError>;

/// Hands over every claim of the queue that is stuck or unknown, asked for or not; with ids, those that are named. Returns the
/// ids that name no job.
pub(super) fn judged(
    snapshot: &mut Snapshot,
    selection: &Selection,
    policy: &Policy,
    each: Each<'_>,
) -> Result<Vec<String>, OpsError> {
    selection.check(&snapshot.spec, policy)?;
    let (now, progress) = (snapshot.now(), snapshot.progress.clone());
    let mut failed = None;
    let under_way = UnderWay::begin(&*progress, Work::Looking);
    let mut consider = |spec: &QueueSpec, claim: &Claim| {
        under_way.one();
        if failed.is_some() {
            return;
        }
        let judgement = judge(spec, claim, policy, now);
        if judgement.verdict != Verdict::Healthy
            && let Err(error) = each(spec, claim, judgement, selection.admits(claim))
        {
            failed = Some(error);
        }
    };
    let mut not_found = Vec::new();
    if !selection.is_by_name() {
        let wanted = match policy.needs_every_claim() {
            true => Wanted::All,
            false => Wanted::Suspects(cutoffs(now, policy)),
        };
        snapshot.scan(&wanted, &mut |spec, claim| consider(spec, &claim))?;
    } else {
        let found = snapshot.find(&selection.ids)?;
        not_found = selection.without_job(&found);
        found.iter().filter(|found| found.in_flight).for_each(|found| consider(&snapshot.spec, &found.claim));
    }
    match failed {
        Some(error) => Err(error),
        None => Ok(not_found),
    }
}

impl Snapshot {
    /// [`Reader::scan`](crate::store::Reader::scan), with losses counted.
    pub(super) fn scan(&mut self, wanted: &Wanted, each: &mut dyn FnMut(&QueueSpec, Claim)) -> Result<(), StoreError> {
        let Snapshot { reader, spec, stalls, .. } = self;
        reader.scan(spec, wanted, &mut |claim| {
            each(
                spec,
                match stalls {
                    Some(stalls) => stalls.counted(claim),
                    None => claim,
                },
            );
        })
    }

    /// [`Reader::find`](crate::store::Reader::find), with losses counted.
    pub(super) fn find(&mut self, ids: &[String]) -> Result<Vec<Found>, StoreError> {
        let found = self.reader.find(&self.spec, ids)?;
        Ok(match &self.stalls {
            Some(stalls) => {
                found.into_iter().map(|found| Found { claim: stalls.counted(found.claim), ..found }).collect()
            }
            None => found,
        })
    }

    /// [`Reader::find_keys`](crate::store::Reader::find_keys), with losses counted.
    pub(super) fn find_keys(&mut self, keys: &[Key]) -> Result<Vec<(Claim, bool)>, StoreError> {
        let found = self.reader.find_keys(&self.spec, keys)?;
        Ok(match &self.stalls {
            Some(stalls) => found.into_iter().map(|(claim, in_flight)| (stalls.counted(claim), in_flight)).collect(),
            None => found,
        })
    }
}
