//! Concludes what happened from the findings of a scan, and counts them by group, in flat memory per group.

use super::OpsError;
use super::scan::longest;
use super::selection::name;
use super::session::Snapshot;
use crate::model::{Claim, Timestamp};
use crate::output::{Diagnosis, Field, JobGroup, Request};
use crate::policy::{self, Diagnoses, Flows, Judgement, Verdict};
use crate::preset::Jobs;
use crate::store::Holders;
use std::collections::BTreeMap;

/// The most diagnoses in a document; a table shows ten.
const MOST_DIAGNOSES: usize = 1000;

/// What happened to the jobs of a listing or a plan.
#[derive(Debug, Default)]
pub(super) struct Diagnosed {
    /// Most jobs first, and of a long list the first.
    pub(super) list: Vec<Diagnosis>,
    pub(super) count: u64,
    /// Jobs that are part of no diagnosis.
    pub(super) alone: u64,
    /// Owners of stuck jobs that show no life.
    pub(super) silent_owners: u64,
}

impl Diagnosed {
    /// Adds those of other jobs.
    pub(super) fn add(&mut self, other: Diagnosed) {
        self.list.extend(other.list);
        Diagnosis::sort(&mut self.list);
        (self.count, self.alone) = (self.count + other.count, self.alone + other.alone);
    }

    pub(super) fn with_flows(mut self, flows: Flows, now: Timestamp) -> Diagnosed {
        let count = flows.diagnoses.len() as u64;
        let list = Diagnosis::list(flows.diagnoses, now);
        self.add(Diagnosed { list, count, ..Diagnosed::default() });
        self
    }
}

/// Concludes from all findings of a scan, and from who holds how much.
pub(super) fn diagnosed(
    snapshot: &mut Snapshot,
    jobs: &Jobs,
    mut found: Diagnoses<'_>,
    holders: &Holders,
) -> Result<Diagnosed, OpsError> {
    snapshot.each_holder(jobs, holders, &mut |owner, claims| found.holds(owner, claims))?;
    let policy::Grouped { diagnoses, alone, silent_owners } = found.finish();
    let count = diagnoses.len() as u64;
    let mut list = Diagnosis::list(diagnoses, snapshot.now());
    list.truncate(MOST_DIAGNOSES);
    Ok(Diagnosed { list, count, alone, silent_owners })
}

/// The most groups that are counted apart.
const GROUPS: usize = 10_000;
/// The most owners or kinds that a group names.
const EXAMPLES: usize = 3;

pub(super) struct Groups {
    by: Field,
    known: BTreeMap<Option<String>, JobGroup>,
    rest: JobGroup,
}

impl Groups {
    pub(super) fn new(jobs: &Jobs, by: Field) -> Result<Groups, OpsError> {
        let is_known = match by {
            Field::Host => jobs.owner.host.is_some(),
            Field::Owner => jobs.owner.id.is_some(),
            Field::Kind => jobs.claim.kind.is_some(),
            Field::Queue => jobs.claim.queue.is_some(),
            Field::State => true,
        };
        if !is_known {
            return Err(OpsError::unsupported(jobs, &Request::GroupBy(by)));
        }
        Ok(Groups { by, known: BTreeMap::new(), rest: JobGroup { rest: true, ..JobGroup::default() } })
    }

    /// Counts a stuck or unknown claim.
    pub(super) fn add(&mut self, claim: &Claim, judgement: &Judgement) {
        let example = name(claim, if self.by == Field::Owner { Field::Kind } else { Field::Owner });
        let name = name(claim, self.by).map(str::to_owned);
        let group = if self.known.len() < GROUPS || self.known.contains_key(&name) {
            self.known.entry(name.clone()).or_insert_with(|| JobGroup { name, ..JobGroup::default() })
        } else {
            &mut self.rest
        };
        if matches!(judgement.verdict, Verdict::Unknown(_)) {
            group.unknown += 1;
        } else {
            group.stuck += 1;
            longest(&mut group.oldest_silence_seconds, judgement.silence.map(|silence| silence.as_secs_f64()));
        }
        // The first by name, whatever order the database reads in.
        if let Some(example) = example.map(str::to_owned)
            && let Err(place) = group.examples.binary_search(&example)
        {
            group.examples.insert(place, example);
            group.has_more_examples |= group.examples.len() > EXAMPLES;
            group.examples.truncate(EXAMPLES);
        }
    }

    /// The groups, most stuck jobs first; the rest stays last.
    pub(super) fn finish(self, limit: Option<usize>) -> Vec<JobGroup> {
        let mut groups: Vec<JobGroup> = self.known.into_values().collect();
        // Stable, and they come in order of their names.
        groups.sort_by_key(|group| std::cmp::Reverse((group.stuck, group.unknown)));
        groups.truncate(limit.unwrap_or(usize::MAX));
        groups.extend(Some(self.rest).filter(|rest| rest.stuck + rest.unknown > 0));
        groups
    }
}
