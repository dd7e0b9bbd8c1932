use super::PresetFinished;
use super::words::{any_of, quoted};
use crate::spec::{FinishedProfile, Profile};

/// Whether run times can be told, and from what.
pub(super) fn finished(profile: &Profile) -> PresetFinished {
    let untold =
        |why: &str| PresetFinished { told: false, started: None, at: None, detail: format!("not told: {why}") };
    match &profile.finished {
        None => untold("the description does not say where the end of a run is kept"),
        Some(FinishedProfile::Untold(why)) => untold(why),
        Some(FinishedProfile::Kept { started: None, .. }) => untold("it is not known when a run began"),
        Some(FinishedProfile::Kept { started: Some(started), at, filter, states }) => {
            let states: Vec<String> = states.iter().map(|state| quoted(state)).collect();
            let which = match (&profile.claim.state, states.as_slice(), filter) {
                (Some(state), [_, ..], None) => format!("rows whose {} is {}", quoted(state), any_of(&states)),
                (Some(state), [_, ..], Some(filter)) => {
                    format!("rows whose {} is {}, where {}", quoted(state), any_of(&states), quoted(filter))
                }
                (_, _, Some(filter)) => format!("rows where {}", quoted(filter)),
                (_, _, None) => "finished rows".to_owned(),
            };
            let detail = format!("from {} to {}, of {which}", quoted(started), quoted(at));
            PresetFinished { told: true, started: Some(started.clone()), at: Some(at.clone()), detail }
        }
    }
}
