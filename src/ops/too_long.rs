//! Limits for how long a job may be in a state: whether they fit a queue, and which of them are about jobs that wait.

use super::OpsError;
use super::session::Session;
use crate::model::Move;
use crate::policy::{StateLimit, TooLong};
use crate::spec::{QueueSpec, SpecError, StateSource, StepSpec, Waits, did_you_mean};

/// Refuses an entry that could never count here: whoever wrote it relies on it.
///
/// # Errors
/// A state, a column or a move that this queue does not have.
pub(super) fn fits(spec: &QueueSpec, entry: &StateLimit) -> Result<(), SpecError> {
    let state = &entry.state.text;
    for (key, globs, is_known) in
        [("queue", &entry.queue, spec.claim.queue.is_some()), ("kind", &entry.kind, spec.claim.kind.is_some())]
    {
        if !globs.patterns().is_empty() && !is_known {
            let why = format!("preset {} does not tell the {key} of a job, so this would never count", spec.preset);
            return Err(entry.state.error(why));
        }
    }
    let in_flight = spec.in_flight_names();
    let waiting: Vec<&str> = match spec.claim.state {
        StateSource::Column(_) => spec.states.waiting.iter().map(|state| state.name.as_str()).collect(),
        // Jobs that wait are rows of other tables, or of no state at all.
        StateSource::Place(_) => Vec::new(),
    };
    if in_flight.contains(state) {
        return fits_in_flight(spec, entry);
    }
    if waiting.contains(&state.as_str()) {
        return match &entry.since {
            Some(_) => Ok(()),
            None => Err(entry.state.error(format!(
                "jobs in {state} wait, and nobody has claimed them: say in `since` which column tells since when"
            ))),
        };
    }
    let known: Vec<&str> = in_flight.iter().map(String::as_str).chain(waiting).collect();
    let hint = did_you_mean(state, known.iter().copied());
    let hint = if hint.is_empty() { format!("; known here: {}", known.join(", ")) } else { hint };
    let why = format!("preset {} has no state `{state}` in which jobs wait or are in flight{hint}", spec.preset);
    Err(entry.state.error(why))
}

/// The entries that could never count in that queue, or would count wrongly, each with why.
///
/// # Errors
/// When the store cannot be read.
pub fn unfit(session: &Session<'_>, spec: &QueueSpec, too_long: &TooLong) -> Result<Vec<String>, OpsError> {
    let mut unfit: Vec<String> = Vec::new();
    let misfits = too_long.entries.iter().filter_map(|entry| fits(spec, entry).err());
    unfit.extend(misfits.map(|misfit| misfit.to_string()));
    for (waits, group) in waiting(spec, too_long) {
        match session.look_at_waiting(&waits).and_then(|look| ends(&look.spec, &group)) {
            Err(OpsError::Spec(misfit)) => unfit.push(misfit.to_string()),
            ended => ended?,
        }
    }
    Ok(unfit)
}

fn fits_in_flight(spec: &QueueSpec, entry: &StateLimit) -> Result<(), SpecError> {
    if let Some(since) = &entry.since {
        let why =
            format!("jobs in {} are in flight, and are so since their claim: leave `since` out", entry.state.text);
        return Err(since.error(why));
    }
    if spec.claim.claimed_at.is_none() {
        let why =
            format!("preset {} does not tell when a job was claimed, so nobody knows how long it runs", spec.preset);
        return Err(entry.state.error(why));
    }
    if entry.r#move == Move::Wake {
        return Err(entry
            .state
            .error(format!("a job in {} is held by somebody: it cannot be woken", entry.state.text)));
    }
    is_offered(spec, entry, "move")
}

/// Refuses what the preset cannot do to such a job.
fn is_offered(spec: &QueueSpec, entry: &StateLimit, section: &str) -> Result<(), SpecError> {
    let r#move = entry.r#move;
    let why = match spec.moves.get(&r#move) {
        Some(moved) => match &moved.refused {
            Some(refused) => refused.clone(),
            None => return Ok(()),
        },
        None if r#move == Move::Wake => {
            format!("preset {} has no `notify`: there is nobody to tell that jobs wait", spec.preset)
        }
        None => format!(
            "preset {} has no {move} for jobs in {}; in a mapping, write [{section}.{move}]",
            spec.preset, entry.state.text
        ),
    };
    Err(entry.state.error(why))
}

/// The entries about jobs that wait, by the rows that they look at.
pub(super) fn waiting(spec: &QueueSpec, too_long: &TooLong) -> Vec<(Waits, TooLong)> {
    let mut groups: Vec<(Waits, TooLong)> = Vec::new();
    let waits = |entry: &&StateLimit| spec.states.waiting.iter().any(|state| state.name == entry.state.text);
    for entry in too_long.entries.iter().filter(waits) {
        let Some(since) = &entry.since else { continue };
        let same =
            |(waits, _): &&mut (Waits, TooLong)| waits.state.text == entry.state.text && waits.since.text == since.text;
        match groups.iter_mut().find(same) {
            Some((_, group)) => group.entries.push(entry.clone()),
            None => groups.push((
                Waits { state: entry.state.clone(), since: since.clone() },
                TooLong { target: too_long.target.clone(), entries: vec![entry.clone()] },
            )),
        }
    }
    groups
}

/// Refuses entries whose move the preset does not have for jobs that wait, or that would move a job again and again.
///
/// # Errors
/// See above.
pub(super) fn ends(spec: &QueueSpec, too_long: &TooLong) -> Result<(), OpsError> {
    for entry in &too_long.entries {
        is_offered(spec, entry, "waiting")?;
        let (Some(moved), Some(since)) = (spec.moves.get(&entry.r#move), &spec.claim.claimed_at) else { continue };
        let stays = spec.states.in_flight.contains(&moved.to);
        let sets = |step: &StepSpec| match step {
            StepSpec::Update(assignments) => assignments.iter().any(|a| a.column.name == since.column.name),
            StepSpec::Sql { .. } => true,
        };
        if entry.r#move != Move::Wake && stays && !moved.steps.iter().any(sets) {
            let name = &since.column.name;
            let why = format!(
                "[waiting.{}] leaves the job in {} and `{name}` as it is, so every sweep would move it again: add \
                 `stamp = [\"{name}\"]` to it",
                entry.r#move, entry.state.text
            );
            return Err(entry.state.error(why).into());
        }
    }
    Ok(())
}
