//! What may be done to a job: the statements of each action, with the state and the attempts that authors do not write.

use super::Binder;
use super::fragments::Within;
use crate::model::{Action, AttemptsChange};
use crate::preset::document::{ActionDoc, StepDoc};
use crate::preset::encoding::Encodings;
use crate::preset::field::{Fragment, Written};
use crate::preset::queue::*;
use crate::preset::template::{Marker, Piece, Template, Touch};
use crate::preset::{SpecError, WrittenAt, did_you_mean, qualified};
use std::collections::BTreeMap;

impl Binder<'_> {
    pub(super) fn actions(
        &self,
        docs: &[(Action, ActionDoc)],
        claim: &ClaimSpec,
        attempts: &Attempts,
    ) -> Result<BTreeMap<Action, ActionSpec>, SpecError> {
        let of_one = |(action, doc): &(Action, ActionDoc)| {
            let requeues = *action == Action::Requeue;
            let delayed = self.delayed(*action, doc, claim, attempts)?;
            let delayed = delayed.map(|delayed| Box::new(ActionSpec { requeues, ..delayed }));
            Ok((*action, ActionSpec { delayed, requeues, ..self.action_named(doc, claim, attempts)? }))
        };
        docs.iter().map(of_one).collect()
    }

    /// Why an action cannot decide by itself what a conflict does: SQLite carries the `OR ABORT` that a statement needs
    /// on a table with a conflict clause of its own into the table's triggers, in the place of what these say.
    pub(super) fn unwritable(&self, queue: &Queue, actions: &BTreeMap<Action, ActionSpec>) -> Option<String> {
        let foreign = self.tables.iter().find(|(logical, live)| live.is_foreign && !queue.beside.contains(*logical));
        if let Some((_, live)) = foreign {
            return Some(format!(
                "{} is a foreign table: its rows lie on another server, whose locks and commits jobdoctor cannot vouch for",
                live.name
            ));
        }
        let steps = actions.values().chain(queue.waited_actions.values()).flat_map(|action| &action.steps);
        let wakes = queue.notify.iter().map(|notify| &notify.sql);
        let touches = steps.filter_map(StepSpec::sql).chain(wakes).flat_map(Template::touches);
        let written =
            touches.filter(|(touch, _)| matches!(touch, Touch::Insert | Touch::Update)).map(|(_, table)| table);
        let written = written.filter_map(|table| self.tables.get(table).copied()).chain([self.own]);
        let (table, trigger) = written
            .chain(self.live.table(Some(&self.own.schema), LEDGER))
            .filter(|table| table.declares_conflict)
            .find_map(|table| Some((table, table.conflict_triggers.first()?)))?;
        Some(format!(
            "table {} declares ON CONFLICT, so that a statement on it must say OR ABORT, and its trigger {trigger} says otherwise: \
             SQLite would run the trigger with OR ABORT too",
            table.name
        ))
    }

    pub(super) fn names_tables(&self, sql: &Template, at: &WrittenAt) -> Result<(), SpecError> {
        let is_table = |name: &str| self.document.tables.iter().any(|(logical, _)| logical == name);
        sql.names_tables(self.live.engine, &is_table).map_err(|why| at.error(why))
    }

    fn action_named(&self, doc: &ActionDoc, claim: &ClaimSpec, attempts: &Attempts) -> Result<ActionSpec, SpecError> {
        let to = self.state_of(doc, claim)?;
        // Its own word, or what `counted` implies.
        let change = doc.attempts.unwrap_or_else(|| self.view.attempts.counted.change());
        let mut locks_for_update = false;
        let mut steps = Vec::new();
        // What authors do not write out goes into the first UPDATE of the row.
        let mut implied: Vec<Assignment> = state_after(doc, claim, &to).into_iter().collect();
        implied.extend(self.attempts_after(change, attempts, &doc.at)?);
        for step in &doc.steps {
            if let (Some(Fragment { written, sql }), Some(rows)) = (&step.sql, step.rows) {
                let sql = self.expand(written, sql, Within::Step)?;
                self.require_columns(written, &sql)?;
                // Whatever it does to the locked row, the stronger lock is enough.
                locks_for_update = true;
                let encodings = self.now_encodings(written, &sql)?;
                steps.push(StepSpec::Sql { sql, rows, encodings, at: written.at.clone() });
                continue;
            }
            let mut assignments = std::mem::take(&mut implied);
            for (column, Fragment { written, sql }) in &step.set {
                self.assign(&mut assignments, written, column, sql)?;
            }
            locks_for_update |= assignments.iter().any(|a| self.own.key_columns.contains(&a.column.name));
            // Columns that this table lacks may have been all of it.
            if !assignments.is_empty() {
                steps.push(StepSpec::Update(assignments));
            }
        }
        if let (true, None, Some(to)) = (steps.is_empty(), &doc.refused, &doc.to) {
            return Err(to.error(
                "the action writes nothing, so that its jobs would stay as they are: it needs `clear`, `stamp`, `set` or a \
                 `step`",
            ));
        }
        steps.iter_mut().try_for_each(|step| self.qualify(step))?;
        let (refused, fails_refused, at) = (doc.refused.clone(), doc.if_refused.is_some(), doc.at.clone());
        let spec = ActionSpec { to, attempts: change, steps, refused, locks_for_update, ..ActionSpec::default() };
        Ok(ActionSpec { fails_refused, at, ..spec })
    }

    /// Finds the state that an action leads to, if it names one.
    fn state_of(&self, doc: &ActionDoc, claim: &ClaimSpec) -> Result<StateValue, SpecError> {
        let Some(to) = &doc.to else { return Ok(StateValue::default()) };
        match (&claim.state, self.document.states.all().find(|state| state.name == to.text)) {
            (_, Some(state)) => Ok(state.clone()),
            (StateSource::Place(_), None) => Ok(StateValue::plain(&to.text)),
            (StateSource::Column(_), None) => {
                let hint = did_you_mean(&to.text, self.document.states.all().map(|state| state.name.as_str()));
                Err(to.error(format!("`{}` is not one of the [states]{hint}", to.text)))
            }
        }
    }

    /// Qualifies the names in a step where the engine has schemas, and refuses what it cannot qualify.
    fn qualify(&self, step: &mut StepSpec) -> Result<(), SpecError> {
        if let StepSpec::Sql { sql, at, .. } = step {
            self.names_tables(sql, at)?;
        }
        let templates: Vec<(&mut Template, &WrittenAt)> = match step {
            _ if !self.live.engine.has_schemas() => return Ok(()),
            StepSpec::Update(assignments) => assignments.iter_mut().map(|one| (&mut one.value, &one.at)).collect(),
            StepSpec::Sql { sql, at, .. } => vec![(sql, at)],
        };
        for (sql, at) in templates {
            *sql = qualified(sql).map_err(|why| at.error(why))?;
        }
        Ok(())
    }

    /// Assigns the attempts as they are after an action, which authors do not write out.
    fn attempts_after(
        &self,
        change: AttemptsChange,
        attempts: &Attempts,
        at: &WrittenAt,
    ) -> Result<Option<Assignment>, SpecError> {
        let (column, value) = match (&attempts.left, &attempts.column) {
            _ if change == AttemptsChange::Keep => return Ok(None),
            (None, None) => return Ok(None),
            (Some(left), _) => (left, still_left(change, left, attempts)),
            (None, Some(Expr::Sql(_))) => {
                let why = "attempts that are an expression cannot be changed: say `attempts = \"keep\"` in the action";
                return Err(SpecError::whole(self.name, why));
            }
            (None, Some(Expr::Column(column))) => match (change, &attempts.max) {
                (AttemptsChange::ToMax, None | Some(Max::Expr(Expr::Sql(_)))) => {
                    return Err(SpecError::whole(self.name, "`attempts = \"max\"` needs a `max` in [attempts]"));
                }
                (AttemptsChange::ToMax, _) => (column, Template(attempts.max_sql())),
                (AttemptsChange::Add(n), _) => {
                    let sum = Template::around(&format!("coalesce(?, 0) + ({n})"), &[&[Piece::Column(column.clone())]]);
                    (column, sum)
                }
                (AttemptsChange::Zero | AttemptsChange::Keep, _) => (column, Template::around("0", &[])),
            },
        };
        Ok(Some(Assignment { column: column.clone(), value, encodings: None, at: at.clone() }))
    }

    fn assign(
        &self,
        assignments: &mut Vec<Assignment>,
        written: &Written,
        column: &str,
        value: &Template,
    ) -> Result<(), SpecError> {
        let column = self.name_of(&self.lock, column);
        let Some(bound) = self.lookup(&self.lock, &column) else {
            if self.is_optional(&column) {
                return Ok(());
            }
            return Err(self.no_column(written, &self.lock, &column));
        };
        let value = self.expand(written, value, Within::Assignment)?;
        if self.live.engine.has_schemas() {
            // Of a column that is not there, Postgres would make a call of a function by that name.
            let table = [Piece::Name(self.lock_table.clone()), Piece::Text(format!(" AS {} ", self.lock))];
            self.require_columns(written, &Template(table.into_iter().chain(value.0.clone()).collect()))?;
        }
        let timed = value.markers().any(|marker| matches!(marker, Marker::Now(None) | Marker::RunAt(None)));
        let encodings = if timed { Some(self.encodings(written, &bound)?) } else { None };
        assignments.push(Assignment { column: bound, value, encodings, at: written.at.clone() });
        Ok(())
    }

    pub(super) fn now_encodings(
        &self,
        written: &Written,
        sql: &Template,
    ) -> Result<BTreeMap<String, Encodings>, SpecError> {
        let mut encodings = BTreeMap::new();
        for marker in sql.markers() {
            if let Marker::Now(Some(column)) | Marker::RunAt(Some(column)) | Marker::Since(column) = marker {
                let times = &self.document.time;
                let found = times.columns.get(column).or(times.default.as_ref()).cloned().or_else(|| self.natural());
                let found = found.ok_or_else(|| {
                    written.error(format!("`{marker}`: [time] does not say how `{column}` is spelled"))
                })?;
                encodings.insert(column.clone(), found.in_zone(self.document.time_zone.as_ref()));
            }
        }
        Ok(encodings)
    }

    /// The action with what the preset lays over it for a delay; `None` where nothing is different.
    fn delayed(
        &self,
        action: Action,
        doc: &ActionDoc,
        claim: &ClaimSpec,
        attempts: &Attempts,
    ) -> Result<Option<ActionSpec>, SpecError> {
        let Some(delayed) = &doc.delayed else { return Ok(None) };
        let wrong = |message: &str| SpecError::whole(self.name, format!("[action.{action}.delayed] {message}"));
        if action != Action::Requeue {
            return Err(wrong("means nothing: only a job that goes back to the queue runs later"));
        }
        let mut doc = doc.clone();
        if delayed.refused.is_some() {
            doc.refused.clone_from(&delayed.refused);
            return self.action_named(&doc, claim, attempts).map(Some);
        }
        if delayed.to.is_some() {
            doc.to.clone_from(&delayed.to);
        }
        let [step @ StepDoc { sql: None, .. }] = doc.steps.as_mut_slice() else {
            return Err(wrong("can be laid over an action of one UPDATE only"));
        };
        step.set.retain(|(column, _)| delayed.set.iter().all(|(other, _)| other != column));
        step.set.extend(delayed.set.iter().cloned());
        self.action_named(&doc, claim, attempts).map(Some)
    }

    /// Rejects a `stalls` column that the requeue does not increment: a budget of it would never be spent. Expressions,
    /// and statements that the preset writes itself, are not examined.
    pub(super) fn losses_are_counted(
        &self,
        actions: &BTreeMap<Action, ActionSpec>,
        attempts: &Attempts,
    ) -> Result<(), SpecError> {
        let (Some(Expr::Column(stalls)), Some(written)) = (&attempts.stalls, &self.view.attempts.stalls) else {
            return Ok(());
        };
        let counts = |step: &StepSpec| match step {
            StepSpec::Update(assignments) => assignments.iter().any(|assignment| assignment.column == *stalls),
            StepSpec::Sql { .. } => true,
        };
        let is_counted = |requeue: &ActionSpec| requeue.refused.is_some() || requeue.steps.iter().any(counts);
        if stalls.alias != self.lock || actions.get(&Action::Requeue).is_none_or(is_counted) {
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

/// Assigns the state as it is after an action, which authors do not write out.
fn state_after(doc: &ActionDoc, claim: &ClaimSpec, to: &StateValue) -> Option<Assignment> {
    let value = Template(vec![Piece::Literal(to.stored.clone())]);
    let at = doc.to.as_ref().map_or(&doc.at, |to| &to.at).clone();
    Some(Assignment { column: claim.own_state()?.clone(), value, encodings: None, at })
}

/// The value of a counter of attempts that are left, after that change of the attempts.
fn still_left(change: AttemptsChange, left: &Column, attempts: &Attempts) -> Template {
    let (left, max) = (&[Piece::Column(left.clone())], attempts.max_sql());
    match change {
        AttemptsChange::Keep => Template::around("?", &[left]),
        AttemptsChange::Zero => Template(max),
        AttemptsChange::ToMax => Template::around("0", &[]),
        AttemptsChange::Add(n) => Template::around(&format!("coalesce(?, ?) - ({n})"), &[left, &max]),
    }
}
