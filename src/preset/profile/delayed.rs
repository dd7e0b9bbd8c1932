//! What a requeue does where the job is to run later.

use super::ColumnChange;
use super::actions::{becomes, change};
use super::sql::asks;
use crate::model::Action;
use crate::preset::document::{ActionDoc, Document, StepDoc};
use crate::preset::template::{Marker, Template};

/// How a requeue is otherwise where the operator asks for a delay.
#[derive(Debug, Clone)]
pub struct DelayedProfile {
    /// Why that is never done, if so.
    pub refused: Option<String>,
    /// The state that the job comes to instead.
    pub to: Option<String>,
    /// What becomes of columns beside, or instead.
    pub changes: Vec<ColumnChange>,
}

pub(super) fn delayed(document: &Document, action: Action, doc: &ActionDoc) -> Option<DelayedProfile> {
    if action != Action::Requeue || doc.refused.is_some() {
        return None;
    }
    let refused = |why: &str| DelayedProfile { refused: Some(why.to_owned()), to: None, changes: Vec::new() };
    let says_when = |sql: &Template| asks(document, sql, &mut |marker: &Marker| matches!(marker, Marker::RunAt(_)));
    match &doc.delayed {
        Some(delayed) => Some(DelayedProfile {
            refused: delayed.refused.clone(),
            to: delayed.to.as_ref().map(|to| to.text.clone()),
            changes: delayed
                .set
                .iter()
                .map(|(column, _, value)| change(document, column, becomes(document, column, value)))
                .collect(),
        }),
        None if doc.steps.iter().any(|step| match step {
            StepDoc::Sql { sql, .. } => says_when(sql),
            StepDoc::Update { set, .. } => set.iter().any(|(_, _, value)| says_when(value)),
        }) =>
        {
            Some(DelayedProfile { refused: None, to: None, changes: Vec::new() })
        }
        None => Some(refused("no column says when a job may run")),
    }
}
