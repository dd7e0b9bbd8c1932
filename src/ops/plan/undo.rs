//! What is to be known about taking a plan back, before it is applied.

use crate::model::Action;
use crate::preset::QueueSpec;
use std::collections::BTreeSet;

/// The actions among these that cannot be taken back, each with why.
pub(super) fn final_actions(spec: &QueueSpec, actions: &BTreeSet<Action>) -> Vec<String> {
    // Where nothing was changed there is nothing to take back.
    let is_final = |action: &&Action| **action != Action::Wake && spec.recorded(**action).is_none();
    let why = |action: &Action| {
        if spec.actions.get(action).is_some_and(|moved| moved.is_one_update()) {
            return format!("a {action} cannot be undone here: this role may not read every column that it writes");
        }
        format!("a {action} of preset {} cannot be undone: it is more than one UPDATE of one table", spec.preset)
    };
    actions.iter().filter(is_final).map(why).collect()
}
