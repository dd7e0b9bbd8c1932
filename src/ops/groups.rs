//! Counts findings by host, owner, kind, queue or state on the way, in flat memory per group.

use super::OpsError;
use crate::model::Claim;
use crate::output::{Field, JobGroup, Request};
use crate::policy::{Judgement, Verdict};
use crate::preset::QueueSpec;
use std::collections::BTreeMap;

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
    pub(super) fn new(spec: &QueueSpec, by: Field) -> Result<Groups, OpsError> {
        let is_known = match by {
            Field::Host => spec.owner.host.is_some(),
            Field::Owner => spec.owner.id.is_some(),
            Field::Kind => spec.claim.kind.is_some(),
            Field::Queue => spec.claim.queue.is_some(),
            Field::State => true,
        };
        if !is_known {
            return Err(OpsError::unsupported(spec, Request::GroupBy(by)));
        }
        Ok(Groups { by, known: BTreeMap::new(), rest: JobGroup { rest: true, ..JobGroup::default() } })
    }

    /// Counts a stuck or unknown claim.
    pub(super) fn add(&mut self, claim: &Claim, judgement: &Judgement) {
        let owner = claim.owner.as_ref();
        let owner_name = owner.map(|owner| &owner.name);
        let (name, example) = match self.by {
            Field::Host => (owner.and_then(|owner| owner.host.as_ref()), owner_name),
            Field::Owner => (owner_name, claim.kind.as_ref()),
            Field::Kind => (claim.kind.as_ref(), owner_name),
            Field::Queue => (claim.queue.as_ref(), owner_name),
            Field::State => (Some(&claim.state), owner_name),
        };
        let name = name.cloned();
        let group = if self.known.len() < GROUPS || self.known.contains_key(&name) {
            self.known.entry(name.clone()).or_insert_with(|| JobGroup { name, ..JobGroup::default() })
        } else {
            &mut self.rest
        };
        if matches!(judgement.verdict, Verdict::Unknown(_)) {
            group.unknown += 1;
        } else {
            group.stuck += 1;
            let silence = judgement.silence.map(|silence| silence.as_secs_f64());
            let oldest = &mut group.oldest_silence_seconds;
            *oldest = [*oldest, silence].into_iter().flatten().reduce(f64::max);
        }
        // The first by name, whatever order the database reads in.
        if let Some(Err(place)) = example.map(|example| group.examples.binary_search(example)) {
            group.examples.insert(place, example.cloned().unwrap_or_default());
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
