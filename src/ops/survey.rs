//! One pass over all claims in flight, before any is judged, for what is known beside the rows.

use super::OpsError;
use super::look_file::LookFile;
use super::session::Look;
use crate::policy::{Living, Looks, key_print, seen};
use crate::store::Wanted;
use std::collections::HashMap;

/// What a pass found out.
pub struct Survey {
    /// What the last look saw.
    pub before: Option<Looks>,
    /// What this one sees, to be saved.
    pub now: Option<Looks>,
    /// Why the list of living owners may be the wrong one, if it may.
    pub wrong_list: Option<String>,
}

/// What is in flight in this look. In memory stay some 100 bytes a claim.
///
/// # Errors
/// When the store cannot be read.
pub fn in_flight(look: &mut Look) -> Result<Looks, OpsError> {
    let at = look.now();
    let mut looks = Looks { taken_at: at, seen: HashMap::new() };
    look.reader.scan(&look.spec, &Wanted::All, &mut |claim| {
        looks.seen.insert(key_print(&claim), seen(None, &claim, at));
    })?;
    Ok(looks)
}

/// Passes over all claims in flight: whether any of their owners is on the list, and what is to be saved of them. That is what
/// a list and a look file cost: one more reading of all that is in flight, and none of it left to an index.
///
/// # Errors
/// When the store cannot be read, the list cannot be compared with this queue's owners, or the file is of another queue.
pub fn survey(look: &mut Look, living: Option<&Living>, file: Option<&LookFile>) -> Result<Survey, OpsError> {
    if living.is_some() && look.spec.owner.id.is_none() {
        return Err(OpsError::usage(
            format!("--alive-from: preset {} does not say who holds a job", look.spec.preset),
            "stop every worker and sweep with --restart --all-owners",
        ));
    }
    let before = file.map(|file| file.looks(look)).transpose()?.flatten();
    let at = look.now();
    let mut now = file.map(|_| Looks { taken_at: at, seen: HashMap::new() });
    let (mut is_listed, mut example) = (false, None);
    look.reader.scan(&look.spec, &Wanted::All, &mut |claim| {
        if let (Some(living), Some(owner)) = (living, claim.owner.as_ref().filter(|_| !is_listed)) {
            is_listed = living.roster.lists(owner);
            example.get_or_insert_with(|| owner.name.clone());
        }
        if let Some(now) = &mut now {
            let key = key_print(&claim);
            let known = before.as_ref().and_then(|before| before.seen.get(&key));
            now.seen.insert(key, seen(known, &claim, at));
        }
    })?;
    let wrong_list = living.zip(example.filter(|_| !is_listed)).map(|(living, owner)| {
        let entries = living.roster.examples().join(", ");
        format!(
            "no owner in flight is on the list of living owners: they are called like {owner}, and it begins {entries}"
        )
    });
    Ok(Survey { before, now, wrong_list })
}
