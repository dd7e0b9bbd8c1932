//! A counter of losses that the requeue does not count up would stand still for ever, and a budget of it would never be spent.

use super::Binder;
use crate::model::Action;
use crate::preset::SpecError;
use crate::preset::queue::{ActionSpec, Attempts, Expr, StepSpec};
use std::collections::BTreeMap;

impl Binder<'_> {
    /// Refuses `stalls` that are a column which the requeue leaves alone. Of an expression, and of statements that the preset
    /// wrote itself, nobody can tell.
    pub(super) fn losses_are_counted(
        &self,
        actions: &BTreeMap<Action, ActionSpec>,
        attempts: &Attempts,
    ) -> Result<(), SpecError> {
        let (Some(Expr::Column(stalls)), Some(written)) = (&attempts.stalls, &self.document.attempts.stalls) else {
            return Ok(());
        };
        if stalls.alias != self.lock {
            return Ok(());
        }
        let Some(requeue) = actions.get(&Action::Requeue).filter(|requeue| requeue.refused.is_none()) else {
            return Ok(());
        };
        let counts = |step: &StepSpec| match step {
            StepSpec::Update(assignments) => assignments.iter().any(|assignment| assignment.column == *stalls),
            StepSpec::Sql { .. } => true,
        };
        if requeue.steps.iter().any(counts) {
            return Ok(());
        }
        Err(written.error(format!(
            "counts losses, and the requeue does not count them: add `{name} = \"coalesce({alias}.{name}, 0) + 1\"` to `set` of \
             [action.requeue]",
            name = stalls.name,
            alias = stalls.alias
        )))
    }
}
