//! Selects claims by queue, kind, owner, host, state and id.

use super::passes::Bound;
use super::session::Snapshot;
use super::{OpsError, thresholds};
use crate::model::{Claim, WaitingSide};
use crate::output::{self, Field, Request, advice};
use crate::policy::{Globs, Policy, UnfamiliarStates};
use crate::preset::{Jobs, did_you_mean};
use crate::store::{Detail, Found, Scan, Wanted};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Duration;

#[derive(Debug, Clone, Default)]
pub struct Selection {
    pub queues: Globs,
    pub kinds: Globs,
    pub owners: Globs,
    pub hosts: Vec<String>,
    pub states: Vec<String>,
    /// `--id`: only these jobs are read.
    pub ids: Vec<String>,
    /// True if the ids come from a list: an empty list means no job, not all of them.
    pub from_list: bool,
    /// `--limit`: the longest silent.
    pub limit: Option<usize>,
    /// True if a plan tells the causes of due jobs too, though it acts on none.
    pub with_due: bool,
    /// True if a plan acts on jobs that waited too long, too.
    pub with_waited: bool,
    /// Set if it brings back interrupted jobs, too.
    pub with_interrupted: Option<AlsoInterrupted>,
    /// What an earlier snapshot of the same run leaves to a later one.
    pub bound: Bound,
}

/// How a plan about claims brings back interrupted jobs, too.
#[derive(Debug, Clone, Copy)]
pub struct AlsoInterrupted {
    /// How long ago they may have been interrupted.
    pub within: Duration,
    /// True if the operator overrides the brake.
    pub is_overridden: bool,
}

impl Selection {
    /// The most jobs of a plan that it is about, those of later passes included.
    pub(super) fn most(&self) -> u64 {
        let left = self.bound.left(0).unwrap_or(u64::MAX);
        self.limit.map_or(left, |limit| left.min(limit as u64))
    }

    /// True if jobs are read by id instead of listed.
    pub fn is_by_name(&self) -> bool {
        self.from_list || !self.ids.is_empty()
    }

