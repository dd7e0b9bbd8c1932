//! A record held against the rows as they are.

use crate::history::{Entry, Target};
use crate::model::{Key, RowImage};
use crate::ops::{OpsError, Snapshot};
use crate::output::advice::QUEUE_OPTIONS;
use crate::preset::{Column, SpecError};
use std::collections::BTreeMap;

/// What a job's row is now, as the record of a run sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ops) enum Now {
    /// As the run left it: it was moved, and nobody has touched it since.
    Untouched,
    /// As it was before the run: it was not moved.
    NotMoved,
    /// Neither.
    Changed,
    /// Not there.
    Gone,
}

impl Now {
    /// The word for it in documents.
    pub(in crate::ops) fn name(self) -> &'static str {
        match self {
            Now::Untouched => "untouched",
            Now::NotMoved => "not_moved",
            Now::Changed => "changed",
            Now::Gone => "gone",
        }
    }
}

/// What a row is now, and the state it is in; that is `None` where the state is no column of the row.
pub(in crate::ops) type Seen = (Now, Option<String>);

/// What each of these rows is now, and the state it is in; `None` for entries that have no row to compare.
pub(in crate::ops) fn now_of(snapshot: &mut Snapshot, entries: &[&Entry]) -> Result<Vec<Option<Seen>>, OpsError> {
    let state = snapshot.spec.claim.own_state();
    let state = state.and_then(|column| snapshot.spec.row.iter().find(|known| known.name == column.name)).cloned();
    let columns: Vec<&Column> = state.iter().collect();
    let keys: Vec<Key> = entries.iter().map(|entry| entry.key.clone()).collect();
    let images = snapshot.reader.images(&snapshot.spec, &columns, &keys)?;
    let names: BTreeMap<String, &str> =
        snapshot.spec.states.all().map(|state| (state.stored.to_string(), state.name.as_str())).collect();
    let state_of = |image: &RowImage| {
        let stored = image.values.first()?.to_text()?;
        Some(names.get(&stored).map_or(stored.clone(), |name| (*name).to_owned()))
    };
    let now = |(entry, image): (&&Entry, &Option<RowImage>)| {
        let row = entry.row.as_ref()?;
        Some(match image {
            None => (Now::Gone, None),
            Some(image) if image.fingerprint == row.after => (Now::Untouched, state_of(image)),
            Some(image) if image.fingerprint == row.before => (Now::NotMoved, state_of(image)),
            Some(image) => (Now::Changed, state_of(image)),
        })
    };
    Ok(entries.iter().zip(&images).map(now).collect())
}

/// Makes sure that a run was on this very queue.
///
/// # Errors
/// When it was on another database, another table, or one that was taken for another queue.
pub(in crate::ops) fn belongs(snapshot: &mut Snapshot, run_id: &str, target: &Target) -> Result<(), OpsError> {
    let here = &snapshot.target;
    let key: Vec<String> = snapshot.spec.claim.key.iter().map(|column| column.name.clone()).collect();
    let identity = snapshot.reader.identity()?;
    let same_place = match (&target.identity, &identity) {
        (Some(there), Some(here)) => there == here,
        // Who one connects as says nothing about where.
        _ => without_user(&target.database) == without_user(&here.database),
    };
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
                    "; if that file was renamed, give it its old path back until this is done"
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

/// What two databases are called. Of files, where they lie: two of one name in different directories are different databases.
fn places(there: &Target, here: &str, identity: Option<&str>) -> (String, String) {
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
