//! Checks that thresholds and the limits for states fit a queue, and groups those about jobs that wait.

use super::OpsError;
use super::session::Session;
use crate::model::{Action, Timestamp};
use crate::output::FilterThreshold;
use crate::policy::{Globs, Policy, StateLimit, Threshold, TooLong};
use crate::preset::{ActionSpec, Jobs, SpecError, StateSource, StepSpec, Waits, did_you_mean};
use crate::store::{Cutoffs, Detail, StoreErrorKind, Wanted};

/// Why an entry for such queues and kinds would match no job, if the table does not tell them.
fn matches_nothing(jobs: &Jobs, queues: &Globs, kinds: &Globs) -> Option<String> {
    let asked = [("queue", queues, jobs.claim.queue.is_some()), ("kind", kinds, jobs.claim.kind.is_some())];
    let (key, ..) = asked.into_iter().find(|(_, globs, is_known)| !globs.patterns().is_empty() && !is_known)?;
    Some(format!("preset {} has no {key} column, so this would match no job", jobs.queue.preset))
}

/// Refuses an entry that could never apply to this queue: the operator relies on it.
fn entry_fits(jobs: &Jobs, entry: &StateLimit, all: &TooLong) -> Result<(), SpecError> {
    let state = &entry.state.text;
    if let Some(why) = matches_nothing(jobs, &entry.queue, &entry.kind) {
        return Err(entry.state.error(why));
    }
    let in_flight = jobs.in_flight_names();
    let waiting: Vec<&str> = match jobs.claim.state {
        StateSource::Column(_) => jobs.queue.states.waiting.iter().map(|state| state.name.as_str()).collect(),
        // Jobs that wait are rows of other tables, or of no state at all.
        StateSource::Place(_) => Vec::new(),
    };
    if in_flight.contains(state) {
        require_in_flight(jobs, entry)?;
    } else if !waiting.contains(&state.as_str()) {
        let known: Vec<&str> = in_flight.iter().map(String::as_str).chain(waiting).collect();
        let hint = did_you_mean(state, known.iter().copied());
        let hint = if hint.is_empty() { format!("; known here: {}", known.join(", ")) } else { hint };
        let preset = &jobs.queue.preset;
        let why = format!("preset {preset} has no state `{state}` in which jobs wait or are in flight{hint}");
        return Err(entry.state.error(why));
    } else if entry.since.is_none() {
        let why = format!("jobs in {state} wait without a claim: name the column in `since` that says how long");
        return Err(entry.state.error(why));
    }
    require_offered(jobs, entry)?;
    ends(jobs, entry, all)
}

