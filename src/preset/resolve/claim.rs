//! What makes a row a claim, its attempts and limits, what is kept of finished jobs, and all that a precondition
//! covers.

use super::Binder;
use super::columns::{literal, may_hold_integers};
use crate::preset::SpecError;
use crate::preset::field::{Fragment, Written};
use crate::preset::queue::*;
use crate::preset::template::{Piece, Template};

impl Binder<'_> {
    pub(super) fn claim(&self) -> Result<ClaimSpec, SpecError> {
        let claim = &self.view.claim;
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
                    self.require_states(state, &column)?;
                    StateSource::Column(column)
                }
            },
        };
        if matches!(state, StateSource::Column(_)) && self.view.states.is_empty() && !self.view.is_only_looked_at {
            return Err(SpecError::whole(self.name, "[states] names no `in_flight` state"));
        }
        let veto = self.veto()?;
        Ok(ClaimSpec {
            from: if claim.table.is_some() { claim.from.sql.clone() } else { self.read_sql(&claim.from)? },
            lock: self.lock.clone(),
            lock_table: self.lock_table.clone(),
            may_repeat: claim.table.is_none(),
            has_unique_key: false,
            key,
            rowid: self.own.rowid.as_ref().and_then(|name| self.lookup(&self.lock, name)),
            state,
            filter: match &claim.filter {
                Some(filter) => Some(self.read_sql(filter)?),
                None if self.view.states.is_empty() => Some(Template(vec![Piece::Text("true".to_owned())])),
                None => None,
            },
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
            unread_veto: self.view.claim.veto.as_ref().filter(|_| veto.is_none()).map(|veto| veto.says.clone()),
            veto,
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
        let columns = self.table_of(alias).into_iter().flat_map(|table| &table.columns);
        let is_readable = columns.filter(|column| name.is_none_or(|name| *name == column.name)).all(|c| c.readable);
        Ok(expr.filter(|_| is_readable))
    }

    /// Refuses a type that cannot hold a state in flight: no comparison with such a state is valid.
    fn require_states(&self, written: &Written, column: &Column) -> Result<(), SpecError> {
        let live = self.table_of(&column.alias).and_then(|table| table.column(&column.name));
        match live.and_then(|live| self.live.type_without(live, &self.view.states)) {
            Some(type_name) => Err(written.error(format!("`{}` is {type_name}", column.name))),
            None => Ok(()),
        }
    }

    /// A fragment about locks that sessions hold, which only one of the engines has.
    pub(super) fn lock_sql(&self, fragment: &Fragment) -> Result<Template, SpecError> {
        if self.live.engine.is_file() {
            let why = "asks for a lock that a session holds, and only Postgres has such locks";
            return Err(fragment.written.error(why));
        }
        self.read_sql(fragment)
    }

    pub(super) fn attempts(&self) -> Result<Attempts, SpecError> {
        let attempts = &self.view.attempts;
        let mut jobs = Attempts {
            left: None,
            column: self.optional_expr(&attempts.column)?,
            max: match &attempts.max {
                None => None,
                Some(Max::Number(number)) => Some(Max::Number(*number)),
                Some(Max::Expr(written)) => self.expr(written, &self.lock)?.map(Max::Expr),
            },
            stalls: self.optional_expr(&attempts.stalls)?.filter(|stalls| match stalls {
                Expr::Sql(sql) => !self.lacks_optional(sql),
                Expr::Column(_) => true,
            }),
            counted: attempts.counted,
            exhausted: attempts.exhausted,
            max_counts: attempts.max_counts,
            direction: attempts.direction,
        };
        let max = match (&jobs.max, &attempts.max) {
            (Some(Max::Expr(expr)), Some(Max::Expr(written))) => (Some(expr), Some(written), "their maximum"),
            _ => (None, None, ""),
        };
        for (counter, written, what) in [
            (jobs.column.as_ref(), attempts.column.as_ref(), "attempts"),
            (jobs.stalls.as_ref(), attempts.stalls.as_ref(), "stalls"),
            max,
        ] {
            if let (Some(Expr::Column(column)), Some(written)) = (counter, written)
                && !may_hold_integers(self.live.engine, &column.type_name)
            {
                return Err(written.error(format!("is {}, and {what} must be an integer", column.type_name)));
            }
        }
        if let Some(counter) = jobs.column.take_if(|_| attempts.direction == Direction::Down) {
            let (Expr::Column(left), Some(written)) = (counter, &attempts.column) else {
                let message = "attempts that are counted down must be a column, and this is an expression";
                return Err(SpecError::whole(self.name, message));
            };
            if jobs.max.is_none() {
                return Err(written.error("is counted down from `max`, and this table has no such column"));
            }
            jobs.column = Some(Expr::Sql(self.used_up(&jobs, &left)));
            jobs.left = Some(left);
        }
        Ok(jobs)
    }

    /// The attempts behind a counter of those that are left. Neither engine fails on any value, and no text becomes a
    /// number.
    fn used_up(&self, attempts: &Attempts, left: &Column) -> Template {
        let (left, max) = (&[Piece::Column(left.clone())][..], &attempts.max_sql()[..]);
        if self.live.engine.has_strict_types() {
            return Template::around("CAST(? AS numeric) - ?", &[max, left]);
        }
        let of_numbers = "CASE WHEN typeof(?) IN ('text', 'blob') THEN ? ELSE ? - ? END";
        Template::around(of_numbers, &[left, left, max, left])
    }

    pub(super) fn rules(&self) -> Result<Rules, SpecError> {
        let rules = &self.view.rules;
        Ok(Rules {
            deadline: self.optional_time(&rules.deadline, &self.lock)?,
            cancel_requested: self.optional_expr(&rules.cancel_requested)?,
            max_runtime: match &rules.max_runtime {
                None => None,
                Some(MaxRuntime::Span(span)) => Some(MaxRuntime::Span(*span)),
                Some(MaxRuntime::Column(written)) => self.seconds(written)?.map(MaxRuntime::Column),
            },
        })
    }

    /// Where run times are read. A table without both instants is no error: nothing but statistics needs them.
    pub(super) fn finished(&self, claim: &ClaimSpec) -> Result<Finished, SpecError> {
        let finished = self.view.finished.as_ref();
        let untold = |why: String| Ok(Finished::Untold(format!("preset {}{why}", self.document.name)));
        if let Some(why) = finished.and_then(|doc| doc.none.as_ref()) {
            return untold(format!(": {why}"));
        }
        let Some((doc, at)) = finished.and_then(|doc| Some((doc, doc.at.as_ref()?))) else {
            return untold(" does not say where the end of a run is kept ([finished] in a mapping)".to_owned());
        };
        let lacks = |column: &str| Ok(Finished::Untold(format!("table {} has no column {column}", self.own.name)));
        let Some(end) = self.time(at, &self.lock)? else { return lacks(&at.text) };
        let started = match &doc.started {
            Some(began) => self.time(began, &self.lock)?,
            None => claim.claimed_at.clone(),
        };
        let started = match (started, doc.started.as_ref().or(self.view.claim.claimed_at.as_ref())) {
            (Some(started), _) => started,
            (None, Some(written)) => return lacks(&written.text),
            (None, None) => return untold(" does not say when a run began".to_owned()),
        };
        let states = match &claim.state {
            StateSource::Column(_) => doc.states.clone(),
            StateSource::Place(_) => Vec::new(),
        };
        let filter = doc.filter.as_ref().map(|filter| self.read_sql(filter)).transpose()?;
        if states.is_empty() && filter.is_none() {
            return Err(at.error("needs `where`: here a row's place is its state, which tells only jobs in flight"));
        }
        Ok(Finished::Kept(Box::new(Runs { states, filter, started, at: end })))
    }

    /// The veto, if this role may read all that it asks.
    fn veto(&self) -> Result<Option<Veto>, SpecError> {
        let Some(doc) = &self.view.claim.veto else { return Ok(None) };
        let fresh = self.read_sql(&doc.fresh)?;
        let tables: Vec<String> = fresh.names().filter(|name| self.document.names_table(name)).cloned().collect();
        let is_read = |name: &String| {
            self.tables.get(name).is_some_and(|table| table.columns.iter().all(|column| column.readable))
        };
        let is_told = tables.iter().all(is_read);
        Ok(is_told.then(|| Veto { fresh: Expr::Sql(fresh), says: doc.says.clone(), tables }))
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
        if self.view.is_only_looked_at {
            return Ok(claim.key.iter().cloned().map(Expr::Column).collect());
        }
        let mut read: Vec<Expr> = Vec::new();
        let state = if let StateSource::Column(column) = &claim.state { Some(column) } else { None };
        read.extend(state.cloned().map(Expr::Column));
        read.extend(owner.id.clone());
        let times = claim.claimed_at.iter().chain(liveness.iter().filter_map(Liveness::column)).chain(&rules.deadline);
        read.extend(times.map(|time| Expr::Column(time.column.clone())));
        for source in liveness {
            let plus = if let Liveness::Lease { plus, .. } = source { plus.as_ref() } else { None };
            let allowed =
                if let Some(SilentAfter::Column(column)) = source.silent_after() { Some(column) } else { None };
            read.extend(plus.into_iter().chain(allowed).cloned().map(Expr::Column));
        }
        if let Some(row) = &owner.row {
            let times = row.heartbeat.iter().chain(&row.started).map(|time| &time.column);
            read.extend([&row.key].into_iter().chain(times).cloned().map(Expr::Column));
        }
        // Whether a job fails or goes back rests on its maximum as much as on its attempts; and on how often it was
        // lost, where a budget of that is asked for.
        let max = if let Some(Max::Expr(max)) = &attempts.max { Some(max) } else { None };
        read.extend(attempts.column.iter().chain(max).chain(&attempts.stalls).chain(&rules.cancel_requested).cloned());
        if let Some(MaxRuntime::Column(column)) = &rules.max_runtime {
            read.push(Expr::Column(column.clone()));
        }
        read.extend(claim.progress.iter().chain(claim.veto.iter().map(|veto| &veto.fresh)).cloned());
        for written in &self.view.claim.precondition {
            read.extend(self.expr(written, &self.lock)?);
        }
        let mut precondition: Vec<Expr> = Vec::new();
        for expr in read {
            if !precondition.contains(&expr) {
                precondition.push(expr);
            }
        }
        Ok(precondition)
    }
}
