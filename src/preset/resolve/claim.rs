//! What makes a row a claim, its attempts and limits, what is kept of finished jobs, and all that a precondition
//! covers.

use super::Binder;
use super::columns::{literal, may_hold_integers};
use crate::preset::SpecError;
use crate::preset::document::{ClaimFrom, FinishedDoc, MaxDoc, MaxRuntimeDoc};
use crate::preset::fields::{Fragment, Written};
use crate::preset::queue::*;
use crate::preset::template::{Piece, Template};

impl Binder<'_> {
    pub(super) fn claim(&self) -> Result<ClaimSpec, SpecError> {
        let claim = &self.document.claim;
        let mut key = Vec::new();
        for part in &claim.key {
            key.push(self.column(part, &self.lock)?.ok_or_else(|| part.error("a key column cannot be optional"))?);
        }
        let state = match &claim.state {
            None => StateSource::Place("in flight".to_owned()),
            Some(state) => match literal(&state.text) {
                Some(place) => StateSource::Place(place.to_owned()),
                None => {
                    let column = self.column(state, &self.lock)?;
                    let column = column.ok_or_else(|| state.error("the state column cannot be optional"))?;
                    self.holds_the_states(state, &column)?;
                    StateSource::Column(column)
                }
            },
        };
        if matches!(state, StateSource::Column(_)) && self.document.states.in_flight.is_empty() {
            return Err(SpecError::whole(self.name, "[states] names no `in_flight` state"));
        }
        Ok(ClaimSpec {
            from: match &claim.from {
                ClaimFrom::Table(_) => self.from.clone(),
                ClaimFrom::From(from) => self.read_sql(from)?,
            },
            lock: self.lock.clone(),
            lock_table: self.lock_table.clone(),
            may_repeat: matches!(claim.from, ClaimFrom::From(..)),
            has_unique_key: false,
            key,
            state,
            filter: claim.filter.as_ref().map(|filter| self.read_sql(filter)).transpose()?,
            queue: self.optional_expr(&claim.queue)?,
            kind: self.optional_expr(&claim.kind)?,
            claimed_at: self.optional_time(&claim.claimed_at, &self.lock)?,
            created_at: self.optional_time(&claim.created_at, &self.lock)?,
            payload: self.displayed(&claim.payload)?,
            last_error: self.displayed(&claim.last_error)?,
            progress: {
                let columns = claim.progress.iter().map(|written| self.expr(written, &self.lock));
                columns.filter_map(Result::transpose).collect::<Result<_, _>>()?
            },
            precondition: Vec::new(),
            guard: claim.guard.as_ref().map(|guard| self.lock_sql(guard)).transpose()?,
        })
    }

    /// A value that is only displayed: `None` where this role may not read it, so that nothing fails for its sake.
    fn displayed(&self, written: &Option<Written>) -> Result<Option<Expr>, SpecError> {
        let expr = self.optional_expr(written)?;
        let (alias, name) = match &expr {
            Some(Expr::Column(column)) => (&column.alias, Some(&column.name)),
            // An expression may read any column of the claim's row.
            _ => (&self.lock, None),
        };
        let columns = self.aliases.get(alias).copied().flatten().into_iter().flat_map(|table| &table.columns);
        let is_readable = columns.filter(|column| name.is_none_or(|name| *name == column.name)).all(|c| c.readable);
        Ok(expr.filter(|_| is_readable))
    }

    /// Refuses a type that cannot hold a state in flight: no comparison with such a state is valid.
    fn holds_the_states(&self, written: &Written, column: &Column) -> Result<(), SpecError> {
        let live = self.aliases.get(&column.alias).copied().flatten().and_then(|table| table.column(&column.name));
        let Some(live) = live else { return Ok(()) };
        match self.live.states_out_of_reach(live, &self.document.states.in_flight) {
            lacking if lacking.is_empty() => Ok(()),
            lacking => Err(written.error(format!("`{}` is {}", column.name, self.live.type_without(live, &lacking)))),
        }
    }

    /// A fragment about locks that sessions hold, which only one of the engines has.
    pub(super) fn lock_sql(&self, fragment: &Fragment) -> Result<Template, SpecError> {
        if self.live.engine.is_file() {
            return Err(fragment
                .written
                .error("asks for a lock that a session holds, and only Postgres has such locks"));
        }
        self.read_sql(fragment)
    }

    pub(super) fn attempts(&self) -> Result<Attempts, SpecError> {
        let attempts = &self.document.attempts;
        let mut spec = Attempts {
            left: None,
            column: self.optional_expr(&attempts.column)?,
            max: match &attempts.max {
                None => None,
                Some(MaxDoc::Number(number)) => Some(Max::Number(*number)),
                Some(MaxDoc::Column(written)) => self.expr(written, &self.lock)?.map(Max::Expr),
            },
            stalls: self.optional_expr(&attempts.stalls)?,
            counted: attempts.counted,
            exhausted: attempts.exhausted,
            max_counts: attempts.max_counts,
        };
        let max = match (&spec.max, &attempts.max) {
            (Some(Max::Expr(expr)), Some(MaxDoc::Column(written))) => (Some(expr), Some(written), "their maximum"),
            _ => (None, None, ""),
        };
        for (counter, written, what) in [
            (spec.column.as_ref(), attempts.column.as_ref(), "attempts"),
            (spec.stalls.as_ref(), attempts.stalls.as_ref(), "stalls"),
            max,
        ] {
            if let (Some(Expr::Column(column)), Some(written)) = (counter, written)
                && !may_hold_integers(self.live.engine, &column.type_name)
            {
                return Err(written.error(format!("is {}, and {what} must be an integer", column.type_name)));
            }
        }
        if let Some(counter) = spec.column.take_if(|_| attempts.counts_down) {
            let (Expr::Column(left), Some(written)) = (counter, &attempts.column) else {
                let message = "attempts that are counted down must be a column, and this is an expression";
                return Err(SpecError::whole(self.name, message));
            };
            if spec.max.is_none() {
                return Err(written.error("is counted down from `max`, and this table has no such column"));
            }
            spec.column = Some(Expr::Sql(self.used_up(&spec, &left)));
            spec.left = Some(left);
        }
        Ok(spec)
    }

    /// The attempts behind a counter of those that are left. Neither engine fails on any value, and no text becomes a
    /// number.
    fn used_up(&self, attempts: &Attempts, left: &Column) -> Template {
        let (text, left) = (|text: &str| Piece::Text(text.to_owned()), || Piece::Column(left.clone()));
        let (before, after) = match self.live.engine.has_strict_types() {
            true => (vec![text("CAST(")], vec![text(" AS numeric) - "), left()]),
            false => (
                vec![text("CASE WHEN typeof("), left(), text(") IN ('text', 'blob') THEN "), left(), text(" ELSE ")],
                vec![text(" - "), left(), text(" END")],
            ),
        };
        Template(before.into_iter().chain(attempts.max_sql()).chain(after).collect())
    }

    pub(super) fn rules(&self) -> Result<Rules, SpecError> {
        let rules = &self.document.rules;
        Ok(Rules {
            deadline: self.optional_time(&rules.deadline, &self.lock)?,
            cancel_requested: match &rules.cancel_requested {
                None => None,
                Some(written) => self.expr(written, &self.lock)?.map(|expr| match expr {
                    Expr::Column(column) => CancelRequested::Column(column),
                    Expr::Sql(sql) => CancelRequested::Sql(sql),
                }),
            },
            max_runtime: match &rules.max_runtime {
                None => None,
                Some(MaxRuntimeDoc::Span(span)) => Some(MaxRuntime::Span(*span)),
                Some(MaxRuntimeDoc::Column(written)) => self.seconds(written)?.map(MaxRuntime::Column),
            },
        })
    }

    /// Where run times are read. A table without both instants is no error: nothing but statistics needs them.
    pub(super) fn finished(&self, claim: &ClaimSpec) -> Result<Finished, SpecError> {
        let name = &self.document.name;
        let doc = match &self.document.finished {
            Some(FinishedDoc::Kept(doc)) => doc,
            Some(FinishedDoc::Untold(why)) => return Ok(Finished::Untold(format!("preset {name}: {why}"))),
            None => {
                return Ok(Finished::Untold(format!(
                    "preset {name} does not say where the end of a run is kept ([finished] in a mapping)"
                )));
            }
        };
        let table = || self.tables.get(&self.lock_table).map_or(self.lock_table.as_str(), |table| table.name.as_str());
        let lacks = |column: &str| Ok(Finished::Untold(format!("table {} has no column {column}", table())));
        let Some(end) = self.optional_time(&Some(doc.at.clone()), &self.lock)? else { return lacks(&doc.at.text) };
        let started = match &doc.started {
            Some(began) => match self.optional_time(&Some(began.clone()), &self.lock)? {
                Some(started) => started,
                None => return lacks(&began.text),
            },
            None => match (&claim.claimed_at, &self.document.claim.claimed_at) {
                (Some(claimed_at), _) => claimed_at.clone(),
                (None, Some(written)) => return lacks(&written.text),
                (None, None) => {
                    return Ok(Finished::Untold(format!("preset {name} does not say when a run began")));
                }
            },
        };
        let states = match &claim.state {
            StateSource::Column(_) => doc.states.clone(),
            StateSource::Place(_) => Vec::new(),
        };
        let filter = doc.filter.as_ref().map(|filter| self.read_sql(filter)).transpose()?;
        if states.is_empty() && filter.is_none() {
            return Err(doc
                .at
                .error("needs `where`: here a row's place is its state, which tells only jobs in flight"));
        }
        Ok(Finished::Kept(Box::new(Runs { states, filter, started, at: end })))
    }

    /// The preset's own precondition, and everything that a verdict reads, which authors do not repeat.
    pub(super) fn precondition(
        &self,
        claim: &ClaimSpec,
        owner: &OwnerSpec,
        liveness: &[Liveness],
        attempts: &Attempts,
        rules: &Rules,
    ) -> Result<Vec<Expr>, SpecError> {
        let mut precondition = Vec::new();
        let mut add = |expr: Expr| {
            if !precondition.contains(&expr) {
                precondition.push(expr);
            }
        };
        if let StateSource::Column(column) = &claim.state {
            add(Expr::Column(column.clone()));
        }
        owner.id.iter().cloned().for_each(&mut add);
        let times = claim.claimed_at.iter().chain(liveness.iter().filter_map(Liveness::column)).chain(&rules.deadline);
        times.map(|time| Expr::Column(time.column.clone())).for_each(&mut add);
        for source in liveness {
            if let Liveness::Lease { plus: Some(column), .. } = source {
                add(Expr::Column(column.clone()));
            }
            if let Some(SilentAfter::Column(column)) = source.silent_after() {
                add(Expr::Column(column.clone()));
            }
        }
        if let Some(row) = &owner.row {
            add(Expr::Column(row.key.clone()));
            let times = row.heartbeat.iter().chain(&row.started);
            times.map(|time| Expr::Column(time.column.clone())).for_each(&mut add);
        }
        attempts.column.iter().cloned().for_each(&mut add);
        // Whether a job fails or goes back rests on its maximum as much as on its attempts.
        if let Some(Max::Expr(max)) = &attempts.max {
            add(max.clone());
        }
        // And on how often it was lost, where a budget of that is asked for.
        attempts.stalls.iter().cloned().for_each(&mut add);
        match &rules.cancel_requested {
            Some(CancelRequested::Column(column)) => add(Expr::Column(column.clone())),
            Some(CancelRequested::Sql(sql)) => add(Expr::Sql(sql.clone())),
            None => {}
        }
        if let Some(MaxRuntime::Column(column)) = &rules.max_runtime {
            add(Expr::Column(column.clone()));
        }
        claim.progress.iter().cloned().for_each(&mut add);
        for written in &self.document.claim.precondition {
            self.expr(written, &self.lock)?.into_iter().for_each(&mut add);
        }
        Ok(precondition)
    }
}
