//! Finds out what a database would refuse of an action, without writing: the database explains every statement that a
//! writer would send, and what they write is tried on claims as they are.

use super::session::ReadSession;
use super::sql::{self, Statement};
use super::{StoreError, StoreErrorKind};
use crate::model::{Action, Cell, Engine, Key, Timestamp};
use crate::preset::{ActionSpec, Assignment, QueueSpec, StepSpec, WrittenAt};
use std::collections::BTreeSet;
use std::fmt;

/// Something that the database refuses of an action.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The action; `None` for a wake-up.
    pub action: Option<Action>,
    /// The place in the preset or mapping.
    pub at: WrittenAt,
    pub error: StoreError,
    /// The claims for which it is refused.
    pub of: RefusedOf,
}

/// The claims for which the database refuses an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedOf {
    /// Every claim, whatever its row holds.
    Any,
    /// Every claim that was tried; a trigger might change that.
    EveryTried,
    SomeTried,
    /// Unknown: what it writes could not be tried, for the reason in the error.
    Untried,
}

/// With its place and the database's error.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = self.action.map_or("wake-up", Action::name);
        write!(f, "{action} ({}): {}", self.at, self.error)
    }
}

/// A refusal found by trying an action on claims in flight.
pub(super) struct Trial {
    /// The assignment that is refused, if it is a single one.
    pub(super) at: Option<WrittenAt>,
    pub(super) error: StoreError,
    /// The claims for which it is refused.
    pub(super) of: RefusedOf,
}

impl Trial {
    /// An action that could not be tried, and why.
    pub(super) fn untried(why: &str) -> Trial {
        Trial { at: None, error: StoreError::new(StoreErrorKind::Other, why), of: RefusedOf::Untried }
    }
}

pub(super) fn rehearse<S: ReadSession>(
    session: &mut S,
    spec: &QueueSpec,
    now: Timestamp,
    reason: &str,
) -> Result<Vec<Refusal>, StoreError> {
    let mut rehearsal =
        Rehearsal { session, spec, clock_and_reason: (now, reason), asked: BTreeSet::new(), refusals: Vec::new() };
    for (action, moved) in &spec.actions {
        rehearsal.action(*action, moved)?;
        if let Some(delayed) = &moved.delayed {
            let before = rehearsal.refusals.len();
            rehearsal.action(*action, delayed)?;
            // Only a run that delays jobs needs the right to write the delayed instant.
            let later = rehearsal.refusals.split_off(before);
            let lasting = later.into_iter().filter(|refusal| refusal.error.kind != StoreErrorKind::Denied);
            rehearsal.refusals.extend(lasting.map(|refusal| match refusal.of {
                RefusedOf::EveryTried => Refusal { of: RefusedOf::SomeTried, ..refusal },
                _ => refusal,
            }));
        }
    }
    rehearsal.wake_ups()?;
    Ok(rehearsal.refusals)
}

struct Rehearsal<'a, S> {
    session: &'a mut S,
    spec: &'a QueueSpec,
    clock_and_reason: (Timestamp, &'a str),
    /// The texts of the statements that were explained.
    asked: BTreeSet<String>,
    refusals: Vec<Refusal>,
}

