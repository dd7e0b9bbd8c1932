//! What is likely to have happened, put together beside a listing.

use super::OpsError;
use super::session::Snapshot;
use crate::model::Claim;
use crate::output;
use crate::policy::{self, Diagnoses, Judgement};
use crate::preset::QueueSpec;

/// As many are put into a document; a person reads ten.
const MOST: usize = 1000;

/// The diagnoses of a listing, on their way.
pub(super) struct Grouping<'s> {
    diagnoses: Diagnoses<'s>,
    is_empty: bool,
}

/// What came of it.
pub(super) struct Grouped {
    /// The diagnoses, most jobs first.
    pub(super) diagnoses: Vec<output::Diagnosis>,
    /// How many there are in all.
    pub(super) count: u64,
    /// Stuck jobs that are part of none.
    pub(super) alone: u64,
    /// Claims in the whole queue.
    pub(super) in_flight: u64,
}

impl<'s> Grouping<'s> {
    pub(super) fn new(spec: &'s QueueSpec) -> Grouping<'s> {
        Grouping { diagnoses: Diagnoses::new(spec), is_empty: true }
    }

    /// Takes in a claim that is stuck or unknown.
    pub(super) fn add(&mut self, claim: &Claim, judgement: &Judgement, is_listed: bool) {
        self.is_empty = false;
        self.diagnoses.add(claim, judgement, is_listed);
    }

    /// True if nothing was taken in, so that nobody needs to be asked who is alive.
    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Asks who holds how much, in place of how much is held, and concludes.
    pub(super) fn finish(mut self, snapshot: &mut Snapshot) -> Result<Grouped, OpsError> {
        let mut in_flight = 0;
        snapshot.reader.count_by_owner(&snapshot.spec, &mut |owner, claims| {
            in_flight += claims;
            self.diagnoses.holds(owner.as_ref(), claims);
        })?;
        let policy::Grouped { diagnoses, alone } = self.diagnoses.finish(snapshot.now());
        let count = diagnoses.len() as u64;
        let diagnoses = diagnoses.into_iter().take(MOST).map(document).collect();
        Ok(Grouped { diagnoses, count, alone, in_flight })
    }
}

fn document(diagnosis: policy::Diagnosis) -> output::Diagnosis {
    output::Diagnosis {
        diagnosis: diagnosis.what.name().to_owned(),
        text: diagnosis.text,
        host: diagnosis.host,
        owner: diagnosis.owner,
        kind: diagnosis.kind,
        since_at: diagnosis.since,
        until_at: diagnosis.until,
        jobs: diagnosis.jobs,
        hosts: diagnosis.hosts,
        owners: diagnosis.owners,
    }
}
