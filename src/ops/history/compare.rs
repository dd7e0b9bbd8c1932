//! A record compared with the rows as they are.

use crate::model::{Key, RecordedStep, RowImage, RunTarget};
use crate::ops::{OpsError, Snapshot};
use crate::output::RowNow;
use crate::output::advice::QUEUE_OPTIONS;
use crate::preset::{Column, SpecError};
use std::collections::BTreeMap;

/// Steps that are compared in one statement.
pub(in crate::ops) const COMPARED: usize = 500;

/// What a row is now, and the state it is in; that is `None` where the state is no column of the row.
pub(in crate::ops) type RowSeen = (RowNow, Option<String>);

/// What each row is now; `None` for a step whose row is not recorded.
pub(in crate::ops) fn compared(
    snapshot: &mut Snapshot,
    steps: &[&RecordedStep],
) -> Result<Vec<Option<RowSeen>>, OpsError> {
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
    let now = |(step, image): (&&RecordedStep, &Option<RowImage>)| {
        let row = step.row.as_ref()?;
        let now = match image {
            None => RowNow::Gone,
            Some(image) if image.fingerprint == row.after => RowNow::Untouched,
            Some(image) if image.fingerprint == row.before => RowNow::AsBefore,
            Some(_) => RowNow::Changed,
        };
        Some((now, image.as_ref().and_then(state_of)))
    };
    Ok(steps.iter().zip(&images).map(now).collect())
}

/// Makes sure that a run was on this very queue.
///
/// # Errors
/// When it was on another database, another table, or one that was taken for another queue.
pub(in crate::ops) fn belongs(snapshot: &mut Snapshot, run_id: &str, target: &RunTarget) -> Result<(), OpsError> {
    let here = &snapshot.target;
    let key: Vec<String> = snapshot.spec.claim.key.iter().map(|column| column.name.clone()).collect();
    let identity = snapshot.reader.identity()?;
    let same_place = is_same_database(target, &here.database, identity.as_deref());
    let there_and_here = [
        ("database", (!same_place).then(|| places(target, &here.database, identity.as_deref()))),
        ("engine", differing(&target.engine, &here.engine)),
        ("table", differing(&target.table, &here.table)),
        ("preset", differing(&target.preset, &here.preset)),
        ("key", differing(&target.key.join(", "), &key.join(", "))),
    ];
    match there_and_here.into_iter().find_map(|(what, pair)| Some((what, pair?))) {
        None => Ok(()),
        Some((what, (there, here))) => {
            let renamed = match target.engine.as_str() {
                "sqlite" if what == "database" => {
                    "; if that file was renamed, move it to its old path until this is done"
                }
                _ => "",
            };
            let message = format!(
                "it was on {what} {there}, and this is {here}: name the one that it was on ({QUEUE_OPTIONS}){renamed}"
            );
            Err(SpecError::whole(&format!("run {run_id}"), message).into())
        }
    }
}

/// Whether a run was on the database of that name and, where the role may ask for it, that identity.
pub fn is_same_database(target: &RunTarget, name: &str, identity: Option<&str>) -> bool {
    match (target.identity.as_deref(), identity) {
        (Some(there), Some(here)) => there == here,
        // The user says nothing about the place.
        _ => without_user(&target.database) == without_user(name),
    }
}

/// What two databases are called. Files are named by path: two of one name in different directories are different databases.
fn places(there: &RunTarget, here: &str, identity: Option<&str>) -> (String, String) {
    match (&there.identity, identity) {
        (Some(there_path), Some(here_path)) if there.engine == "sqlite" && here_path.starts_with('/') => {
            (there_path.clone(), here_path.to_owned())
        }
        _ => (there.database.clone(), here.to_owned()),
    }
}

fn differing(there: &str, here: &str) -> Option<(String, String)> {
    (there != here).then(|| (there.to_owned(), here.to_owned()))
}

fn without_user(label: &str) -> &str {
    label.rsplit_once('@').map_or(label, |(_, place)| place)
}