    pub(super) fn without_job<'f>(&self, found: impl IntoIterator<Item = &'f Found>) -> Vec<String> {
        let named: BTreeSet<&String> = found.into_iter().flat_map(|found| &found.names).collect();
        self.ids.iter().filter(|id| !named.contains(id)).cloned().collect()
    }

    /// True if the claim is selected. Ids are read, not filtered.
    pub fn admits(&self, claim: &Claim) -> bool {
        let owner = claim.owner.as_ref();
        let by_owner = self.owners.patterns().is_empty()
            || owner.is_some_and(|owner| self.owners.admits(Some(&owner.id)) || self.owners.admits(Some(&owner.name)));
        by_owner
            && self.queues.admits(claim.queue.as_deref())
            && self.kinds.admits(claim.kind.as_deref())
            && claim.is_on_host(&self.hosts)
            && (self.states.is_empty() || self.states.contains(&claim.state))
    }

    /// Each filter alone: its field, as it was written, and the selection by it.
    pub(super) fn single(&self) -> Vec<(Field, String, Selection)> {
        let own = Selection::default;
        let queues = self.queues.single().map(|(glob, queues)| (Field::Queue, glob, Selection { queues, ..own() }));
        let kinds = self.kinds.single().map(|(glob, kinds)| (Field::Kind, glob, Selection { kinds, ..own() }));
        let owners = self.owners.single().map(|(glob, owners)| (Field::Owner, glob, Selection { owners, ..own() }));
        let host = |host: &'_ String| Selection { hosts: vec![host.clone()], ..own() };
        let hosts = self.hosts.iter().map(|name| (Field::Host, name.as_str(), host(name)));
        let state = |state: &'_ String| Selection { states: vec![state.clone()], ..own() };
        let states = self.states.iter().map(|name| (Field::State, name.as_str(), state(name)));
        let all = queues.chain(kinds).chain(owners).chain(hosts).chain(states);
        all.map(|(field, written, one)| (field, written.to_owned(), one)).collect()
    }

    /// Refuses what this queue cannot serve.
    pub(super) fn fits(&self, jobs: &Jobs, policy: &Policy) -> Result<(), OpsError> {
        let in_flight = jobs.in_flight_names();
        if let Some(state) = self.states.iter().find(|state| !in_flight.contains(state)) {
            let similar = did_you_mean(state, in_flight.iter().map(String::as_str));
            let request = Request::State { state: state.clone(), similar, in_flight };
            return Err(OpsError::unsupported(jobs, &request));
        }
        if !self.hosts.is_empty() {
            require_hosts(jobs)?;
        }
        self.globs_fit(jobs)?;
        if policy.restart.is_none() { thresholds::fit(jobs, policy) } else { Ok(()) }
    }

    /// Refuses what this queue cannot serve, and to judge without a threshold where the queue has none.
    pub fn check(&self, jobs: &Jobs, policy: &Policy) -> Result<(), OpsError> {
        self.fits(jobs, policy)?;
        if policy.older.is_none() && policy.restart.is_none() && jobs.needs_threshold() {
            return Err(OpsError::unsupported(jobs, &Request::Threshold));
        }
        Ok(())
    }

    /// Refuses patterns for what this queue does not tell.
    pub(super) fn globs_fit(&self, jobs: &Jobs) -> Result<(), OpsError> {
        for (field, globs, is_known) in [
            (Field::Queue, &self.queues, jobs.claim.queue.is_some()),
            (Field::Kind, &self.kinds, jobs.claim.kind.is_some()),
            (Field::Owner, &self.owners, jobs.owner.id.is_some()),
        ] {
            if !globs.patterns().is_empty() && !is_known {
                return Err(OpsError::unsupported(jobs, &Request::Pattern(field)));
            }
        }
        Ok(())
    }

    pub fn filter(&self, policy: &Policy) -> output::Filter {
        let max_runtime = policy.thresholds.max_runtime.filter(|_| policy.restart.is_none());
        output::Filter {
            older_seconds: policy.older.map(|older| older.as_secs_f64()),
            max_runtime_seconds: max_runtime.map(|max| max.as_secs_f64()),
            thresholds: thresholds::filter(policy),
            queues: self.queues.patterns().to_vec(),
            kinds: self.kinds.patterns().to_vec(),
            owners: self.owners.patterns().to_vec(),
            hosts: self.hosts.clone(),
            states: self.states.clone(),
            ids: self.ids.clone(),
            limit: self.limit.map(|limit| limit as u64),
            interrupted_within_seconds: policy.interrupted.map(|within| within.as_secs_f64()),
            restart: policy.restart.is_some(),
            living_owners: policy.list().map(|living| living.live_owners.count() as u64),
            compared_with_at: policy.earlier.as_ref().map(|earlier| earlier.taken_at),
        }
    }
}

/// Refuses `--host` where owners do not name their host.
pub(super) fn require_hosts(jobs: &Jobs) -> Result<(), OpsError> {
    if jobs.owner.host.is_some() {
        return Ok(());
    }
    Err(OpsError::unsupported(jobs, &Request::Hosts { has_owners: jobs.owner.id.is_some() }))
}

/// The most names of a kind that are kept.
const MOST_NAMES: usize = 1000;

