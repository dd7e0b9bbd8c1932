//! One pass over all claims in flight, before any is judged, for what is known beside the rows.

use super::OpsError;
use super::session::Snapshot;
use super::snapshot_file::SnapshotFile;
use crate::policy::{EarlierSnapshot, Living, key_print, seen};
use crate::store::Wanted;
use std::collections::HashMap;

/// What a pass found out.
pub struct Survey {
    /// What the last snapshot saw.
    pub before: Option<EarlierSnapshot>,
    /// What this one sees, to be saved.
    pub now: Option<EarlierSnapshot>,
    /// Why the list of living owners may be the wrong one, if it may.
    pub wrong_list: Option<String>,
}

/// What is in flight in this snapshot. In memory stay some 100 bytes a claim.
///
/// # Errors
/// When the store cannot be read.
pub fn in_flight(snapshot: &mut Snapshot) -> Result<EarlierSnapshot, OpsError> {
    let at = snapshot.now();
    let mut looks = EarlierSnapshot { taken_at: at, seen: HashMap::new() };
    snapshot.reader.scan(&snapshot.spec, &Wanted::All, &mut |claim| {
        looks.seen.insert(key_print(&claim), seen(None, &claim, at));
    })?;
    Ok(looks)
}

/// Passes over all claims in flight: whether any of their owners is on the list, and what is to be saved of them. That is what
/// a list and a snapshot file cost: one more reading of all that is in flight, and none of it left to an index.
///
/// # Errors
/// When the store cannot be read, the list cannot be compared with this queue's owners, or the file is of another queue.
pub fn survey(
    snapshot: &mut Snapshot,
    living: Option<&Living>,
    file: Option<&SnapshotFile>,
) -> Result<Survey, OpsError> {
    if living.is_some() && snapshot.spec.owner.id.is_none() {
        return Err(OpsError::usage(
            format!("--alive-from: preset {} does not say who holds a job", snapshot.spec.preset),
            "stop every worker and sweep with --restart --all-owners",
        ));
    }
    let before = file.map(|file| file.looks(snapshot)).transpose()?.flatten();
    let at = snapshot.now();
    let mut now = file.map(|_| EarlierSnapshot { taken_at: at, seen: HashMap::new() });
    let (mut is_listed, mut example) = (false, None);
    snapshot.reader.scan(&snapshot.spec, &Wanted::All, &mut |claim| {
        if let (Some(living), Some(owner)) = (living, claim.owner.as_ref().filter(|_| !is_listed)) {
            is_listed = living.live_owners.lists(owner);
            example.get_or_insert_with(|| owner.name.clone());
        }
        if let Some(now) = &mut now {
            let key = key_print(&claim);
            let known = before.as_ref().and_then(|before| before.seen.get(&key));
            now.seen.insert(key, seen(known, &claim, at));
        }
    })?;
    let wrong_list = living.zip(example.filter(|_| !is_listed)).map(|(living, owner)| {
        let entries = living.live_owners.examples().join(", ");
        format!(
            "no owner in flight is on the list of living owners: they are called like {owner}, and it begins {entries}"
        )
    });
    Ok(Survey { before, now, wrong_list })
}
