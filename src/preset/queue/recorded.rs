use super::{ActionSpec, Column, QueueSpec, StepSpec};
use crate::model::Action;

impl QueueSpec {
    /// The columns that an action assigns, which are what a record of it keeps; `None` where it cannot be taken back: it is more
    /// than one UPDATE of the claim's own table, or this role may not read all that it writes.
    pub fn recorded(&self, action: Action) -> Option<Vec<&Column>> {
        self.written_by(self.actions.get(&action)?)
    }

    /// The columns that an undo of that action may set back: those that it assigns to claims, or to jobs that wait; `None` where
    /// neither can be taken back.
    pub fn given_back(&self, action: Action) -> Option<Vec<&Column>> {
        let of_both = [&self.actions, &self.waiting].into_iter().filter_map(|actions| actions.get(&action));
        let written: Vec<Vec<&Column>> = of_both.filter_map(|moved| self.written_by(moved)).collect();
        (!written.is_empty()).then(|| written.concat())
    }

    fn written_by(&self, moved: &ActionSpec) -> Option<Vec<&Column>> {
        let [StepSpec::Update(assignments)] = moved.steps.as_slice() else { return None };
        let of_row = |name: &str| self.row.iter().find(|column| column.name == name);
        assignments.iter().map(|assignment| of_row(&assignment.column.name)).collect()
    }
}

impl ActionSpec {
    /// True if it does no more than one UPDATE of the claim's own table.
    pub fn is_one_update(&self) -> bool {
        matches!(self.steps.as_slice(), [StepSpec::Update(_)])
    }
}
