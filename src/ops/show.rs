//! Explains single jobs.

use super::history::{Records, last_moved};
use super::selection::Selection;
use super::session::Snapshot;
use super::{OpsError, waits};
use crate::history::Directory;
use crate::model::Claim;
use crate::output::{Job, Request, RuleCheck, Show, ShownJob, Waits, Would, advice};
use crate::policy::{
    Draft, Finding, INTERRUPTED_WITHIN, Judgement, Policy, SkipReason, Skipped, VerdictKind, draft, explain,
};
use crate::preset::{Expr, Jobs, What};
use crate::store::{Found, StoreError, parts};

/// The most bytes of a last error.
const LAST_ERROR: usize = 4096;

/// Explains jobs one by one: the evidence, the checks, and what reclaim would do. `payload` is the most bytes of a
/// payload to read; without it none is read.
pub fn show(
    snapshot: &mut Snapshot,
    ids: &[String],
    policy: &Policy,
    payload: Option<usize>,
    journals: Option<&Directory>,
) -> Result<Show, OpsError> {
    Selection::default().check(&snapshot.jobs, policy)?;
    if payload.is_some() && snapshot.jobs.claim.payload.is_none() {
        return Err(OpsError::unsupported(&snapshot.jobs, &Request::Payload));
    }
    let claims = snapshot.views.claims.clone();
    let mut shown = found(snapshot, &claims, ids, policy, payload)?;
    let mut unread = add_elsewhere(snapshot, ids, policy, &mut shown)?;
    waits::explain(snapshot, ids, &mut shown)?;
    if snapshot.views.tells_interrupted && shown.iter().filter(|(_, job)| job.in_flight).count() < ids.len() {
        match interrupted(snapshot, ids, policy, payload) {
            Ok(interrupted) => interrupted.into_iter().for_each(|(found, job)| {
                let key = found.claim.key.exact();
                shown.retain(|(other, job)| job.in_flight || other.claim.key.exact() != key);
                shown.push((found, job));
            }),
            Err(OpsError::Store(error)) if !error.spoils_the_snapshot() => unread = unread.or(Some(error)),
            Err(error) => return Err(error),
        }
    }
    let not_found = Selection { ids: ids.to_vec(), ..Selection::default() };
    let not_found = not_found.without_job(shown.iter().map(|(found, _)| found));
    // It may stand where nothing could be read.
    if let Some(error) = unread.filter(|_| !not_found.is_empty()) {
        return Err(error.into());
    }
    shown.sort_by_key(|(found, job)| (ids.iter().position(|id| found.names.contains(id)), !job.in_flight));
    let mut jobs: Vec<ShownJob> = shown.into_iter().map(|(_, job)| job).collect();
    let moved = last_moved(&mut Records { journals, snapshot: Some(snapshot) }, ids);
    jobs.iter_mut().for_each(|job| job.moved_by = moved.get(&job.job.id).cloned());
    let (store_time, target) = (snapshot.now(), snapshot.target.clone());
    Ok(Show { schema: "jobdoctor.show/v1", store_time, target, jobs, not_found })
}

/// The jobs of these ids that stand where these do.
fn found(
    snapshot: &mut Snapshot,
    jobs: &Jobs,
    ids: &[String],
    policy: &Policy,
    payload: Option<usize>,
) -> Result<Vec<(Found, ShownJob)>, StoreError> {
    let claim = &jobs.claim;
    // Read as further evidence, after the preset's own.
    let texts = [(&claim.last_error, Some(LAST_ERROR)), (&claim.payload, payload)];
    let wanted = texts.map(|(expr, most)| expr.clone().zip(most));
    let reads: Vec<Expr> =
        wanted.iter().flatten().flat_map(|(expr, most)| parts::excerpt(jobs.queue.engine, expr, *most)).collect();
    let limits = wanted.map(|wanted| wanted.map(|(_, most)| most));
    let mut all = jobs.clone();
    all.show.extend(reads.into_iter().map(|expr| (String::new(), expr)));
    let found = snapshot.find(&all, ids);
    let explained = |found: Found| {
        let job = explained(snapshot, jobs, &found, policy, limits);
        (found, job)
    };
    Ok(found?.into_iter().map(explained).collect())
}

/// Adds the jobs of these ids in other tables than that of the claims; gives why the first table that could not be read
/// could not.
fn add_elsewhere(
    snapshot: &mut Snapshot,
    ids: &[String],
    policy: &Policy,
    shown: &mut Vec<(Found, ShownJob)>,
) -> Result<Option<StoreError>, StoreError> {
    let mut unread = None;
    let claims = snapshot.views.claims.clone();
    for jobs in snapshot.views.places.clone() {
        match snapshot.reader.find(&jobs, ids) {
            Ok(found) => shown.extend(found.into_iter().filter(|found| found.in_flight).map(|found| {
                let found = Found { in_flight: false, ..found };
                let job = explained(snapshot, &claims, &found, policy, [None, None]);
                let job = placed(&jobs, &found.claim, job);
                (found, job)
            })),
            Err(error) if error.spoils_the_snapshot() => return Err(error),
            Err(error) => unread = unread.or(Some(error)),
        }
    }
    Ok(unread)
}

