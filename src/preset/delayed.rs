//! Whether a job of a queue can be given back for later, and how.

use super::queue::{ActionSpec, QueueSpec, StepSpec};
use super::template::{Marker, Template};
use crate::model::Action;

impl QueueSpec {
    /// The requeue of a job that is to run later.
    ///
    /// # Errors
    /// Why there is none, as a clause: a job would run at once, or never.
    pub fn delayed_requeue(&self) -> Result<ActionSpec, String> {
        let requeue = self.actions.get(&Action::Requeue).ok_or("it has no requeue")?;
        if let Some(why) = &requeue.refused {
            return Err(why.clone());
        }
        let delayed = requeue.delayed.as_deref().unwrap_or(requeue);
        match &delayed.refused {
            Some(why) => Err(why.clone()),
            None if delayed.says_when() => Ok(delayed.clone()),
            None => {
                let table = self.tables.get(&self.claim.lock_table);
                let table = table.map_or_else(String::new, |table| format!(" in {}.{}", table.schema, table.name));
                Err(format!("it has no column{table} that says when a job may run"))
            }
        }
    }
}

impl ActionSpec {
    /// True if something that it writes says when the job may run again.
    pub fn says_when(&self) -> bool {
        let asks = |sql: &Template| sql.markers().any(|marker| matches!(marker, Marker::RunAt(_)));
        self.steps.iter().any(|step| match step {
            StepSpec::Update(assignments) => assignments.iter().any(|assignment| asks(&assignment.value)),
            StepSpec::Sql { sql, .. } => asks(sql),
        })
    }
}
