use super::{Column, MoveSpec, QueueSpec, StepSpec};
use crate::model::Move;

impl QueueSpec {
    /// The columns that a move assigns, which are what a record of it keeps; `None` where it cannot be taken back: it is more
    /// than one UPDATE of the claim's own table, or this role may not read all that it writes.
    pub fn recorded(&self, r#move: Move) -> Option<Vec<&Column>> {
        self.written_by(self.moves.get(&r#move)?)
    }

    /// The columns that an undo of that move may set back: those that it assigns to claims, or to jobs that wait; `None` where
    /// neither can be taken back.
    pub fn given_back(&self, r#move: Move) -> Option<Vec<&Column>> {
        let of_both = [&self.moves, &self.waiting].into_iter().filter_map(|moves| moves.get(&r#move));
        let written: Vec<Vec<&Column>> = of_both.filter_map(|moved| self.written_by(moved)).collect();
        (!written.is_empty()).then(|| written.concat())
    }

    fn written_by(&self, moved: &MoveSpec) -> Option<Vec<&Column>> {
        let [StepSpec::Update(assignments)] = moved.steps.as_slice() else { return None };
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
