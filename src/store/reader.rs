//! The reader that is the same on every engine: streams of rows, projections into claims.

use super::batch::{images, last_sweep};
use super::ids::{keys_of, read_by_server};
use super::rehearsal::{Trial, rehearse};
use super::session::{Session, query_count};
use super::sql::{self, Statement};
use super::{Found, Interrupt, Reader, Refusal, Run, Standby, StoreError, StoreErrorKind, Tally, Wanted, WantedRuns};
use crate::model::{Cell, Claim, Engine, Key, LedgerRow, LedgerRun, Loss, Owner, RowImage, Timestamp};
use crate::preset::{ActionSpec, Column, LedgerSpec, LiveSchema, QueueSpec, Runs, Template};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::Duration;

/// Ids looked up in one statement.
const LOOKUP: usize = 1000;

/// So many states that are spelled like none of the queue's are asked about.
const ODD_STATES: usize = 20;

/// What is done with each row of a stream.
pub(super) type Each<'a> = &'a mut dyn FnMut(&[Cell]) -> ControlFlow<()>;

/// What an engine adds to a [`Session`] so that it can be looked through.
pub(super) trait ReadSession: Session {
    /// Runs a statement and hands over its rows as they come, without keeping them, until it is told to stop.
    fn stream(&mut self, statement: &Statement, each: Each<'_>) -> Result<(), StoreError>;

    /// See [`Reader::up_since`].
    fn up_since(&mut self) -> Result<Option<Timestamp>, StoreError>;

    /// Gives what comes no more than so much time, until [`ReadSession::end_short`].
    fn begin_short(&mut self, time: Duration) -> Result<(), StoreError>;

    /// What comes may take its time again; the snapshot goes on, even if a statement has failed meanwhile.
    fn end_short(&mut self) -> Result<(), StoreError>;

    /// Has the database explain a statement that a writer would send, and never runs it; `is_act` says that it is one that a
    /// writer sends with the queue's schema on its search path.
    fn explain(&mut self, spec: &QueueSpec, statement: &Statement, is_act: bool) -> Result<(), StoreError>;

    /// Tries what an action writes on claims as they are, without writing to the database.
    fn try_out(
        &mut self,
        spec: &QueueSpec,
        moved: &ActionSpec,
        saying: (Timestamp, &str),
    ) -> Result<Vec<Trial>, StoreError>;

    /// See [`Reader::identity`].
    fn identity(&mut self) -> Result<Option<String>, StoreError>;

    /// See [`Reader::live_schema`].
    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError>;
}

/// See the module.
pub(super) struct SqlReader<S> {
    pub(super) session: S,
    pub(super) now: Timestamp,
    pub(super) standby: Option<Standby>,
    pub(super) label: Option<String>,
    pub(super) interrupt: Interrupt,
}

impl<S: ReadSession> Reader for SqlReader<S> {
    fn now(&self) -> Timestamp {
        self.now
    }

    fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    fn standby(&self) -> Option<Standby> {
        self.standby
    }

    fn up_since(&mut self) -> Result<Option<Timestamp>, StoreError> {
        self.session.up_since()
    }

    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError> {
        self.session.live_schema(names)
    }

    fn ask(&mut self, sql: &str) -> Result<bool, StoreError> {
        let rows = self.session.query(&Statement::plain(sql))?;
        let answer = rows.first().and_then(|row| row.first());
        Ok(!matches!(answer, None | Some(Cell::Null | Cell::Integer(0))))
    }

    fn number(&mut self, spec: &QueueSpec, sql: &Template) -> Result<u64, StoreError> {
        let rows = self.session.query(&sql::question(spec, self.session.dialect(), sql))?;
        Ok(match rows.first().and_then(|row| row.first()) {
            Some(Cell::Integer(number)) => u64::try_from(*number).unwrap_or(0),
            _ => 0,
        })
    }

