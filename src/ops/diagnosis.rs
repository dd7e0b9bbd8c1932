//! Concludes what happened from the findings of a scan and from how much each owner holds.

use super::OpsError;
use super::passes::Hashes;
use super::plan::Part;
use super::scan::{detail_for_listing, judged};
use super::selection::Selection;
use super::session::Snapshot;
use crate::output::Diagnosis;
use crate::policy::{self, Diagnoses, Policy};

/// The most diagnoses in a document; a table shows ten.
const MOST_DIAGNOSES: usize = 1000;

/// What happened to the jobs of a listing or a plan.
#[derive(Debug, Default)]
pub(super) struct Diagnosed {
    /// Most jobs first, and of a long list the first.
    pub(super) list: Vec<Diagnosis>,
    /// How many diagnoses there are.
    pub(super) count: u64,
    /// Jobs that are part of no diagnosis.
    pub(super) alone: u64,
    /// Claims in the whole queue.
    pub(super) in_flight: u64,
}

/// Concludes from all findings of this snapshot. One query tells who holds how much, and how much is in flight.
pub(super) fn diagnosed(snapshot: &mut Snapshot, mut found: Diagnoses<'_>) -> Result<Diagnosed, OpsError> {
    let mut in_flight = 0;
    snapshot.reader.count_by_owner(&snapshot.spec, &mut |owner, claims| {
        in_flight += claims;
        found.holds(owner.as_ref(), claims);
    })?;
    let policy::Grouped { diagnoses, alone } = found.finish();
    let count = diagnoses.len() as u64;
    let mut list = Diagnosis::list(diagnoses, snapshot.now());
    list.truncate(MOST_DIAGNOSES);
    Ok(Diagnosed { list, count, alone, in_flight })
}

/// What happened to the jobs of these steps, from another scan of the snapshot that they were planned in.
pub(super) fn diagnosed_again(snapshot: &mut Snapshot, policy: &Policy, part: &Part) -> Result<Diagnosed, OpsError> {
    if part.steps.is_empty() {
        return Ok(Diagnosed::default());
    }
    let planned: Hashes = part.steps.iter().map(|(step, _)| step.key.exact()).collect();
    let spec = snapshot.spec.clone();
    let mut found = Diagnoses::new(&spec);
    let detail = detail_for_listing(policy);
    judged(snapshot, &Selection::default(), policy, detail, &mut |_, claim, judgement, _| {
        found.add(claim, &judgement, planned.has(claim.key.exact()));
    })?;
    diagnosed(snapshot, found)
}
