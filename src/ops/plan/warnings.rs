//! What an operator should know before applying a plan.

use super::Part;
use super::thresholds_used::ThresholdsUsed;
use crate::model::{Action, Key, RowError, Step, age, overridden};
use crate::ops::OpsError;
use crate::ops::session::Snapshot;
use crate::ops::stats::run_time;
use crate::output::{StepJob, advice};
use crate::policy::{Policy, SetBy};
use crate::preset::{Fencing, Jobs, Liveness, SilentAfter, StepSpec, Touch};
use crate::store::{StoreErrorKind, WantedRuns, catalog};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The most finished jobs to read, the newest of all kinds.
const SAMPLE: u32 = 10_000;
/// How long reading them may take. A table without an index on the end of runs may need longer; then there is no
/// warning.
const PATIENCE: Duration = Duration::from_secs(1);
const SHOWN: usize = 10;

pub(super) fn warnings(jobs: &Jobs, policy: &Policy, thresholds_used: &ThresholdsUsed, troubled: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut named = BTreeSet::new();
    for source in &jobs.liveness {
        let Some(SilentAfter::Span(own)) = source.silent_after() else { continue };
        for allowed in thresholds_used.silences(source.name()).filter(|allowed| allowed.span < *own) {
            // Each threshold once, against the best source.
            if named.insert(allowed) {
                let name = advice::limit_name(policy, &jobs.queue.preset, allowed, "older");
                warnings.push(format!("{name} is shorter than the {} of preset {}", age(*own), jobs.queue.preset));
            }
        }
    }
    let age_only =
        jobs.liveness.iter().any(|source| matches!(source, Liveness::Age { .. })) && thresholds_used.has("age");
    if age_only && policy.restart.is_none() {
        warnings.push("age only: nothing but the age of the claim tells these jobs from slow ones".to_owned());
    }
    warnings.extend(jobs.claim.unread_veto.as_ref().map(|says| {
        format!("this role cannot read whether {says}: the age alone decides, and `jobdoctor check` names the right")
    }));
    if let Some(unlocked) = &jobs.unlocked {
        warnings.push(format!(
            "{unlocked} shows life and cannot be locked: jobdoctor reads it again once a job is locked, but a sign of life that \
             is committed after that comes too late"
        ));
    }
    warnings.extend(jobs.zone().map(|(_, said)| format!("{}: {}", said.caution(), advice::SAY_TIME_ZONE)));
    warnings.extend(overridden(&jobs.queue.variants).map(|what| format!("mapping {} {what}", jobs.queue.preset)));
    if troubled {
        warnings.push("some of these jobs only hang or are late: their workers may still be running".to_owned());
    }
    // The preset's own caution says more than the fencing alone.
    let has_late = jobs.cautions.iter().any(|(name, _)| name == "late");
    warnings.extend(late_in_short(jobs.queue.fencing).filter(|_| !has_late).map(str::to_owned));
    warnings.extend(advice::about_options(&jobs.cautions).map(|(_, text)| text.clone()));
    warnings.extend(advice::cautions(jobs));
    warnings
}

/// Warns of jobs that were lost before: a job that kills its workers will be lost again.
pub(super) fn lost_before(steps: &[(Step, StepJob)], policy: &Policy) -> Option<String> {
    let lost = steps.iter().filter_map(|(_, job)| Some((job.job.stalls.filter(|stalls| *stalls > 0)?, &job.job.id)));
    let mut lost: Vec<(i64, &String)> = lost.collect();
    lost.sort_by_key(|(stalls, id)| (std::cmp::Reverse(*stalls), *id));
    (!lost.is_empty()).then(|| advice::lost_before(&lost, policy))
}

/// The warning about a worker that comes back late; `None` if fencing stops it.
fn late_in_short(fencing: Fencing) -> Option<&'static str> {
    match fencing {
        Fencing::Fenced => None,
        Fencing::ByState => Some("only the job's state stops a worker that comes back late"),
        Fencing::ById => Some("a worker that comes back late overwrites what happened meanwhile"),
        Fencing::Unknown => Some("no fencing declared: a worker that wakes up late may overwrite this job"),
    }
}

/// Warns of thresholds that more than one in a hundred finished jobs of the kind would have exceeded. Without run times
/// in the table, or if reading them takes too long, there is no warning.
pub(super) fn run_time_warnings(
    snapshot: &mut Snapshot,
    policy: &Policy,
    thresholds_used: &ThresholdsUsed,
) -> Vec<String> {
    let jobs = &snapshot.jobs;
    let by_kind = jobs.claim.kind.is_some();
    let limits = thresholds_used.limits(by_kind);
    let Some(runs) = jobs.finished.kept() else { return Vec::new() };
    if limits.is_empty() {
        return Vec::new();
    }
    let now = snapshot.reader.now();
    let mut spans: BTreeMap<Option<String>, Vec<Duration>> = BTreeMap::new();
    let read = snapshot.reader.finished(jobs, runs, &WantedRuns::Newest(SAMPLE, PATIENCE), &mut |run| {
        let whose = if by_kind { &run.kind } else { &run.queue };
        if let (true, Some(span)) = (limits.contains_key(whose), run_time(&run, now)) {
            spans.entry(whose.clone()).or_default().push(span);
        }
    });
    if read.is_err() {
        return Vec::new();
    }
    let what = if by_kind { "kind" } else { "queue" };
    let mut warnings = Vec::new();
    for (whose, mut spans) in spans {
        spans.sort_unstable();
        let Some(p99) = spans.get((spans.len() * 99).div_ceil(100).saturating_sub(1)) else { continue };
        for (limit, allowed) in limits.get(&whose).into_iter().flatten() {
            if allowed.span < *p99 && allowed.set_by != SetBy::Row {
                let hit = spans.len() - spans.partition_point(|span| *span <= allowed.span);
                let whose =
                    whose.as_deref().map_or_else(|| format!("jobs without a {what}"), |name| format!("{what} {name}"));
                warnings.push(format!(
                    "{} is shorter than the p99 ({}) of {whose}: it would have hit {hit} of {} finished jobs",
                    advice::limit_name(policy, &jobs.queue.preset, *allowed, limit.key()),
                    age(*p99),
                    spans.len(),
                ));
            }
        }
    }
    let more = warnings.len().saturating_sub(SHOWN);
    if more > 0 {
        warnings.truncate(SHOWN);
        warnings.push(advice::more_run_times(more));
    }
    warnings
}

