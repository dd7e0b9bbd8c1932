//! What makes a row a claim, who holds it, how its life is told, and everything that its precondition must cover.

use super::Binder;
use super::aliases::sub_selects_read;
use super::columns::{literal, may_hold_integers};
use super::fragments::Within;
use crate::model::Engine;
use crate::preset::SpecError;
use crate::preset::document::{By, ClaimFrom, LivenessDoc, MaxDoc, MaxRuntimeDoc, SilentAfterDoc};
use crate::preset::fields::Written;
use crate::preset::live::LiveTable;
use crate::preset::queue::*;
use crate::preset::template::Template;

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
                ClaimFrom::From(written, sql) => self.expand(written, sql, Within::Snapshot)?,
            },
            lock: self.lock.clone(),
            lock_table: self.lock_table.clone(),
            may_repeat: matches!(claim.from, ClaimFrom::From(..)),
            key,
            state,
            filter: claim
                .filter
                .as_ref()
                .map(|(written, sql)| self.expand(written, sql, Within::Snapshot))
                .transpose()?,
            queue: self.optional_expr(&claim.queue)?,
            kind: self.optional_expr(&claim.kind)?,
            claimed_at: self.optional_time(&claim.claimed_at, &self.lock)?,
            progress: {
                let columns = claim.progress.iter().map(|written| self.expr(written, &self.lock));
                columns.filter_map(Result::transpose).collect::<Result<_, _>>()?
            },
            precondition: Vec::new(),
            guard: claim.guard.as_ref().map(|(written, sql)| self.lock_sql(written, sql)).transpose()?,
        })
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
    fn lock_sql(&self, written: &Written, sql: &Template) -> Result<Template, SpecError> {
        if self.live.engine != Engine::Postgres {
            return Err(written.error("asks for a lock that a session holds, and only Postgres has such locks"));
        }
        self.expand(written, sql, Within::Snapshot)
    }

    pub(super) fn owner(&self) -> Result<OwnerSpec, SpecError> {
        let owner = &self.document.owner;
        let row = match &owner.table {
            None => None,
            Some(table) => {
                let mut matches = Vec::new();
                for (name, written) in &owner.matches {
                    let column = self.owner_column(table, name)?;
                    let equals = self.expr(written, &self.lock)?;
                    matches.push((column, equals.ok_or_else(|| written.error("a matched column cannot be optional"))?));
                }
                let matched: Vec<&str> = matches.iter().map(|(column, _)| column.name.as_str()).collect();
                let is_unique =
                    owner.on.is_none() && self.tables.get(&table.text).is_some_and(|live| live.is_unique(&matched));
                let live = self.tables.get(&table.text).filter(|live| !live.is_view && owner.on.is_none());
                if let Some(live) = live.filter(|live| !live.is_unique(&matched)) {
                    // Two rows would be two heartbeats of one owner, and the older one would kill what the newer keeps alive.
                    return Err(table.error(format!(
                        "table {} has no unique index on {}, so an owner may have several rows there; match a unique \
                         column, or a view that has the newest row of each owner",
                        live.name,
                        matched.join(", ")
                    )));
                }
                let key = match (&owner.key, matches.first()) {
                    (Some(key), _) => self.owner_column(key, &key.text)?,
                    (None, Some((column, _))) => column.clone(),
                    (None, None) => return Err(table.error("needs `key`")),
                };
                Some(OwnerRowSpec {
                    table: table.text.clone(),
                    on: match &owner.on {
                        Some(sql) => JoinOn::Sql(self.expand(table, sql, Within::Snapshot)?),
                        None => JoinOn::Match(matches),
                    },
                    key,
                    is_unique,
                    can_lock: !self.tables.get(&table.text).is_some_and(|live| live.is_derived),
                    heartbeat: self.optional_time(&owner.heartbeat, "o")?,
                    started: self
                        .optional_time(&owner.started, "o")?
                        .map(|time| TimeColumn { encodings: time.encodings.earliest(), ..time }),
                    missing: owner.missing,
                    unset: owner.unset,
                })
            }
        };
        Ok(OwnerSpec {
            id: self.optional_expr(&owner.id)?,
            name: self.optional_expr(&owner.name)?,
            host: match &owner.host {
                Some(host) => self.expr(host, if owner.table.is_some() { "o" } else { &self.lock })?,
                None => None,
            },
            host_spelling: owner.host_spelling,
            row,
        })
    }

    fn owner_column(&self, place: &Written, name: &str) -> Result<Column, SpecError> {
        let bare = self.name_of("o", name.strip_prefix("o.").unwrap_or(name));
        match self.lookup("o", &bare) {
            Some(column) => Ok(column),
            None => Err(self.no_column(place, "o", &bare)),
        }
    }

    pub(super) fn liveness(&self) -> Result<Vec<Liveness>, SpecError> {
        let mut sources = Vec::new();
        for source in &self.document.claim.liveness {
            if let Some(source) = self.source(source)? {
                sources.push(source);
            }
        }
        Ok(sources)
    }

    /// `None` if the source's column is an optional one that this table lacks.
    fn source(&self, doc: &LivenessDoc) -> Result<Option<Liveness>, SpecError> {
        let silent_after = match &doc.silent_after {
            None => SilentAfter::Required,
            Some(SilentAfterDoc::Required) => SilentAfter::Required,
            Some(SilentAfterDoc::Span(span)) => SilentAfter::Span(*span),
            Some(SilentAfterDoc::Column(written)) => match self.seconds(written)? {
                Some(column) => SilentAfter::Column(column),
                None => return Ok(None),
            },
        };
        if let (Some((written, sql)), Some(free)) = (&doc.held, doc.free) {
            let actions = self.document.actions.iter().any(|(_, doc)| doc.refused.is_none());
            if actions && self.document.claim.guard.is_none() {
                // No precondition covers a lock: a worker may take it after the verify without a change to the row.
                return Err(written.error("needs a `guard` in [claim] that takes the same lock, or is refused it"));
            }
            return Ok(Some(Liveness::Lock { held: self.lock_sql(written, sql)?, free }));
        }
        if doc.by == By::Owner {
            return Ok(Some(Liveness::Owner { silent_after }));
        }
        let Some(column) = self.optional_time(&doc.column, &self.lock)? else { return Ok(None) };
        Ok(Some(match doc.by {
            By::Lease => Liveness::Lease {
                column,
                plus: match &doc.plus {
                    Some(plus) => self.seconds(plus)?,
                    None => None,
                },
            },
            By::Heartbeat => Liveness::Heartbeat { column, silent_after },
            By::Age | By::Owner | By::Lock => Liveness::Age { column, silent_after },
        }))
    }

    /// What shows life in rows that cannot be locked; see [`QueueSpec::unlocked`]. The time of the claim is none of it: a claim is
    /// made by a write to the job's own row.
    ///
    /// # Errors
    /// Where that is a materialized view: it does not show what is, but what was at its last refresh.
    pub(super) fn unlocked(&self, liveness: &[Liveness]) -> Result<Option<String>, SpecError> {
        let claim = &self.document.claim;
        let place = match &claim.from {
            ClaimFrom::Table(table) => table,
            ClaimFrom::From(written, _) => written,
        };
        let mut unlocked = None;
        if let Some(table) = &self.document.owner.table
            && let Some(live) = self.tables.get(&table.text)
        {
            is_current(table, live)?;
            unlocked = live.is_view.then(|| format!("view {}", live.name));
        }
        for column in liveness.iter().filter_map(Liveness::column).map(|time| &time.column) {
            // The owner's own row was dealt with above.
            if column.alias == self.lock || column.alias == "o" {
                continue;
            }
            let read: Vec<&LiveTable> = match self.aliases.get(&column.alias).copied().flatten() {
                Some(live) => vec![live],
                None => match sub_selects_read(&self.from) {
                    Some(names) => names.iter().filter_map(|name| self.tables.get(*name).copied()).collect(),
                    None => continue,
                },
            };
            read.into_iter().try_for_each(|live| is_current(place, live))?;
            unlocked.get_or_insert_with(|| format!("{}.{}", column.alias, column.name));
        }
        Ok(unlocked.filter(|_| self.live.engine == Engine::Postgres))
    }

    pub(super) fn attempts(&self) -> Result<Attempts, SpecError> {
        let attempts = &self.document.attempts;
        let spec = Attempts {
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
        Ok(spec)
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

    /// What authors do not repeat: everything that a verdict reads is in the precondition.
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

/// Refuses a materialized view where signs of life are read.
fn is_current(written: &Written, live: &LiveTable) -> Result<(), SpecError> {
    if !live.is_materialized {
        return Ok(());
    }
    Err(written.error(format!(
        "{} is a materialized view or reads one, and shows what was true at the last refresh: a living worker would look dead; \
         read the tables behind it, or a plain view of them",
        live.name
    )))
}