/// The entries that do not fit the queue, each with the reason.
pub fn unfit(session: &Session<'_>, jobs: &Jobs, too_long: &TooLong) -> Result<Vec<String>, OpsError> {
    let misfits = too_long.entries.iter().filter_map(|entry| entry_fits(jobs, entry, too_long).err());
    let mut unfit: Vec<String> = misfits.map(|misfit| misfit.to_string()).collect();
    let fits = |group: &Group| group.too_long.entries.iter().all(|entry| entry_fits(jobs, entry, too_long).is_ok());
    for group in waited(jobs, too_long).into_iter().filter(fits) {
        let tried = session.snapshot().and_then(|mut snapshot| {
            let jobs = snapshot.waited(&group.waits)?;
            // Checks the right to read without reading rows: no job is that old.
            snapshot.reader.scan(&jobs, &Wanted::Before(Timestamp::EPOCH), Detail::ForAction, &mut |_| {})?;
            Ok(snapshot.reader.explain_actions(&jobs)?)
        });
        match tried {
            // `check` reports missing rights with those of the claims.
            Ok(refusals) => {
                let misfits = refusals.iter().filter(|refusal| refusal.error.kind != StoreErrorKind::Denied);
                unfit.extend(misfits.map(ToString::to_string));
            }
            Err(OpsError::Spec(misfit)) => unfit.push(misfit.to_string()),
            Err(OpsError::Store(error)) if error.kind == StoreErrorKind::Denied => {
                unfit.push(format!("{}: {error}", group.waits.state.error("cannot be checked")));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(unfit)
}

fn require_in_flight(jobs: &Jobs, entry: &StateLimit) -> Result<(), SpecError> {
    if let Some(since) = &entry.since {
        let why = format!("jobs in {} are in flight since their claim: leave `since` out", entry.state.text);
        return Err(since.error(why));
    }
    if jobs.claim.claimed_at.is_none() {
        let why =
            format!("preset {} does not say when a job was claimed, so its run time is unknown", jobs.queue.preset);
        return Err(entry.state.error(why));
    }
    if entry.action == Action::Wake {
        return Err(entry.state.error(format!("a worker holds a job in {}: it cannot be woken", entry.state.text)));
    }
    Ok(())
}

/// Refuses what the preset cannot do to such a job.
fn require_offered(jobs: &Jobs, entry: &StateLimit) -> Result<(), SpecError> {
    let action = entry.action;
    let (section, actions) =
        if entry.since.is_some() { ("waiting.action", &jobs.queue.waited_actions) } else { ("action", &jobs.actions) };
    if action == Action::Wake && !jobs.queue.notify.is_empty() {
        return Ok(());
    }
    let why = match actions.get(&action) {
        Some(ActionSpec { refused: Some(refused), .. }) => refused.clone(),
        Some(_) => return Ok(()),
        None if action == Action::Wake => {
            format!("preset {} has no `notify`: no worker can be woken", jobs.queue.preset)
        }
        None => format!(
            "preset {} has no {action} for jobs in {}; in a mapping, write [{section}.{action}]",
            jobs.queue.preset, entry.state.text
        ),
    };
    Err(entry.state.error(why))
}

/// Consecutive entries about the same waiting rows.
pub(super) struct Group {
    pub(super) waits: Waits,
    /// All entries about these rows: the first one that matches a job counts.
    pub(super) too_long: TooLong,
    /// The numbers of the entries in this group.
    pub(super) numbers: Vec<usize>,
}

/// The entries about jobs that wait, in groups that keep the order of the file.
pub(super) fn waited(jobs: &Jobs, too_long: &TooLong) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let waits = |entry: &&StateLimit| jobs.queue.states.waiting.iter().any(|state| state.name == entry.state.text);
    for entry in too_long.entries.iter().filter(waits) {
        let Some(since) = &entry.since else { continue };
        let key = |entry: &StateLimit| (entry.state.text.clone(), entry.since.as_ref().map(|since| since.text.clone()));
        match groups.last_mut().filter(|group| group.too_long.entries.first().map(key) == Some(key(entry))) {
            Some(group) => group.numbers.push(entry.number),
            None => {
                let same = too_long.entries.iter().filter(|other| key(other) == key(entry)).cloned();
                groups.push(Group {
                    waits: Waits { state: entry.state.clone(), since: since.clone() },
                    too_long: TooLong { target: too_long.target.clone(), entries: same.collect() },
                    numbers: vec![entry.number],
                });
            }
        }
    }
    groups
}

/// Refuses an action that leaves the job late by the same entry, at once or through other entries: every sweep would
/// move it again.
fn ends(jobs: &Jobs, entry: &StateLimit, all: &TooLong) -> Result<(), SpecError> {
    let mut seen = vec![entry.number];
    let mut ahead = vec![entry];
    while let Some(one) = ahead.pop() {
        for next in all.entries.iter().filter(|next| leads_to(jobs, one, next)) {
            if next.number == entry.number {
                let section = if one.since.is_some() { "waiting" } else { "action" };
                let since = since(jobs, next).unwrap_or_default();
                let why = format!(
                    "[{section}.{}] leads to {} and leaves `{since}` as it is, so too_long {} of target {} would move the job \
                     again with every sweep: add `stamp = [\"{since}\"]` to it",
                    one.action, next.state.text, next.number, all.target
                );
                return Err(entry.state.error(why));
            }
            if !seen.contains(&next.number) {
                seen.push(next.number);
                ahead.push(next);
            }
        }
    }
    Ok(())
}

/// Whether a job that `one` has moved is late by `next` at once.
fn leads_to(jobs: &Jobs, one: &StateLimit, next: &StateLimit) -> bool {
    let actions = if one.since.is_some() { &jobs.queue.waited_actions } else { &jobs.actions };
    let Some(moved) = actions.get(&one.action).filter(|_| one.action != Action::Wake) else { return false };
    let Some(since) = since(jobs, next).filter(|_| moved.to.name == next.state.text) else { return false };
    let sets = |step: &StepSpec| match step {
        StepSpec::Update(assignments) => assignments.iter().any(|a| a.column.name == since),
        StepSpec::Sql { .. } => true,
    };
    !moved.steps.iter().any(sets)
}

/// The column with the start of the state that the entry is about.
fn since<'a>(jobs: &'a Jobs, entry: &'a StateLimit) -> Option<&'a str> {
    match &entry.since {
        Some(since) => since.text.rsplit('.').next(),
        None => jobs.claim.claimed_at.as_ref().map(|time| time.column.name.as_str()),
    }
}

pub fn cutoffs(now: Timestamp, policy: &Policy) -> Cutoffs {
    // Both are about how long ago the claim was made.
    let limits = [policy.thresholds.shortest_max_runtime(), policy.too_long.shortest_in_flight()];
    Cutoffs {
        shortest_older: policy.thresholds.shortest_older(),
        max_runtime: limits.into_iter().flatten().min(),
        ..Cutoffs::at(now, policy.older)
    }
}

/// Refuses thresholds that could never apply to this queue: the operator relies on them.
pub(super) fn fit(jobs: &Jobs, policy: &Policy) -> Result<(), OpsError> {
    let thresholds = &policy.thresholds;
    let misfit = |what: &str, why: String| {
        let document = format!("{what} of target {}", thresholds.target);
        Err(OpsError::Spec(SpecError::whole(&document, why)))
    };
    for (n, entry) in thresholds.entries.iter().enumerate() {
        if let Some(why) = matches_nothing(jobs, &entry.queue, &entry.kind) {
            return misfit(&format!("threshold {}", n + 1), why);
        }
    }
    if thresholds.shortest_max_runtime().is_some() && jobs.claim.claimed_at.is_none() {
        let why =
            format!("preset {} does not say when a job was claimed, so its run time is unknown", jobs.queue.preset);
        return misfit("max_runtime", why);
    }
    let too_long = &policy.too_long;
    Ok(too_long.entries.iter().try_for_each(|entry| entry_fits(jobs, entry, too_long))?)
}

/// The thresholds that apply, as documents repeat them.
pub(super) fn filter(policy: &Policy) -> Vec<FilterThreshold> {
    if policy.restart.is_some() {
        return Vec::new();
    }
    let thresholds = &policy.thresholds;
    let one = |(n, entry): (usize, &Threshold)| FilterThreshold {
        number: n as u64 + 1,
        queue: entry.queue.patterns().first().cloned(),
        kind: entry.kind.patterns().first().cloned(),
        older_seconds: entry.older.filter(|_| !thresholds.overruled).map(|older| older.as_secs_f64()),
        max_runtime_seconds: entry.max_runtime.map(|max| max.as_secs_f64()),
    };
    let entries = thresholds.entries.iter().enumerate().map(one);
    entries.filter(|entry| entry.older_seconds.is_some() || entry.max_runtime_seconds.is_some()).collect()
}
