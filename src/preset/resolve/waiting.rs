//! Which jobs are due, and what shows that workers take them. What is missing here makes its part unknown, and nothing
//! fails: the claims are read all the same.

use super::Binder;
use crate::preset::SpecError;
use crate::preset::document::{PlaceDoc, WaitingDoc, WorkersDoc};
use crate::preset::field::Fragment;
use crate::preset::ident::quoted;
use crate::preset::live::LiveIndex;
use crate::preset::queue::*;
use crate::preset::template::{Column, Piece, Template};
use std::sync::Arc;
use std::time::Duration;

/// How long a due job usually waits where nothing is said of it.
const DELAY: Duration = Duration::from_secs(10);

impl Binder<'_> {
    pub(super) fn waiting(&self, queue: &Arc<Queue>, claims: &Jobs) -> Result<WaitingSpec, String> {
        let doc = &self.document.waiting;
        if let Some(why) = &doc.untold {
            return Err(why.clone());
        }
        if doc.due.is_none() && doc.since.is_none() {
            return Err(format!("{} has no [waiting]", self.document.name));
        }
        let due = self.due(queue, doc, claims).map_err(|error| error.to_string())?;
        let staged = |staged: &WaitingDoc| Some((staged.by.clone()?, self.due(queue, staged, claims).ok()?));
        let paused = doc.paused.as_ref().and_then(|paused| self.read_sql(paused).ok());
        let ended = claims.finished.kept();
        Ok(WaitingSpec {
            due,
            staged: doc.staged.as_deref().and_then(staged),
            paused: paused.filter(|paused| self.has_tables(paused)),
            workers: doc.workers.as_ref().and_then(|workers| self.workers(workers).ok()?),
            ends_are_indexed: ended.is_some_and(|runs| self.leads_to(&claims.claim, &runs.at, &runs.states)),
        })
    }

    pub(super) fn conditions(&self, claim: &ClaimSpec) -> Result<Conditions, SpecError> {
        let doc = &self.view.waiting;
        let said = doc.is.iter().chain(&self.document.ended.filter).next();
        if let (StateSource::Column(column), Some(said)) = (&claim.state, said) {
            let why = format!("is for a queue without a state column: here `{}` says it, by [states]", column.name);
            return Err(said.written.error(why));
        }
        let sql = |written: &Option<Fragment>| written.as_ref().map(|sql| self.read_sql(sql)).transpose();
        let alias = self.alias_of(doc);
        let waiting_in = match (&doc.from, &doc.is) {
            (Some(_), Some(is)) if !self.is_own(&alias) && doc.key.is_empty() => {
                let why = "is about another table, and needs `key`: its columns with the job's key";
                return Err(is.written.error(why));
            }
            (Some(from), Some(_)) if !self.is_own(&alias) => Some((self.read_sql(from)?, self.key_of(doc, &alias)?)),
            _ => None,
        };
        Ok(Conditions { waiting: sql(&doc.is)?, waiting_in, ended: sql(&self.document.ended.filter)? })
    }

    /// The alias of the table where jobs wait.
    fn alias_of(&self, doc: &WaitingDoc) -> String {
        let first =
            doc.from.as_ref().and_then(|from| crate::preset::template::aliases_of(&from.sql).into_iter().next());
        first.map_or_else(|| self.lock.clone(), |(alias, _)| alias)
    }

    /// True for the alias of the claims' own table.
    fn is_own(&self, alias: &str) -> bool {
        alias == self.lock && self.table_of(alias).is_some_and(|table| std::ptr::eq(table, self.own))
    }

    fn key_of(&self, doc: &WaitingDoc, alias: &str) -> Result<Vec<Column>, SpecError> {
        doc.key.iter().map(|part| self.column(part, alias)).filter_map(Result::transpose).collect()
    }

    /// What makes a row of that table a job that is due, whatever its time: what waits and is not in flight.
    fn is_due(&self, doc: &WaitingDoc, claim: &ClaimSpec, key: &[Column]) -> Result<Option<Template>, SpecError> {
        let narrowed = doc.filter.as_ref().map(|filter| self.read_sql(filter)).transpose()?;
        let (Some(is), Some(in_flight)) = (&doc.is, &claim.filter) else { return Ok(narrowed) };
        let is = self.read_sql(is)?;
        let said = self.document.claim.filter.as_ref().map_or("", |filter| filter.written.text.as_str());
        let mut joined = self.aliases.keys().filter(|alias| **alias != self.lock);
        let asks_joined =
            joined.any(|alias| said.contains(&format!("{alias}.")) || said.contains(&format!("{}.", quoted(alias))));
        let waits = if self.is_own(&self.alias_of(doc)) && !asks_joined {
            Template::around("(?) AND (?) IS NOT TRUE", &[&is.0, &in_flight.0])
        } else {
            let columns = |key: &[Column]| {
                let one = |column: &Column| [Piece::Column(column.clone()), Piece::Text(", ".to_owned())];
                let mut pieces: Vec<Piece> = key.iter().flat_map(one).collect();
                pieces.pop();
                pieces
            };
            let (key, own) = (columns(key), columns(&claim.key));
            let not_held = "(?) AND (?) NOT IN (SELECT ? FROM ? WHERE (?))";
            Template::around(not_held, &[&is.0, &key, &own, &claim.from.0, &in_flight.0])
        };
        Ok(Some(match narrowed {
            Some(narrowed) => Template::around("? AND (?)", &[&waits.0, &narrowed.0]),
            None => waits,
        }))
    }

    fn due(&self, queue: &Arc<Queue>, doc: &WaitingDoc, claims: &Jobs) -> Result<DueSpec, SpecError> {
        let claim = &claims.claim;
        if doc.from.as_ref().is_some_and(|from| !self.read_sql(from).is_ok_and(|from| self.has_tables(&from))) {
            return Err(SpecError::whole(self.name, "a table of [waiting] is not there"));
        }
        let known = &self.document.states;
        let states = match (&doc.states, &claim.state) {
            (Some(states), _) => states.iter().map(|name| known.waiting_named(name)).collect::<Result<_, _>>()?,
            (None, StateSource::Column(_)) if doc.from.is_none() => known.waiting.clone(),
            _ => Vec::new(),
        };
        let view = self.document.due(doc, &self.lock_table, states);
        let binder = self.another(&view)?;
        let mut jobs = binder.bind(queue, What::Due)?;
        let at = jobs.rules.deadline.clone();
        let since = match (jobs.claim.claimed_at.take(), &doc.since, &at, &claim.created_at) {
            (since, Some(_), ..) => since,
            // A job without a time of its own waits since it was made.
            (_, None, Some(at), Some(created)) if at.encodings == created.encodings => {
                let columns = [&at.column, &created.column]
                    .map(|column| format!("{}.{}", quoted(&column.alias), quoted(&column.name)));
                let name = format!("coalesce({})", columns.join(", "));
                Some(TimeColumn { column: Column { alias: String::new(), name, ..at.column.clone() }, ..at.clone() })
            }
            (_, None, at, _) => at.clone(),
        };
        let since =
            since.ok_or_else(|| SpecError::whole(self.name, "this table does not say since when a job waits"))?;
        let at_may_be_null = at.as_ref().is_some_and(|at| {
            !binder.table_of(&at.column.alias).is_some_and(|live| live.not_null.contains(&at.column.name))
        });
        if doc.key.is_empty() && self.is_own(&binder.lock) {
            // The claim's own rows have its key.
            jobs.claim.key.clone_from(&claim.key);
        } else if jobs.claim.key.len() != claim.key.len() {
            jobs.claim.key.clear();
        }
        jobs.claim.precondition = jobs.claim.key.iter().cloned().map(Expr::Column).collect();
        let is_due = self.is_due(doc, claim, &jobs.claim.key)?;
        jobs.claim.filter = is_due.or_else(|| jobs.claim.filter.take());
        jobs.claim.queue = if doc.queue.is_some() { jobs.claim.queue } else { claim.queue.clone() };
        jobs.claim.claimed_at = Some(since.clone());
        Ok(DueSpec {
            is_ordered: !at_may_be_null && at.as_ref() == Some(&since) && binder.leads_to(claim, &since, &jobs.states),
            at,
            at_may_be_null,
            since,
            delay: doc.delay.unwrap_or(DELAY),
            jobs,
        })
    }

    /// The places that this database has.
    pub(super) fn places(&self, queue: &Arc<Queue>) -> Vec<Jobs> {
        let place = |(name, doc): &(String, PlaceDoc)| {
            let view = self.document.place(name, doc);
            self.read_sql(&doc.from).ok().filter(|from| self.has_tables(from))?;
            self.another(&view).ok()?.bind(queue, What::Elsewhere(doc.held.is_some())).ok()
        };
        self.document.places.iter().filter_map(place).collect()
    }

    fn workers(&self, doc: &WorkersDoc) -> Result<Option<WorkersSpec>, SpecError> {
        let Some(table) = doc.table.as_ref().filter(|table| self.tables.contains_key(&table.text)) else {
            return Ok(None);
        };
        let heartbeat = self.optional_time(&doc.heartbeat, "w")?;
        Ok(Some(WorkersSpec {
            table: table.text.clone(),
            filter: doc.filter.as_ref().map(|filter| self.read_sql(filter)).transpose()?,
            queues: doc.queues.as_ref().map_or(Ok(None), |queues| self.expr(queues, "w"))?,
            heartbeat: match (heartbeat, &doc.silent_after) {
                (Some(heartbeat), Some(SilentAfter::Span(span))) => Some((heartbeat, *span)),
                _ => None,
            },
        }))
    }

    fn has_tables(&self, sql: &Template) -> bool {
        sql.0.iter().all(|piece| match piece {
            Piece::Name(name) => self.tables.contains_key(name) || !self.document.names_table(name),
            _ => true,
        })
    }

    /// True if an index gives the rows of one state, or of all, in order of this time.
    fn leads_to(&self, claim: &ClaimSpec, time: &TimeColumn, states: &[StateValue]) -> bool {
        let Some(live) = self.table_of(&time.column.alias) else { return false };
        let state = claim.own_state().filter(|state| state.alias == time.column.alias).map(|state| state.name.as_str());
        let leads = |index: &LiveIndex| {
            let mut columns = index.columns.iter().map(String::as_str);
            let first = columns.next();
            let is_whole = index.condition.as_ref().is_none_or(|condition| condition.contains("IS NOT NULL"));
            let is_by_state = first == state && states.len() == 1 && columns.next() == Some(&time.column.name);
            is_whole && (first == Some(&time.column.name) || is_by_state)
        };
        live.indexes.iter().any(leads)
    }
}
