//! Has a database explain every statement that a writer would send, which finds what it refuses whatever the rows hold:
//! names, types, columns that cannot be written, missing rights. Nothing is run.

use super::sql::{self, Occasion, Statement, dialect};
use super::{Reader, StoreError, StoreErrorKind};
use crate::model::{Action, Cell, Engine, FailCode, Key, Timestamp};
use crate::preset::{ActionSpec, Assignment, Jobs, Marker, StepSpec, Touch, WrittenAt};
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

/// Something that the database refuses of an action.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The action; `None` for a wake-up.
    pub action: Option<Action>,
    /// The place in the preset or mapping.
    pub at: WrittenAt,
    pub error: StoreError,
}

/// With its place and the database's error.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = self.action.map_or("wake-up", Action::name);
        write!(f, "{action} ({}): {}", self.at, self.error)
    }
}

impl dyn Reader + '_ {
    /// What the database refuses of the queue's actions and wake-ups: it explains every statement that a writer would
    /// send, and runs none.
    pub fn explain_actions(&mut self, jobs: &Jobs) -> Result<Vec<Refusal>, StoreError> {
        let mut run = Explaining { reader: self, jobs, asked: BTreeSet::new(), refusals: Vec::new() };
        for (action, moved) in &jobs.actions {
            run.action(*action, moved)?;
            if let Some(delayed) = &moved.delayed {
                let before = run.refusals.len();
                run.action(*action, delayed)?;
                // Only a run that delays jobs needs the right to write the delayed instant.
                let later = run.refusals.split_off(before);
                run.refusals.extend(later.into_iter().filter(|refusal| refusal.error.kind != StoreErrorKind::Denied));
            }
        }
        run.wake_ups()?;
        Ok(run.refusals)
    }

    /// Where the first action stands that leaves a job which a rule, the operator or a unique key ended so that the
    /// condition on `interrupted` jobs may select it: it might be brought back. Nothing is written.
    pub fn ends_as_interrupted(&mut self, jobs: &Jobs, interrupted: &Jobs) -> Result<Option<WrittenAt>, StoreError> {
        let now = self.now();
        let table = |of: &Jobs| {
            of.queue.tables.get(&of.claim.lock_table).map(|table| (table.schema.clone(), table.name.clone()))
        };
        let (is_own, other) = (table(jobs) == table(interrupted), interrupted.claim.lock_table.as_str());
        let ends = |action: &Action| matches!(action, Action::Fail | Action::Cancel | Action::TimeOut);
        for (action, moved) in jobs.actions.iter().chain(&jobs.queue.waited_actions) {
            let touches = |touch, table: &str| {
                let mut written = moved.steps.iter().filter_map(StepSpec::sql);
                written.any(|sql| sql.touches().contains(&(touch, table)))
            };
            if !ends(action) || moved.refused.is_some() || touches(Touch::Delete, &jobs.claim.lock_table) && is_own {
                continue;
            }
            if !is_own {
                let fills = touches(Touch::Insert, other) || touches(Touch::Update, other);
                if fills && !moved.asks(&|marker| matches!(marker, Marker::FailCode | Marker::Reason)) {
                    return Ok(Some(moved.at.clone()));
                }
                continue;
            }
            let codes = if moved.asks(&|marker| *marker == Marker::FailCode) {
                &FailCode::DECIDED[..]
            } else {
                &[FailCode::ByOperator]
            };
            for code in codes {
                let occasion = Occasion { fail_code: *code, ..Occasion::at(now, REASON) };
                for (statement, is_of_rows) in sql::left_as_interrupted(jobs, interrupted, moved, occasion) {
                    match self.all(&statement, Some(PATIENCE)) {
                        // A row with a value that cannot be read must not hide the others: its own write would fail.
                        Err(error) if is_of_rows && !error.spoils_the_snapshot() => {}
                        selected => {
                            if !selected?.is_empty() {
                                return Ok(Some(moved.at.clone()));
                            }
                        }
                    }
                }
            }
        }
        Ok(None)
    }
}

/// What a run writes with each job: as long as in earnest, for columns that limit a text.
const REASON: &str = "jobdoctor: worker presumed dead (run 20260101000000-000000)";

/// How long one question about what an action leaves may take.
const PATIENCE: Duration = Duration::from_secs(3);

struct Explaining<'a> {
    reader: &'a mut dyn Reader,
    jobs: &'a Jobs,
    asked: BTreeSet<String>,
    refusals: Vec<Refusal>,
}