/// The caveats of a report about so many claims in flight, some of which cannot be judged if `has_unknown`. With a
/// `selection` that found nothing, its filters that match no claim are among them, which costs a pass over all claims.
pub fn caveats(
    snapshot: &mut Snapshot,
    selection: Option<&Selection>,
    has_unknown: bool,
    in_flight: u64,
) -> Result<Vec<String>, OpsError> {
    if in_flight == 0 {
        let found = snapshot.unfamiliar_states()?.filter(|found| !found.are_unasked());
        let say =
            |found: &UnfamiliarStates| format!("nothing is in flight, but {}; {}", found.sentence(), found.remedy());
        return Ok(found.iter().map(say).collect());
    }
    let line = snapshot.jobs.missing_liveness().filter(|_| has_unknown);
    let mut caveats: Vec<String> =
        line.map(|line| advice::no_liveness(&snapshot.jobs.queue.preset, &line)).into_iter().collect();
    let options = advice::about_options(&snapshot.jobs.cautions).filter(|_| has_unknown);
    caveats.extend(options.map(|(_, text)| text.clone()));
    if let Some(selection) = selection {
        caveats.extend(unmatched_filters(snapshot, selection)?);
    }
    Ok(caveats)
}

/// The filters that match no claim in flight, and of queues no due job; none where there is nothing to match.
pub(super) fn unmatched_filters(snapshot: &mut Snapshot, selection: &Selection) -> Result<Vec<String>, OpsError> {
    let mut filters = selection.single();
    if filters.is_empty() {
        return Ok(Vec::new());
    }
    let mut names = [(); 5].map(|()| BTreeSet::new());
    let (mut side, Snapshot { reader, jobs, views, .. }) = (WaitingSide::default(), &mut *snapshot);
    let waiting = views.waiting.as_deref().ok().filter(|_| !jobs.are_interrupted()).map(|told| (told, &mut side));
    let scan = Scan { waiting, ..Scan::of(jobs, Wanted::All, Detail::ForListing) };
    reader.scan_until(scan, &mut |claim| {
        filters.retain(|(_, _, one)| !one.admits(&claim));
        for (names, field) in names.iter_mut().zip(Field::ALL) {
            names.extend(name(&claim, field).filter(|_| names.len() < MOST_NAMES).map(str::to_owned));
        }
        ControlFlow::Continue(())
    })?;
    if side.is_cut() {
        filters.retain(|(field, ..)| *field != Field::Queue);
    }
    for queue in [side.due, side.staged].into_iter().flatten().flatten().filter_map(|rows| rows.queue) {
        filters.retain(|(field, _, one)| *field != Field::Queue || !one.queues.admits(Some(&queue)));
        for (names, _) in names.iter_mut().zip(Field::ALL).filter(|(_, field)| *field == Field::Queue) {
            names.insert(queue.clone());
        }
    }
    if names.iter().all(BTreeSet::is_empty) {
        return Ok(Vec::new());
    }
    let of_interrupted = snapshot.jobs.are_interrupted();
    let say = |(field, written, _): (Field, String, Selection)| {
        let named = Field::ALL.into_iter().zip(&names).find(|(of, _)| *of == field);
        let known: Vec<&str> = named.into_iter().flat_map(|(_, names)| names).map(String::as_str).collect();
        advice::unmatched_filter(field, &written, &known, of_interrupted)
    };
    Ok(filters.into_iter().map(say).collect())
}

/// Hands over this field of every claim in flight that has it, in no promised order and repeatedly.
pub fn names_in_flight(snapshot: &mut Snapshot, field: Field, each: &mut dyn FnMut(&str)) -> Result<(), OpsError> {
    let mut one = |claim| name(&claim, field).into_iter().for_each(&mut *each);
    snapshot.reader.scan(&snapshot.jobs, &Wanted::All, Detail::ForListing, &mut one)?;
    Ok(())
}

/// What a claim has in this field.
pub(super) fn name(claim: &Claim, field: Field) -> Option<&str> {
    let owner = claim.owner.as_ref();
    match field {
        Field::Queue => claim.queue.as_deref(),
        Field::Kind => claim.kind.as_deref(),
        Field::Owner => owner.map(|owner| owner.name.as_str()),
        Field::Host => owner.and_then(|owner| owner.host.as_deref()),
        Field::State => Some(&claim.state),
    }
}