/// Those of the actions that cannot be undone, each with the reason.
pub(super) fn final_actions<'a>(jobs: &Jobs, actions: impl Iterator<Item = &'a Action>) -> Vec<String> {
    // A wake changes nothing, so there is nothing to undo.
    let is_final = |action: &&Action| **action != Action::Wake && jobs.recorded(**action).is_none();
    let why = |action: &Action| {
        if jobs.actions.get(action).is_some_and(|moved| moved.is_one_update()) {
            return format!("a {action} cannot be undone here: this role may not read every column that it writes");
        }
        format!("a {action} of preset {} cannot be undone: it is more than one UPDATE of one table", jobs.queue.preset)
    };
    actions.filter(is_final).map(why).collect()
}

/// What an action does to a table: rows are deleted, or these columns changed; any column, where none is named.
type Change = (Touch, String, BTreeSet<String>);

/// What follows from the deletes and changes of these actions, a sentence for each of their tables; also of the actions
/// on jobs that wait, if these are `of_both`.
pub(in crate::ops) fn cascades<'a>(
    snapshot: &mut Snapshot,
    jobs: &Jobs,
    actions: impl Iterator<Item = &'a Action>,
    of_both: bool,
) -> Result<Vec<String>, OpsError> {
    let of = |action: &'a Action| changes_of(jobs, *action, of_both).map(move |change| (*action, change));
    let changes: BTreeSet<(Action, Change)> = actions.flat_map(of).collect();
    let mut sentences = Vec::new();
    for (action, change) in changes {
        let Some(table) = jobs.queue.tables.get(&change.1) else { continue };
        let others = snapshot.reader.texts(&catalog::followers(jobs.queue.engine, table, change.0, &change.2))?;
        if !others.is_empty() {
            let does = match change.0 {
                Touch::Delete => "deletes rows that foreign keys refer to, of table",
                _ => "changes columns that foreign keys refer to, of table",
            };
            sentences.push(format!(
                "a {action} {does} {}, and what refers to it is deleted or changed, which no undo brings back: {}",
                table.name,
                others.concat().join(", ")
            ));
        }
    }
    Ok(sentences)
}

/// What an action changes; the tables by their logical names.
fn changes_of(jobs: &Jobs, action: Action, of_both: bool) -> impl Iterator<Item = Change> {
    let waiting = Some(&jobs.queue.waited_actions).filter(|_| of_both);
    let of_all = std::iter::once(&jobs.actions).chain(waiting).filter_map(move |actions| actions.get(&action));
    of_all.flat_map(|action| &action.steps).flat_map(|step| match step {
        StepSpec::Update(assignments) => {
            let columns = assignments.iter().map(|assignment| assignment.column.name.clone()).collect();
            vec![(Touch::Update, jobs.claim.lock_table.clone(), columns)]
        }
        StepSpec::Sql { sql, .. } => {
            let touches = sql.touches().into_iter();
            let changes = touches.filter(|(touch, _)| matches!(touch, Touch::Update | Touch::Delete));
            changes.map(|(touch, table)| (touch, table.to_owned(), BTreeSet::new())).collect()
        }
    })
}

/// Adds the expected refusal to each requeue whose key another row is seen to hold; gives the warnings about
/// these.
pub(super) fn forecast(snapshot: &mut Snapshot, policy: &Policy, part: &mut Part) -> Result<Vec<String>, OpsError> {
    let jobs = &part.jobs;
    let requeues = part.steps.iter().enumerate().filter(|(_, (step, _))| step.action == Action::Requeue);
    let (places, keys): (Vec<usize>, Vec<Key>) = requeues.map(|(n, (step, _))| (n, step.key.clone())).unzip();
    let found = match snapshot.reader.key_holders(jobs, &keys) {
        Err(error) if error.kind == StoreErrorKind::Interrupted => return Err(error.into()),
        Err(error) => {
            let why = error.message;
            return Ok(vec![format!("jobdoctor could not ask whether a unique key refuses these requeues: {why}")]);
        }
        Ok(found) => found,
    };
    let refused = found.into_iter().filter_map(|(at, error)| Some((*places.get(at)?, error)));
    let refused: BTreeMap<usize, RowError> = refused.collect();
    let mut ids = BTreeMap::<String, Vec<String>>::new();
    for (n, error) in refused {
        let Some((_, job)) = part.steps.get_mut(n) else { continue };
        let constraint = error.constraint.clone().unwrap_or_default();
        ids.entry(constraint).or_default().push(format!("{} ({})", job.job.id, error.message));
        job.error = Some(error);
    }
    Ok(ids.iter().map(|(constraint, ids)| advice::refused_beforehand(constraint, ids, policy, jobs)).collect())
}
