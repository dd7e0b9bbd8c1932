//! What is to be known about taking a plan back, before it is applied.

use crate::model::Move;
use crate::spec::QueueSpec;
use std::collections::BTreeSet;

/// The moves among these that cannot be taken back, each with why.
pub(super) fn final_moves(spec: &QueueSpec, moves: &BTreeSet<Move>) -> Vec<String> {
    // Where nothing was changed there is nothing to take back.
    let is_final = |r#move: &&Move| **r#move != Move::Wake && spec.recorded(**r#move).is_none();
    let why = |r#move: &Move| {
        if spec.moves.get(r#move).is_some_and(|moved| moved.is_one_update()) {
            return format!("a {move} cannot be undone here: this role may not read every column that it writes");
        }
        format!("a {move} of preset {} cannot be undone: it is more than one UPDATE of one table", spec.preset)
    };
    moves.iter().filter(is_final).map(why).collect()
}
