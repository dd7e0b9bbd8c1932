//! Lists stuck and unknown claims under the diagnoses that explain them, and compares one listing with the next.

use super::OpsError;
use super::diagnosis::{Diagnosed, Groups};
use super::interrupted;
use super::scan::longest;
use super::selection::{Selection, caveats, unmatched_filters};
use super::session::Snapshot;
use super::survey::{Survey, Surveyed};
use super::waiting;
use crate::model::{Action, Claim, Timestamp};
use crate::output::{Collector, Field, First, Job, LISTED, Reason, Stale, StaleHead, StaleSummary, advice, order};
use crate::policy::{Draft, Finding, Judgement, Policy, SkipReason, Verdict};
use crate::store::Holders;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;

/// The most jobs in a command of the library's.
pub const NAMED: usize = 1000;
/// More than any two places in a list are apart.
const FIRST: i64 = 1 << 62;

/// Lists the claims that are stuck, and those that are unknown, under what is likely to have happened. What is counted
/// does not depend on how many jobs are collected. `is_first` is asked of every claim: those jobs come before all others.
pub fn stale(
    snapshot: &mut Snapshot,
    selection: &Selection,
    policy: &Policy,
    mut jobs: Collector<Job>,
    is_first: &mut dyn FnMut(&Claim, &Judgement) -> bool,
) -> Result<Stale, OpsError> {
    let most = jobs.most();
    let mut summary = StaleSummary::default();
    let mut unknown = First::of(most.min(LISTED));
    let spec = snapshot.jobs.clone();
    let (mut is_empty, mut ids) = (true, Vec::new());
    let are_interrupted = spec.are_interrupted();
    let with_waiting = waiting::is_asked_for(selection) && !are_interrupted;
    selection.check(&spec, policy)?;
    let survey = Survey { with_waiting, ..Survey::of(&spec, selection, policy) };
    let mut seen = survey.run(snapshot, &mut |Surveyed { claim, judgement, draft, group, .. }| {
        is_empty = false;
        let Some(draft) = draft else { return ControlFlow::Continue(()) };
        let is_first = is_first(claim, &judgement);
        let is_unknown = matches!(judgement.verdict, Verdict::Unknown(_));
        let is_refused = matches!(&draft, Draft::Skipped(why) if why.reason == SkipReason::ActionRefused);
        if is_refused && are_interrupted && ids.len() < NAMED {
            ids.push(claim.key.to_string());
        }
        if let Verdict::Unknown(lacking) = &judgement.verdict {
            summary.unknown += 1;
            summary.unknown_zone += u64::from(Finding::are_of_zone(lacking));
        } else {
            summary.stuck += 1;
            let silence = judgement.silence.map(|silence| silence.as_secs_f64());
            longest(&mut summary.oldest_silence_seconds, silence);
        }
        let place = order(judgement.last_seen_at) - if is_first { FIRST } else { 0 };
        let job = || {
            let mut job = Job::of(&spec, claim, policy, &judgement, draft.step());
            // All were interrupted: what is not to be retried differs from the others.
            if let (true, Draft::Skipped(skipped), false) = (are_interrupted, &draft, is_unknown || is_refused) {
                let why = skipped.findings.iter();
                job.reasons.extend(why.map(|why| Reason { rule: "skipped", proves: None, finding: why.clone() }));
            }
            Job { group, ..job }
        };
        if is_unknown {
            unknown.add(place, job);
        } else {
            jobs.add(place, || class(claim, &judgement, draft.step().map(|step| step.action)), job);
        }
        ControlFlow::Continue(())
    })?;
    let waiting = seen.waiting(snapshot);
    let mut found = match seen.holders.is_some() && !is_empty {
        true => seen.causes(snapshot)?,
        false => Diagnosed { alone: summary.stuck, ..Diagnosed::default() },
    };
    if let Some((waiting, flows)) = waiting {
        summary.waiting = Some(waiting);
        found = found.with_flows(flows, snapshot.now());
    }
    let holders = &seen.holders;
    summary.in_flight = snapshot.in_flight(holders.as_ref())?;
    summary.older = holders.as_ref().map_or(Ok(None), |holders| interrupted::older(snapshot, &spec, holders))?;
    (summary.alone, summary.diagnoses) = (found.alone, found.count);
    let owners = holders.as_ref().and_then(Holders::owners);
    summary.owners = owners.map(|owners| owners.filter(|(owner, _)| owner.is_some()).count() as u64);
    summary.silent_owners = found.silent_owners;
    let (jobs, (unknown, _)) = (jobs.finish()?, unknown.finish());
    let found_none = summary.stuck + summary.unknown == 0 && !selection.is_by_name();
    let mut warnings = caveats(snapshot, None, summary.unknown > 0, summary.in_flight)?;
    if spec.library_command().is_some() && !ids.is_empty() {
        // The operator runs the command without a plan that would name them.
        warnings.extend(spec.cautions.iter().map(|(_, text)| text.clone()));
    }
    let unmatched = if found_none { unmatched_filters(snapshot, selection)? } else { Vec::new() };
    let is_unmatched = !unmatched.is_empty();
    warnings.extend(unmatched);
    let is_beyond = |count: u64| selection.limit.is_some_and(|limit| count > limit as u64);
    let is_cut = (unknown.len() as u64) < summary.unknown && most >= LISTED;
    summary.truncated = most > 0 && (is_beyond(summary.stuck) || is_beyond(summary.unknown) || is_cut);
    summary.returned = jobs.len() as u64;
    if selection.limit.is_some() && !jobs.items().is_empty() {
        ids.retain(|id| jobs.items().iter().any(|job| job.id == *id));
    }
    summary.command = spec.library_command().and_then(|command| advice::filled_in(command, &ids));
    let head = StaleHead {
        schema: "jobdoctor.stale/v1",
        store_time: snapshot.now(),
        target: snapshot.target.clone(),
        filter: selection.filter(policy),
        by: None,
        not_found: seen.not_found,
        warnings,
        unmatched: is_unmatched,
    };
    Ok(Stale { head, summary, diagnoses: found.list, groups: Vec::new(), jobs, unknown })
}