    fn states_in_use(&mut self, spec: &QueueSpec) -> Result<Vec<Cell>, StoreError> {
        let Some(statement) = sql::states_in_use(spec, self.session.dialect()) else { return Ok(Vec::new()) };
        let states = self.session.query(&statement)?.into_iter().filter_map(|row| row.into_iter().next());
        let mut odd = 0;
        states
            .map(|state| {
                odd += usize::from(!spec.states.has(&state));
                if spec.states.has(&state) || odd > ODD_STATES {
                    return Ok(state);
                }
                Ok(self.state_meant(spec, &state)?.unwrap_or(state))
            })
            .collect()
    }

    fn scan(&mut self, spec: &QueueSpec, wanted: &Wanted, each: &mut dyn FnMut(Claim)) -> Result<(), StoreError> {
        let dialect = self.session.dialect();
        let listings = match wanted {
            Wanted::All => sql::all(spec, dialect),
            Wanted::Suspects(cutoffs) => sql::suspects(spec, dialect, cutoffs),
            Wanted::Before(cut) => sql::begun_before(spec, dialect, *cut),
        };
        for listing in &listings {
            let interrupt = self.interrupt.clone();
            let streamed = self.session.stream(&listing.statement, &mut |row| {
                each(listing.projection.claim(row).0);
                if interrupt.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            streamed.map_err(|error| broken_by_a_row(spec, error))?;
            if self.interrupt.is_raised() {
                return Err(StoreError::new(StoreErrorKind::Interrupted, "interrupted while reading"));
            }
        }
        Ok(())
    }

    fn find(&mut self, spec: &QueueSpec, ids: &[String]) -> Result<Vec<Found>, StoreError> {
        let meant = self.meant(spec, ids)?;
        let mut named: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut keys: Vec<Key> = Vec::new();
        for (key, id) in meant {
            let names = named.entry(key.exact()).or_default();
            if names.is_empty() {
                keys.push(key);
            }
            if !names.contains(id) {
                names.push(id.clone());
            }
        }
        let mut found: Vec<Found> = (self.rows_of(spec, &keys)?.into_iter())
            .map(|(claim, in_flight)| {
                let names = named.get(&claim.key.exact()).cloned().unwrap_or_default();
                Found { claim, in_flight, names }
            })
            .collect();
        // An id means the jobs that are printed so; only where there is none, one that can be spelled so too.
        let printed: BTreeSet<String> = found.iter().map(|found| found.claim.key.to_string()).collect();
        for Found { claim, names, .. } in &mut found {
            names.retain(|name| !printed.contains(name) || *name == claim.key.to_string());
        }
        found.retain(|found| !found.names.is_empty());
        Ok(found)
    }

    fn find_keys(&mut self, spec: &QueueSpec, keys: &[Key]) -> Result<Vec<(Claim, bool)>, StoreError> {
        self.rows_of(spec, keys)
    }

    fn rehearse(&mut self, spec: &QueueSpec, reason: &str) -> Result<Vec<Refusal>, StoreError> {
        let now = self.now;
        rehearse(&mut self.session, spec, now, reason)
    }

    fn in_flight(&mut self, spec: &QueueSpec) -> Result<u64, StoreError> {
        let statement = sql::count(spec, self.session.dialect());
        query_count(&mut self.session, &statement)
    }

    fn holders(&mut self, spec: &QueueSpec, each: &mut dyn FnMut(Option<Owner>, u64)) -> Result<(), StoreError> {
        let statement = sql::holders(spec, self.session.dialect());
        let interrupt = self.interrupt.clone();
        self.session.stream(&statement, &mut |row| {
            let (owner, claims) = sql::holder(spec, row);
            // An aggregate without groups gives a row even of nothing.
            if claims > 0 {
                each(owner, claims);
            }
            if interrupt.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if self.interrupt.is_raised() {
            return Err(StoreError::new(StoreErrorKind::Interrupted, "interrupted while reading"));
        }
        Ok(())
    }

    fn tally(&mut self, spec: &QueueSpec, by_kind: bool) -> Result<Vec<Tally>, StoreError> {
        let Some(tally) = sql::tally(spec, self.session.dialect(), by_kind) else { return Ok(Vec::new()) };
        let mut tallies: Vec<Tally> = self.session.query(&tally.statement)?.iter().map(|row| tally.read(row)).collect();
        let mut meant: Vec<(Cell, Option<Cell>)> = Vec::new();
        for tally in
            tallies.iter_mut().filter(|tally| matches!(tally.state, Cell::Text(_)) && !spec.states.has(&tally.state))
        {
            let known = meant.iter().find(|(stored, _)| *stored == tally.state).map(|(_, state)| state.clone());
            let state = match known {
                Some(state) => state,
                None if meant.len() == ODD_STATES => None,
                None => {
                    let state = self.state_meant(spec, &tally.state)?;
                    meant.push((tally.state.clone(), state.clone()));
                    state
                }
            };
            tally.state = state.unwrap_or_else(|| tally.state.clone());
        }
        Ok(tallies)
    }

    fn finished(
        &mut self,
        spec: &QueueSpec,
        runs: &Runs,
        wanted: &WantedRuns,
        each: &mut dyn FnMut(Run),
    ) -> Result<(), StoreError> {
        let listing = sql::finished(spec, self.session.dialect(), runs, wanted);
        let interrupt = self.interrupt.clone();
        let mut stream = |session: &mut S| {
            session.stream(&listing.statement, &mut |row| {
                each(listing.read(row));
                if interrupt.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
        };
        match wanted {
            WantedRuns::Since(_) => stream(&mut self.session)?,
            WantedRuns::Newest(_, time) => {
                self.session.begin_short(*time)?;
                let streamed = stream(&mut self.session);
                self.session.end_short()?;
                streamed?;
            }
        }
        if self.interrupt.is_raised() {
            return Err(StoreError::new(StoreErrorKind::Interrupted, "interrupted while reading"));
        }
        Ok(())
    }

    fn identity(&mut self) -> Result<Option<String>, StoreError> {
        self.session.identity()
    }

    fn images(
        &mut self,
        spec: &QueueSpec,
        columns: &[&Column],
        keys: &[Key],
    ) -> Result<Vec<Option<RowImage>>, StoreError> {
        let mut rows = Vec::with_capacity(keys.len());
        for chunk in keys.chunks(LOOKUP) {
            let keys: Vec<&Key> = chunk.iter().collect();
            let mut found = images(&mut self.session, spec, columns, &keys, None)?;
            rows.extend((0..keys.len()).map(|n| found.remove(&n)));
        }
        Ok(rows)
    }

    fn ledger_runs(&mut self, ledger: &LedgerSpec, limit: u64) -> Result<Vec<LedgerRun>, StoreError> {
        let statement = sql::ledger_runs(self.session.dialect(), ledger, limit);
        Ok(self.session.query(&statement)?.iter().filter_map(|row| sql::ledger_run(row)).collect())
    }

    fn ledger_run_ids(&mut self, ledger: &LedgerSpec, prefix: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        let statement = sql::ledger_run_ids(self.session.dialect(), ledger, prefix, limit);
        let rows = self.session.query(&statement)?;
        Ok(rows.iter().filter_map(|row| row.first()?.to_text()).collect())
    }

    fn ledger_losses(
        &mut self,
        ledger: &LedgerSpec,
        job_table: &str,
        each: &mut dyn FnMut(Loss),
    ) -> Result<(), StoreError> {
        let statement = sql::ledger_losses(self.session.dialect(), ledger, job_table);
        self.session.stream(&statement, &mut |row| {
            sql::ledger_loss(row).into_iter().for_each(&mut *each);
            ControlFlow::Continue(())
        })
    }

    fn last_sweep(&mut self, spec: &QueueSpec, within: Duration) -> Result<Option<Timestamp>, StoreError> {
        let now = self.now();
        last_sweep(&mut self.session, spec, now, within)
    }

    fn ledger_rows(
        &mut self,
        ledger: &LedgerSpec,
        run_id: &str,
        each: &mut dyn FnMut(LedgerRow),
    ) -> Result<(), StoreError> {
        let statement = sql::ledger_rows(self.session.dialect(), ledger, run_id);
        self.session.stream(&statement, &mut |row| {
            sql::ledger_row(row).into_iter().for_each(&mut *each);
            ControlFlow::Continue(())
        })
    }
}

/// A listing was prepared, so what fails in it is a value of a row; the database does not say which.
fn broken_by_a_row(spec: &QueueSpec, error: StoreError) -> StoreError {
    let computed = spec.computed();
    if !matches!(error.kind, StoreErrorKind::RowData | StoreErrorKind::Unfit | StoreErrorKind::Other)
        || computed.is_empty()
        || error.hint.is_some()
    {
        return error;
    }
    let hint = format!(
        "if a value in a row is what breaks it, one of these of preset {} must give NULL there instead of failing: {}",
        spec.preset,
        computed.join(", ")
    );
    error.hint(hint)
}

impl<S: ReadSession> SqlReader<S> {
    fn state_meant(&mut self, spec: &QueueSpec, stored: &Cell) -> Result<Option<Cell>, StoreError> {
        let Some(statement) = sql::state_meant(spec, self.session.dialect(), stored) else { return Ok(None) };
        let state = self.session.query(&statement)?.into_iter().next().and_then(|row| row.into_iter().next());
        Ok(state.filter(|state| !state.is_null()))
    }

    /// The keys that these ids may mean, each with its id.
    fn meant<'i>(&mut self, spec: &QueueSpec, ids: &'i [String]) -> Result<Vec<(Key, &'i String)>, StoreError> {
        let engine = self.session.dialect().engine();
        let columns = &spec.claim.key;
        let keys = ids.iter().flat_map(|id| keys_of(engine, columns, id).into_iter().map(move |key| (key, id)));
        let meant: Vec<_> = keys.collect();
        if engine == Engine::Sqlite || columns.iter().all(|column| read_by_server(column).is_none()) {
            return Ok(meant);
        }
        let mut read = Vec::new();
        for chunk in meant.chunks(LOOKUP) {
            self.read_by_server(columns, chunk, &mut read)?;
        }
        Ok(read)
    }

    /// Has the server read the keys of a type that it alone can read. One that is no value of its type is an error for all in
    /// the statement, so the halves are tried then.
    fn read_by_server<'i>(
        &mut self,
        columns: &[Column],
        keys: &[(Key, &'i String)],
        read: &mut Vec<(Key, &'i String)>,
    ) -> Result<(), StoreError> {
        let statement = sql::canonical(columns, keys.iter().map(|(key, _)| key));
        self.session.begin_short(Duration::MAX)?;
        let rows = self.session.query(&statement);
        self.session.end_short()?;
        match rows {
            Err(error) if error.kind == StoreErrorKind::RowData => {
                let half = keys.len() / 2;
                let (first, second) = keys.split_at(half);
                if half > 0 {
                    self.read_by_server(columns, first, read)?;
                    self.read_by_server(columns, second, read)?;
                }
                Ok(())
            }
            Err(error) => Err(error),
            Ok(rows) => {
                for row in rows {
                    let Some((Cell::Integer(n), cells)) = row.split_first() else { continue };
                    let key = usize::try_from(n - 1).ok().and_then(|n| keys.get(n));
                    read.extend(key.map(|(_, id)| (Key(cells.to_vec()), *id)));
                }
                Ok(())
            }
        }
    }

    fn rows_of(&mut self, spec: &QueueSpec, keys: &[Key]) -> Result<Vec<(Claim, bool)>, StoreError> {
        let mut found = Vec::new();
        for chunk in keys.chunks(LOOKUP) {
            let keys: Vec<&Key> = chunk.iter().collect();
            let (statement, projection) = sql::find(spec, self.session.dialect(), &keys);
            let rows = self.session.query(&statement)?;
            let claims = rows.iter().map(|row| projection.claim(row));
            // A collation or an affinity may find what is another key, and may be in another chunk.
            let wanted: BTreeSet<String> = chunk.iter().map(Key::exact).collect();
            found.extend(claims.filter(|(claim, _)| wanted.contains(&claim.key.exact())));
            if self.interrupt.is_raised() {
                return Err(StoreError::new(StoreErrorKind::Interrupted, "interrupted while reading"));
            }
        }
        Ok(found)
    }
}
