//! A record compared with the rows as they are.

use crate::model::{End, Key, RowImage, Step, Target};
use crate::ops::{OpsError, Snapshot};
use crate::output::advice::QUEUE_OPTIONS;
use crate::preset::{Column, SpecError};
use std::collections::BTreeMap;

/// Steps that are compared in one statement.
pub(in crate::ops) const COMPARED: usize = 500;

/// What the row of a recorded step is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ops) enum RowNow {
    /// As the run left it: it was moved, and is unchanged since.
    Untouched,
    /// Neither as before the run nor as the run left it.
    Changed,
    /// As it was before the run: it was not moved, or it was reverted already.
    AsBefore,
    Gone,
}

/// What a row is now, and the state it is in; that is `None` where the state is no column of the row.
pub(in crate::ops) struct RowSeen {
    pub(in crate::ops) row: RowNow,
    pub(in crate::ops) state: Option<String>,
}

/// What each row is now; `None` for a step whose row is not recorded.
pub(in crate::ops) fn compared(snapshot: &mut Snapshot, steps: &[Step<End>]) -> Result<Vec<Option<RowSeen>>, OpsError> {
    let state = snapshot.spec.claim.own_state();
    let state = state.and_then(|column| snapshot.spec.row.iter().find(|known| known.name == column.name)).cloned();
    let columns: Vec<&Column> = state.iter().collect();
    let keys: Vec<Key> = steps.iter().map(|step| step.key.clone()).collect();
    let images = snapshot.reader.images(&snapshot.spec, &columns, &keys)?;
    let names: BTreeMap<String, &str> =
        snapshot.spec.states.all().map(|state| (state.stored.to_string(), state.name.as_str())).collect();
    let state_of = |image: &RowImage| {
        let stored = image.values.first()?.to_text()?;
        Some(names.get(&stored).map_or(stored.clone(), |name| (*name).to_owned()))
    };
    let now = |(step, image): (&Step<End>, &Option<RowImage>)| {
        let row = step.stage.row.as_ref()?;
        let now = match image {
            None => RowNow::Gone,
            Some(image) if image.fingerprint == row.after => RowNow::Untouched,
            Some(image) if image.fingerprint == row.before => RowNow::AsBefore,
            Some(_) => RowNow::Changed,
        };
        Some(RowSeen { row: now, state: image.as_ref().and_then(state_of) })
    };
    Ok(steps.iter().zip(&images).map(now).collect())
}

/// Makes sure that a run was on this very queue.
pub(in crate::ops) fn belongs(snapshot: &mut Snapshot, run_id: &str, target: &Target) -> Result<(), OpsError> {
    let Some((what, there, here)) = target.difference(&snapshot.identified()?) else { return Ok(()) };
    let renamed = match what == "database" && target.is_file() {
        true => "; if that file was renamed, move it to its old path until this is done",
        false => "",
    };
    let message = format!("it was made on {what} {there}, not {here}: name that one ({QUEUE_OPTIONS}){renamed}");
    Err(SpecError::whole(&format!("run {run_id}"), message).into())
}