/// A job in another table, of which nothing is claimed, with what that table says of it.
fn placed(jobs: &Jobs, found: &Claim, job: ShownJob) -> ShownJob {
    let (since_at, says) = (found.claimed_at.at(), found.extra.first().cloned().flatten());
    let unclaimed = Job { claimed_at: None, last_seen_at: None, silence_seconds: None, ..job.job };
    let job = ShownJob { job: unclaimed, table: jobs.table(), extra: Vec::new(), ..job };
    if matches!(jobs.what, What::Elsewhere(true)) {
        return ShownJob { waits: Some(Waits { since_at, held: says, ..Waits::default() }), ..job };
    }
    let since = since_at.map(|at| ("since".to_owned(), Some(at.to_string())));
    let says = says.map(|says| ("says".to_owned(), Some(says)));
    ShownJob { extra: since.into_iter().chain(says).collect(), ..job }
}

/// Those of these ids whose jobs were interrupted, and what `reclaim --interrupted` would do about them.
fn interrupted(
    snapshot: &mut Snapshot,
    ids: &[String],
    policy: &Policy,
    payload: Option<usize>,
) -> Result<Vec<(Found, ShownJob)>, OpsError> {
    let jobs = snapshot.views.interrupted.clone()?;
    let table = jobs.table();
    let found = found(snapshot, &jobs, ids, &policy.clone().on_interrupted(INTERRUPTED_WITHIN), payload);
    let of_table = |(found, job): (Found, ShownJob)| {
        let job = ShownJob { in_flight: false, interrupted: true, table: table.clone(), ..job };
        found.in_flight.then_some((Found { in_flight: false, ..found }, job))
    };
    Ok(found?.into_iter().filter_map(of_table).collect())
}

/// The text that was read, cut to that many bytes, and how many bytes are left out.
fn cut(read: &[Option<String>], most: usize) -> (Option<String>, u64) {
    let [Some(text), bytes] = read else { return (None, 0) };
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    let text = text.get(..end).unwrap_or_default().to_owned();
    let bytes = bytes.as_ref().and_then(|bytes| bytes.parse::<u64>().ok()).unwrap_or_default();
    let left_out = bytes.saturating_sub(text.len() as u64);
    (Some(text), left_out)
}

fn explained(snapshot: &Snapshot, jobs: &Jobs, found: &Found, policy: &Policy, limits: [Option<usize>; 2]) -> ShownJob {
    let claim = &found.claim;
    let (judgement, draft) = snapshot.drafted(jobs, claim, found.in_flight, policy);
    let mut job = Job::of(jobs, claim, policy, &judgement, draft.step());
    let checks = if found.in_flight { judgement.checks } else { Vec::new() };
    if !found.in_flight {
        // No worker holds it, so it cannot be stuck.
        job.verdict = Some(VerdictKind::Healthy);
        job.reasons = Vec::new();
        job.liveness = None;
    }
    let (extra, mut texts) = claim.extra.split_at_checked(jobs.show.len()).unwrap_or_default();
    let names = jobs.show.iter().map(|(name, _)| name.clone());
    let is_unknown = job.verdict == Some(VerdictKind::Unknown);
    let options = advice::about_options(&jobs.cautions).filter(|_| is_unknown);
    let options = options.map(|(name, text)| (name.clone(), Some(text.clone())));
    let [last_error, payload] = limits.map(|limit| {
        let (read, rest) = texts.split_at_checked(2).filter(|_| limit.is_some())?;
        texts = rest;
        Some(cut(read, limit?))
    });
    let (would, skipped) = match &draft {
        Draft::Skipped(why) => (None, Some(why.into())),
        Draft::Step(step) => {
            let (action, state_after) = (step.action.name().to_owned(), step.state_after.clone());
            (Some(Would { action, state_after, attempts_after: step.attempts_after }), None)
        }
    };
    ShownJob {
        job,
        table: snapshot.target.table.clone(),
        in_flight: found.in_flight,
        interrupted: false,
        waits: None,
        moved_by: None,
        checks: checks.into_iter().map(RuleCheck::of).collect(),
        would,
        skipped,
        extra: names.zip(extra.iter().cloned()).chain(options).collect(),
        last_error_left_out_bytes: last_error.as_ref().map(|(_, left_out)| *left_out),
        last_error: last_error.and_then(|(text, _)| text),
        payload_left_out_bytes: payload.as_ref().map(|(_, left_out)| *left_out),
        payload: payload.and_then(|(text, _)| text),
    }
}

impl Snapshot {
    /// Judges a job that was read by its name, and drafts what to do about it: nothing where no worker holds it.
    pub(super) fn drafted(&self, jobs: &Jobs, claim: &Claim, in_flight: bool, policy: &Policy) -> (Judgement, Draft) {
        let judgement = explain(jobs, claim, policy, self.now());
        let now = if jobs.are_interrupted() { Finding::NotInterrupted } else { Finding::InStateNow };
        let state = || vec![now(claim.state.clone())];
        let draft = match in_flight {
            true => draft(jobs, claim, &judgement, policy),
            false => Draft::Skipped(Skipped { reason: SkipReason::NotInFlight, findings: state() }),
        };
        (judgement, draft)
    }
}