impl<S: ReadSession> Rehearsal<'_, S> {
    fn action(&mut self, action: Action, moved: &ActionSpec) -> Result<(), StoreError> {
        if moved.refused.is_some() || moved.steps.is_empty() {
            return Ok(());
        }
        let before = self.refusals.len();
        for statement in statements(self.spec, self.session, action, moved, self.clock_and_reason) {
            self.explain(Some((action, moved)), &moved.at, &statement)?;
        }
        if self.refusals.len() > before {
            return Ok(());
        }
        for trial in self.session.try_out(self.spec, moved, self.clock_and_reason)? {
            let at = trial.at.unwrap_or_else(|| moved.at.clone());
            self.refusals.push(Refusal { action: Some(action), at, error: trial.error, of: trial.of });
        }
        Ok(())
    }

    fn wake_ups(&mut self) -> Result<(), StoreError> {
        let statements = sql::notifications(self.spec, self.session.dialect(), Some("queue"), 1);
        let mut both = statements.iter().zip(&self.spec.notify);
        both.try_for_each(|(statement, notify)| self.explain(None, notify.at(), statement))
    }

    fn explain(
        &mut self,
        action: Option<(Action, &ActionSpec)>,
        at: &WrittenAt,
        statement: &Statement,
    ) -> Result<(), StoreError> {
        if !self.asked.insert(statement.sql.clone()) {
            return Ok(());
        }
        match self.session.explain(self.spec, statement) {
            Ok(()) => Ok(()),
            Err(error) if error.is_refusal() => {
                let at = action.and_then(|(_, moved)| column_named(moved, &error)).unwrap_or(at).clone();
                let action = action.map(|(action, _)| action);
                // A refused value fails in each statement of the action that has it: report it once.
                let is_known = |other: &Refusal| other.action == action && other.error.code == error.code;
                if error.code.is_some() && self.refusals.iter().any(is_known) {
                    return Ok(());
                }
                self.refusals.push(Refusal { action, at, error, of: RefusedOf::Any });
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// Every statement that [`SqlWriter`](super::batch::SqlWriter) would send for one batch.
fn statements<S: ReadSession>(
    spec: &QueueSpec,
    session: &S,
    action: Action,
    moved: &ActionSpec,
    (now, reason): (Timestamp, &str),
) -> Vec<Statement> {
    let dialect = session.dialect();
    // No keys, so that none of their values is cast. SQLite has no empty list of rows, so there it is one of NULLs.
    let nulls = Key(vec![Cell::Null; spec.claim.key.len()]);
    let keys: Vec<&Key> = if dialect.engine() == Engine::Sqlite { vec![&nulls] } else { Vec::new() };
    let rows: Vec<(&Key, &str)> = keys.iter().map(|key| (*key, "")).collect();
    let mut list = Vec::new();
    if let Some(row) = spec.owner.row.as_ref().filter(|_| dialect.engine() == Engine::Postgres) {
        if row.can_lock {
            list.push(sql::evidence_rows(spec, dialect, row, &keys));
            list.push(sql::evidence_reread(spec, dialect, row, &keys));
        }
        list.push(sql::evidence_writers(spec, dialect, row));
    }
    list.push(sql::verify(spec, dialect, (action, moved.locks_for_update), spec.recorded(action).as_deref(), &rows));
    list.push(sql::reread(spec, dialect, action, &rows));
    list.push(sql::shared_keys(spec, dialect, &rows));
    list.extend(spec.claim.guard.as_ref().map(|guard| sql::guard(spec, dialect, guard, &rows)));
    list.extend(spec.recorded(action).map(|columns| sql::images(spec, dialect, &columns, &keys, None)));
    list.extend(sql::left_behind(spec, dialect, moved, &keys));
    let acts = sql::acts(spec, dialect, moved, &keys, (now, now), reason).into_iter().map(|act| act.statement);
    list.into_iter().chain(acts).collect()
}

/// The assignment whose column an error names.
fn column_named<'m>(moved: &'m ActionSpec, error: &StoreError) -> Option<&'m WrittenAt> {
    let is_named = |assignment: &&Assignment| error.message.contains(&format!("\"{}\"", assignment.column.name));
    assignments(moved).into_iter().find(is_named).map(|assignment| &assignment.at)
}

/// What an action writes to the claim's row: the last value of each column.
pub(super) fn assignments(moved: &ActionSpec) -> Vec<&Assignment> {
    let mut list: Vec<&Assignment> = Vec::new();
    for step in &moved.steps {
        if let StepSpec::Update(assignments) = step {
            for assignment in assignments {
                list.retain(|other| other.column != assignment.column);
                list.push(assignment);
            }
        }
    }
    list
}
