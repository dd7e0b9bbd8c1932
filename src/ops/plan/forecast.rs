//! Says beforehand which requeues a unique key will refuse.

use super::Part;
use crate::model::{Action, Key, RowError};
use crate::ops::OpsError;
use crate::ops::session::Snapshot;
use crate::output::advice;
use crate::policy::Policy;
use crate::store::StoreErrorKind;
use std::collections::BTreeMap;

/// Steps that are asked about in one statement.
const CHUNK: usize = 1000;

/// Adds to each requeue the refusal that awaits it, where the row that holds its key is seen; and the warnings about
/// these.
pub(super) fn forecast(snapshot: &mut Snapshot, policy: &Policy, part: &mut Part) -> Result<Vec<String>, OpsError> {
    let spec = &snapshot.spec;
    let Some(requeue) = spec.actions.get(&Action::Requeue).filter(|_| !part.steps.is_empty()) else {
        return Ok(Vec::new());
    };
    let mut refused: BTreeMap<usize, RowError> = BTreeMap::new();
    let (mut places, mut keys): (Vec<usize>, Vec<Key>) = (Vec::new(), Vec::new());
    for (n, (step, _)) in part.steps.iter().enumerate() {
        if step.action == Action::Requeue {
            places.push(n);
            keys.push(step.key.clone());
        }
        if keys.len() == CHUNK || n + 1 == part.steps.len() {
            let found = match snapshot.reader.key_holders(spec, requeue, &keys) {
                Err(error) if error.kind == StoreErrorKind::Interrupted => return Err(error.into()),
                Err(error) => {
                    return Ok(vec![format!(
                        "jobdoctor could not ask whether a unique key refuses these requeues: {}",
                        error.message
                    )]);
                }
                Ok(found) => found,
            };
            refused.extend(found.into_iter().filter_map(|(at, error)| Some((*places.get(at)?, error))));
            places.clear();
            keys.clear();
        }
    }
    if refused.is_empty() {
        return Ok(Vec::new());
    }
    let mut ids = BTreeMap::<String, Vec<String>>::new();
    for (n, error) in refused {
        let Some((_, job)) = part.steps.get_mut(n) else { continue };
        let constraint = error.constraint.clone().unwrap_or_default();
        ids.entry(constraint).or_default().push(format!("{} ({})", job.job.id, error.message));
        job.error = Some(error);
    }
    Ok(ids.iter().map(|(constraint, ids)| advice::refused_beforehand(constraint, ids, policy, spec)).collect())
}
