use super::{Column, MoveSpec, QueueSpec, StepSpec};
use crate::model::Move;

impl QueueSpec {
    /// The columns that a move assigns, which are what a record of it keeps; `None` where it cannot be taken back: it is more
    /// than one UPDATE of the claim's own table, or this role may not read all that it writes.
    pub fn recorded(&self, r#move: Move) -> Option<Vec<&Column>> {
        let assignments = match self.moves.get(&r#move).map(|moved| moved.steps.as_slice()) {
            Some([StepSpec::Update(assignments)]) => assignments,
            _ => return None,
        };
        let of_row = |name: &str| self.row.iter().find(|column| column.name == name);
        assignments.iter().map(|assignment| of_row(&assignment.column.name)).collect()
    }
}

impl MoveSpec {
    /// True if it does no more than one UPDATE of the claim's own table.
    pub fn is_one_update(&self) -> bool {
        matches!(self.steps.as_slice(), [StepSpec::Update(_)])
    }
}
