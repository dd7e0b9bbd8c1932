//! What a report must say beside its rows, so that "could not read" never reads as "nothing found".

use super::OpsError;
use super::selection::Selection;
use super::session::Snapshot;
use crate::model::Claim;
use crate::output::{Field, advice};
use crate::preset::did_you_mean;
use crate::store::{Detail, Wanted};
use std::collections::BTreeSet;

/// The most names of a kind that are kept.
const MOST_NAMES: usize = 1000;

/// The caveats of a report about so many claims in flight, some of which cannot be judged if `has_unknown`. With a
/// `selection` that found nothing, its filters that match no claim are among them, which costs a pass over all claims.
pub fn caveats(
    snapshot: &mut Snapshot,
    selection: Option<&Selection>,
    has_unknown: bool,
    in_flight: u64,
) -> Result<Vec<String>, OpsError> {
    if in_flight == 0 {
        let unfamiliar = snapshot.unfamiliar_states()?;
        let is_mapping = snapshot.mapping.is_some();
        let say = |found| advice::unfamiliar_states(&snapshot.target.table, &snapshot.spec.preset, is_mapping, found);
        return Ok(unfamiliar.iter().map(say).collect());
    }
    let line = snapshot.spec.missing_liveness().filter(|_| has_unknown);
    let mut caveats: Vec<String> =
        line.map(|line| advice::no_liveness(&snapshot.spec.preset, &line)).into_iter().collect();
    let options = advice::about_options(&snapshot.spec.cautions).filter(|_| has_unknown);
    caveats.extend(options.map(|(_, text)| text.clone()));
    if let Some(selection) = selection {
        caveats.extend(unmatched_filters(snapshot, selection)?);
    }
    Ok(caveats)
}

/// The filters that match no claim in flight.
fn unmatched_filters(snapshot: &mut Snapshot, selection: &Selection) -> Result<Vec<String>, OpsError> {
    let mut filters = selection.single();
    if filters.is_empty() {
        return Ok(Vec::new());
    }
    let mut names = [(); 5].map(|()| BTreeSet::new());
    snapshot.scan(&Wanted::All, Detail::ForListing, &mut |_, claim| {
        filters.retain(|(_, _, one)| !one.admits(&claim));
        for (names, field) in names.iter_mut().zip(Field::ALL) {
            names.extend(name(&claim, field).filter(|_| names.len() < MOST_NAMES).map(str::to_owned));
        }
    })?;
    let say = |(field, written, _): (Field, String, Selection)| {
        let named = Field::ALL.into_iter().zip(&names).find(|(of, _)| *of == field);
        let known: Vec<&str> = named.into_iter().flat_map(|(_, names)| names).map(String::as_str).collect();
        let is_plain = !written.contains(['*', '?', '[', '{']);
        let similar = if is_plain { did_you_mean(&written, known.iter().copied()) } else { String::new() };
        advice::unmatched_filter(field, &written, &similar, &known)
    };
    Ok(filters.into_iter().map(say).collect())
}

/// Hands over this field of every claim in flight that has it, in no promised order and repeatedly.
pub fn names_in_flight(snapshot: &mut Snapshot, field: Field, each: &mut dyn FnMut(&str)) -> Result<(), OpsError> {
    let mut one = |claim: &Claim| name(claim, field).into_iter().for_each(&mut *each);
    Ok(snapshot.scan(&Wanted::All, Detail::ForListing, &mut |_, claim| one(&claim))?)
}

fn name(claim: &Claim, field: Field) -> Option<&str> {
    let owner = claim.owner.as_ref();
    match field {
        Field::Queue => claim.queue.as_deref(),
        Field::Kind => claim.kind.as_deref(),
        Field::Owner => owner.map(|owner| owner.name.as_str()),
        Field::Host => owner.and_then(|owner| owner.host.as_deref()),
        Field::State => Some(&claim.state),
    }
}
