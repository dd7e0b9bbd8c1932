//! What a database refuses of an action, found out without writing: every statement that the writer would send is explained
//! and never run, and what it writes is tried on claims as they are.

use super::reader::ReadSession;
use super::sql::{self, Statement};
use super::{StoreError, StoreErrorKind};
use crate::model::{Action, Cell, Engine, Key, Timestamp};
use crate::preset::{ActionSpec, Assignment, QueueSpec, StepSpec, WrittenAt};
use std::collections::BTreeSet;
use std::fmt;

/// What a database refuses of an action.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The action; `None` for a wake-up.
    pub action: Option<Action>,
    /// Where the preset or mapping says what is refused.
    pub at: WrittenAt,
    /// What the database says.
    pub error: StoreError,
    /// Of which claims it is refused.
    pub of: RefusedOf,
}

/// Which claims the database refuses an action of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedOf {
    /// Of any, whatever is in its row.
    Any,
    /// Of every one that it was tried on; a trigger might change that.
    EveryTried,
    /// Of some that it was tried on.
    SomeTried,
    /// Of whichever: what it writes could not be tried, for the reason that the error says.
    Untried,
}

/// With its place and the database's own words.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = self.action.map_or("wake-up", Action::name);
        write!(f, "{action} ({}): {}", self.at, self.error)
    }
}

/// What a trial of an action on claims in flight has found.
pub(super) struct Trial {
    /// The assignment that is refused, where one alone is.
    pub(super) at: Option<WrittenAt>,
    /// What the database says.
    pub(super) error: StoreError,
    /// Of which claims it is refused.
    pub(super) of: RefusedOf,
}

impl Trial {
    /// Of what could not be tried, and why.
    pub(super) fn untried(why: &str) -> Trial {
        Trial { at: None, error: StoreError::new(StoreErrorKind::Other, why), of: RefusedOf::Untried }
    }
}

/// See [`Reader::rehearse`](super::Reader::rehearse).
pub(super) fn rehearse<S: ReadSession>(
    session: &mut S,
    spec: &QueueSpec,
    now: Timestamp,
    reason: &str,
) -> Result<Vec<Refusal>, StoreError> {
    let mut rehearsal =
        Rehearsal { session, spec, saying: (now, reason), asked: BTreeSet::new(), refusals: Vec::new() };
    for (action, moved) in &spec.actions {
        rehearsal.action(*action, moved)?;
        if let Some(delayed) = &moved.delayed {
            let before = rehearsal.refusals.len();
            rehearsal.action(*action, delayed)?;
            // Only a run that gives jobs back later needs the right to write what a wait writes.
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
    saying: (Timestamp, &'a str),
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
        for (is_act, statement) in statements(self.spec, self.session, action, moved, self.saying) {
            self.explain(Some((action, moved)), &moved.at, &statement, is_act)?;
        }
        if self.refusals.len() > before {
            return Ok(());
        }
        for trial in self.session.try_out(self.spec, moved, self.saying)? {
            let at = trial.at.unwrap_or_else(|| moved.at.clone());
            self.refusals.push(Refusal { action: Some(action), at, error: trial.error, of: trial.of });
        }
        Ok(())
    }

    fn wake_ups(&mut self) -> Result<(), StoreError> {
        let statements = sql::notifications(self.spec, self.session.dialect(), Some("queue"), 1);
        let mut both = statements.iter().zip(&self.spec.notify);
        both.try_for_each(|(statement, notify)| self.explain(None, notify.at(), statement, false))
    }

    fn explain(
        &mut self,
        action: Option<(Action, &ActionSpec)>,
        at: &WrittenAt,
        statement: &Statement,
        is_act: bool,
    ) -> Result<(), StoreError> {
        if !self.asked.insert(statement.sql.clone()) {
            return Ok(());
        }
        match self.session.explain(self.spec, statement, is_act) {
            Ok(()) => Ok(()),
            Err(error) if is_refusal(&error) => {
                let at = action.and_then(|(_, moved)| column_named(moved, &error)).unwrap_or(at).clone();
                let action = action.map(|(action, _)| action);
                // One value that is refused is so in each statement of the action that has it.
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

/// Every statement that the writer would send for one batch, see [`SqlWriter`](super::batch::SqlWriter); and whether it is one
/// that acts.
fn statements<S: ReadSession>(
    spec: &QueueSpec,
    session: &S,
    action: Action,
    moved: &ActionSpec,
    (now, reason): (Timestamp, &str),
) -> Vec<(bool, Statement)> {
    let dialect = session.dialect();
    // Keys of no job, so that no value of theirs is cast; SQLite has no empty list of rows.
    let nulls = Key(vec![Cell::Null; spec.claim.key.len()]);
    let keys: Vec<&Key> = if dialect.engine() == Engine::Sqlite { vec![&nulls] } else { Vec::new() };
    let rows: Vec<(&Key, &str)> = keys.iter().map(|key| (*key, "")).collect();
    let mut list = Vec::new();
    if let Some(row) = spec.owner.row.as_ref().filter(|row| row.can_lock && dialect.engine() == Engine::Postgres) {
        list.push(sql::evidence_rows(spec, dialect, row, &keys));
        list.push(sql::evidence_reread(spec, dialect, row, &keys));
        list.push(sql::evidence_writers(spec, dialect, row));
    }
    list.push(sql::verify(spec, dialect, action, moved.locks_for_update, &rows));
    list.push(sql::reread(spec, dialect, action, &rows));
    list.push(sql::shared_keys(spec, dialect, &rows));
    list.extend(spec.claim.guard.as_ref().map(|guard| sql::guard(spec, dialect, guard, &rows)));
    list.extend(spec.recorded(action).map(|columns| sql::images(spec, dialect, &columns, &keys, None)));
    list.extend(sql::left_behind(spec, dialect, moved, &keys));
    let acts = sql::acts(spec, dialect, moved, &keys, (now, now), reason).into_iter().map(|act| (true, act.statement));
    list.into_iter().map(|statement| (false, statement)).chain(acts).collect()
}

/// Whether an error says that the database does not take a statement; other errors end the snapshot.
pub(super) fn is_refusal(error: &StoreError) -> bool {
    use StoreErrorKind::{Denied, Other, RowData, Unfit};
    matches!(error.kind, Denied | Unfit | RowData | Other)
}

/// The assignment whose column an error names.
fn column_named<'m>(moved: &'m ActionSpec, error: &StoreError) -> Option<&'m WrittenAt> {
    let is_named = |assignment: &&Assignment| error.message.contains(&format!("\"{}\"", assignment.column.name));
    assignments(moved).into_iter().find(is_named).map(|assignment| &assignment.at)
}

/// What an action writes to the claim's row: of each column the value that stays.
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