impl Explaining<'_> {
    fn action(&mut self, action: Action, moved: &ActionSpec) -> Result<(), StoreError> {
        if moved.refused.is_some() || moved.steps.is_empty() {
            return Ok(());
        }
        let statements = statements(self.jobs, action, moved, self.reader.now());
        statements.iter().try_for_each(|statement| self.explain(Some((action, moved)), &moved.at, statement))?;
        if self.jobs.shown.actions_asked_at.is_some() { self.lead(action, moved) } else { Ok(()) }
    }

    /// Refuses an action that leads a row in flight elsewhere than it says, or each of those that are made up.
    fn lead(&mut self, action: Action, moved: &ActionSpec) -> Result<(), StoreError> {
        let statements = sql::led_astray(self.jobs, dialect(self.jobs.queue.engine), moved, self.reader.now());
        for (statement, is_made_up) in statements.iter().zip([false, true]) {
            let counted = match self.reader.all(statement, Some(PATIENCE)) {
                Err(error) if error.spoils_the_snapshot() => return Err(error),
                // The listing reports a value that cannot be read; a value that is made up need not fit its column.
                Err(_) => continue,
                Ok(rows) => rows.into_iter().flatten().map(|count| count.as_count().unwrap_or(0)).collect::<Vec<_>>(),
            };
            let [asked, astray] = counted.as_slice() else { continue };
            if *astray > 0 && (!is_made_up || astray == asked) {
                let error = StoreError::new(StoreErrorKind::Unfit, moved.astray(None));
                self.refusals.push(Refusal { action: Some(action), at: moved.at.clone(), error });
                break;
            }
        }
        Ok(())
    }

    fn wake_ups(&mut self) -> Result<(), StoreError> {
        let statements = sql::notifications(self.jobs, dialect(self.jobs.queue.engine), Some("queue"), 1);
        let mut both = statements.iter().zip(&self.jobs.queue.notify);
        both.try_for_each(|(statement, notify)| self.explain(None, &notify.at, statement))
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
        let Err(error) = self.reader.explain(self.jobs, statement) else { return Ok(()) };
        if !error.is_refusal() {
            return Err(error);
        }
        let at = action.and_then(|(_, moved)| column_named(moved, &error)).unwrap_or(at).clone();
        let action = action.map(|(action, _)| action);
        // A refused value fails in each statement of the action that has it: report it once.
        let is_known = |other: &Refusal| other.action == action && other.error.code == error.code;
        if error.code.is_none() || !self.refusals.iter().any(is_known) {
            self.refusals.push(Refusal { action, at, error });
        }
        Ok(())
    }
}

/// Every statement that [`SqlWriter`](super::batch::SqlWriter) would send for one batch.
fn statements(jobs: &Jobs, action: Action, moved: &ActionSpec, now: Timestamp) -> Vec<Statement> {
    let dialect = dialect(jobs.queue.engine);
    // No keys, so that none of their values is cast. SQLite has no empty list of rows, so there it is one of NULLs.
    let nulls = Key(vec![Cell::Null; jobs.claim.key.len()]);
    let keys: Vec<&Key> = if dialect.engine() == Engine::Sqlite { vec![&nulls] } else { Vec::new() };
    let rows: Vec<(&Key, &str)> = keys.iter().map(|key| (*key, "")).collect();
    let mut list = Vec::new();
    if let Some(row) = jobs.owner.row.as_ref().filter(|_| dialect.engine() == Engine::Postgres) {
        if row.can_lock {
            list.extend([true, false].map(|are_locked| sql::evidence_rows(jobs, dialect, row, &keys, are_locked)));
        }
        list.push(sql::evidence_writers(jobs, dialect, &row.table));
    }
    list.push(sql::verify(jobs, dialect, (action, moved.locks_for_update), jobs.recorded(action).as_deref(), &rows));
    list.push(sql::reread(jobs, dialect, action, &rows));
    list.push(sql::shared_keys(jobs, dialect, &rows));
    list.extend(jobs.claim.guard.as_ref().map(|guard| sql::guard(jobs, dialect, guard, &rows)));
    list.extend(jobs.recorded(action).map(|columns| sql::images(jobs, dialect, &columns, &keys, None)));
    list.extend(sql::left_behind(jobs, dialect, moved, &keys));
    let acts = sql::acts(jobs, dialect, moved, &keys, Occasion::at(now, REASON)).into_iter().map(|act| act.statement);
    list.into_iter().chain(acts).collect()
}

/// The assignment whose column an error names.
fn column_named<'m>(moved: &'m ActionSpec, error: &StoreError) -> Option<&'m WrittenAt> {
    let is_named = |assignment: &&Assignment| error.message.contains(&format!("\"{}\"", assignment.column.name));
    let mut written = moved.steps.iter().flat_map(|step| match step {
        StepSpec::Update(assignments) => assignments.as_slice(),
        StepSpec::Sql { .. } => &[],
    });
    written.rfind(is_named).map(|assignment| &assignment.at)
}