/// Counts the claims that are stuck or unknown by host, owner, kind, queue or state, and lists none.
pub fn stale_by(snapshot: &mut Snapshot, selection: &Selection, policy: &Policy, by: Field) -> Result<Stale, OpsError> {
    let mut groups = Groups::new(&snapshot.jobs, by)?;
    let mut document = stale(snapshot, selection, policy, Collector::first(0), &mut |claim, judgement| {
        groups.add(claim, judgement);
        false
    })?;
    (document.head.by, document.groups) = (Some(by), groups.finish(selection.limit));
    Ok(document)
}

/// What jobs have in common of which a few are examples: their holder, kind and queue, the rules, and what a reclaim
/// would do.
fn class(claim: &Claim, judgement: &Judgement, action: Option<Action>) -> u64 {
    let holder = claim.owner.as_ref().map(|owner| owner.host.as_ref().unwrap_or(&owner.name));
    let mut hasher = DefaultHasher::new();
    (holder, &claim.kind, &claim.queue, action).hash(&mut hasher);
    judgement.verdict.reasons().iter().for_each(|reason| reason.rule.hash(&mut hasher));
    hasher.finish()
}

/// A snapshot compared with the one before it: which findings are new, and which are gone.
///
/// A finding is a job with its claim: a job that was requeued, claimed again and is stuck again is gone and new. All of
/// them are compared, in some 50 bytes of memory a finding; the first are listed.
pub struct SnapshotDiff {
    pub document: Stale,
    /// What the snapshot before it listed and this one did not find, as it was then.
    pub gone: Vec<Job>,
    /// How many findings of the snapshot before are gone in all.
    pub all_gone: usize,
    seen: HashSet<u64>,
    before: HashSet<u64>,
}

impl SnapshotDiff {
    /// A snapshot of groups, which is compared with none.
    pub fn of_groups(document: Stale) -> SnapshotDiff {
        SnapshotDiff { document, gone: Vec::new(), all_gone: 0, seen: HashSet::new(), before: HashSet::new() }
    }

    /// Compares a snapshot with the last one, if there is one: new jobs come first.
    pub fn of(
        last: Option<&SnapshotDiff>,
        snapshot: &mut Snapshot,
        selection: &Selection,
        policy: &Policy,
        jobs: Collector<Job>,
    ) -> Result<SnapshotDiff, OpsError> {
        let (mut seen, before) = (HashSet::new(), last.map(|last| last.seen.clone()).unwrap_or_default());
        let document = stale(snapshot, selection, policy, jobs, &mut |claim, _| {
            let owner = claim.owner.as_ref().map(|owner| owner.name.as_str());
            let mark = mark(&claim.key.to_string(), owner, claim.claimed_at.at());
            seen.insert(mark);
            !before.contains(&mark)
        })?;
        let all_gone = before.difference(&seen).count();
        let gone = last.into_iter().flat_map(SnapshotDiff::findings).filter(|job| !seen.contains(&mark_of(job)));
        let gone = gone.cloned().collect();
        Ok(SnapshotDiff { document, gone, all_gone, seen, before })
    }

    /// The stuck claims that this snapshot lists, then the unknown ones.
    pub fn findings(&self) -> impl Iterator<Item = &Job> {
        self.document.jobs.items().iter().chain(&self.document.unknown)
    }

    /// True if the snapshot before did not find this job.
    pub fn is_new(&self, job: &Job) -> bool {
        !self.before.contains(&mark_of(job))
    }
}

fn mark_of(job: &Job) -> u64 {
    mark(&job.id, job.owner.as_deref(), job.claimed_at)
}

/// A hash that identifies a finding; collisions are one in 10^15.
fn mark(id: &str, owner: Option<&str>, claimed_at: Option<Timestamp>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (id, owner, claimed_at).hash(&mut hasher);
    hasher.finish()
}
