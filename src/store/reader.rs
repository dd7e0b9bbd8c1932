//! The reader for both engines: runs the statements of `sql` in a session and turns rows into claims.

use super::batch::{images, last_sweep};
use super::explain::{ends_as_interrupted, explain_actions, key_holders};
use super::port::{Detail, FinishedRun, Found, Holders, LiveServer, RowCount, Wanted, WantedRuns};
use super::session::ReadSession;
use super::sql::{self, Statement};
use super::{Interrupt, Reader, Refusal, StoreError, StoreErrorKind};
use crate::model::{
    Cell, Claim, FUTURE_TOLERANCE, Key, LedgerRow, LedgerRun, LockHolder, Loss, Owner, QueueRows, Reading, RowError,
    RowImage, Timestamp, WaitingSide,
};
use crate::preset::{
    ActionSpec, Column, DueSpec, Jobs, LedgerSpec, LiveSchema, Runs, Shown, Template, WaitingSpec, WrittenAt, is_fresh,
};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

/// Keys looked up in one statement.
pub(super) const LOOKUP: usize = 1000;
/// The most unfamiliar states that the database is asked about.
const ODD_STATES: usize = 20;

/// How long all statements about the waiting side may take: less than a look at the situation may.
const GLANCE: Duration = Duration::from_secs(3);

/// Claims by queue, with the newest time of one.
type InFlight = BTreeMap<Option<String>, (u64, Option<Timestamp>)>;

/// Counts a claim. A queue is cloned only when it comes first.
fn count(claims: &mut InFlight, queue: &Option<String>, at: Option<Timestamp>) {
    match claims.get_mut(queue) {
        Some((rows, newest)) => (*rows, *newest) = (*rows + 1, Timestamp::newest(*newest, at)),
        None => _ = claims.insert(queue.clone(), (1, at)),
    }
}

/// How long it may take to learn what the rows show of their zone, or what stands in the way of a plan.
const PATIENCE: Duration = Duration::from_secs(20);

/// A snapshot in a session.
pub(super) struct SqlReader<S> {
    pub(super) session: S,
    pub(super) now: Timestamp,
    pub(super) server: Option<LiveServer>,
    pub(super) interrupt: Interrupt,
}

impl<S: ReadSession> Reader for SqlReader<S> {
    fn now(&self) -> Timestamp {
        self.now
    }

    fn server(&self) -> Option<&LiveServer> {
        self.server.as_ref()
    }

    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError> {
        self.session.live_schema(names)
    }

    fn ask(&mut self, sql: &str) -> Result<bool, StoreError> {
        let answer = self.session.value(&Statement::plain(sql))?;
        Ok(!matches!(answer, None | Some(Cell::Null | Cell::Integer(0))))
    }

    fn texts(&mut self, sql: &str) -> Result<Vec<Vec<String>>, StoreError> {
        let text = |cell: &Cell| cell.to_text().unwrap_or_default();
        let rows = self.session.query(&Statement::plain(sql))?;
        Ok(rows.iter().map(|row| row.iter().map(text).collect()).collect())
    }

    fn sample(&mut self, sql: &str, time: Duration) -> Result<Vec<Vec<Cell>>, StoreError> {
        self.within(time, |reader| reader.session.query(&Statement::plain(sql)))
    }

    fn number(&mut self, jobs: &Jobs, sql: &Template) -> Result<u64, StoreError> {
        let number = self.session.value(&sql::question(jobs, self.session.dialect(), sql))?;
        Ok(number.as_ref().and_then(Cell::as_count).unwrap_or(0))
    }

    fn ended(&mut self, jobs: &Jobs, since: Timestamp) -> Result<Option<u64>, StoreError> {
        let Some(statement) = sql::ended(jobs, self.session.dialect(), since) else { return Ok(None) };
        self.within(PATIENCE, |reader| reader.session.count(&statement)).map(Some)
    }

    fn states_in_use(&mut self, jobs: &Jobs) -> Result<Vec<Cell>, StoreError> {
        let Some(statement) = sql::states_in_use(jobs, self.session.dialect()) else { return Ok(Vec::new()) };
        let states = self.session.query(&statement)?.into_iter().filter_map(|row| row.into_iter().next());
        let mut meant = Vec::new();
        states.map(|state| self.state_meant(jobs, state, &mut meant)).collect()
    }

    fn count_in_states(&mut self, jobs: &Jobs, states: &[String], most: u64) -> Result<u64, StoreError> {
        match sql::count_in_states(jobs, self.session.dialect(), states, most) {
            Some(statement) => self.session.count(&statement),
            None => Ok(0),
        }
    }

    fn scan_until(
        &mut self,
        jobs: &Jobs,
        wanted: &Wanted,
        detail: Detail,
        most: Option<u64>,
        waiting: Option<(&WaitingSpec, &mut WaitingSide)>,
        each: &mut dyn FnMut(Claim) -> ControlFlow<()>,
    ) -> Result<Holders, StoreError> {
        let mut holders = Holders::default();
        let dialect = self.session.dialect();
        let (parts, beside): (Vec<sql::Part>, Vec<Statement>) =
            waiting.iter().flat_map(|(told, _)| sql::waiting(jobs, told, dialect, self.now)).unzip();
        let Some(sql::Listing { statement, projection }) = sql::listing(jobs, dialect, wanted, detail, most) else {
            return Ok(holders);
        };
        let (mut claims, latest) = (InFlight::new(), self.now.plus(FUTURE_TOLERANCE));
        let is_counted = waiting.is_some() && most.is_none();
        let mut is_whole = true;
        let mut note = |owner: &Option<Owner>, queue: &Option<String>, claimed_at: &Reading| {
            holders.add(owner);
            if is_counted {
                count(&mut claims, queue, claimed_at.at().filter(|at| at.micros() <= latest.micros()));
            }
        };
        let mut one = |row: &mut [Cell]| {
            if !sql::Projection::is_claim(row) {
                let (owner, queue, claimed_at) = projection.counted(row);
                note(&owner, &queue, &claimed_at);
                return ControlFlow::Continue(());
            }
            let claim = projection.claim(row).0;
            note(&claim.owner, &claim.queue, &claim.claimed_at);
            let on = each(claim);
            is_whole &= on.is_continue();
            on
        };
        let time = GLANCE / parts.len().max(1) as u32;
        let answers = self.session.stream_beside(beside, time, &statement, &mut one);
        let answers = answers.map_err(|error| error.of_expressions(jobs))?;
        self.check_interrupt()?;
        if let Some((told, side)) = waiting {
            let queue =
                |(queue, (rows, at))| QueueRows { queue, rows, at: Option::map_or(at, Reading::Absent, Reading::At) };
            side.in_flight = (is_counted && is_whole).then(|| claims.into_iter().map(queue).collect());
            for (part, answer) in parts.into_iter().zip(answers) {
                match answer {
                    Ok(answer) => part.read(jobs, told, &answer.rows, side),
                    Err(error) if error.spoils_the_snapshot() => return Err(error),
                    Err(error) => side.unread.push(error.message),
                }
            }
        }
        Ok(holders)
    }

    fn shown(&mut self, jobs: &Jobs) -> Result<Shown, StoreError> {
        let mut shown = Shown::default();
        if jobs.shown_by().iter().any(|times| !times.is_empty()) {
            let newest = self.within(PATIENCE, |reader| Ok(reader.newest_shown(jobs).ok().flatten()))?;
            shown.utc = newest.is_some_and(|at| is_fresh(at, self.now));
        }
        if jobs.judges_missing_owners()
            && let Some(statement) = sql::missing_owners(jobs, self.session.dialect())
        {
            let mut one = |row: &mut [Cell]| {
                let signs = jobs.own_signs().zip(row.iter().skip(1));
                let signs = signs.filter_map(|(time, cell)| time.encodings.decode(cell).at());
                let newest = signs.reduce(|a, b| if b.micros() > a.micros() { b } else { a });
                if let (Some(owner), Some(at)) = (row.first().and_then(Cell::to_text), newest) {
                    let seen = shown.missing_owners.entry(owner).or_insert(at);
                    *seen = Timestamp::newest(Some(*seen), Some(at)).unwrap_or(at);
                }
            };
            match self.within(Duration::MAX, |reader| reader.stream(jobs, &statement, &mut one)) {
                // The listing reads the same tables, and `check` names all rights together.
                Err(error) if error.kind == StoreErrorKind::Denied => {}
                read => read?,
            }
        }
        Ok(shown)
    }

    fn find(&mut self, jobs: &Jobs, ids: &[String]) -> Result<Vec<Found>, StoreError> {
        self.within(Duration::MAX, |reader| reader.find_ids(jobs, ids)).map_err(|error| error.of_expressions(jobs))
    }

    fn due_before(&mut self, due: &DueSpec, queue: Option<&str>, since: Timestamp) -> Result<u64, StoreError> {
        let now = self.now;
        let statement = sql::due_before(due, self.session.dialect(), (queue, since), now);
        self.within(GLANCE, |reader| reader.session.count(&statement))
    }

    fn find_keys(&mut self, jobs: &Jobs, keys: &[Key]) -> Result<Vec<(Claim, bool)>, StoreError> {
        self.rows_of(jobs, keys).map_err(|error| error.of_expressions(jobs))
    }

    fn key_holders(
        &mut self,
        jobs: &Jobs,
        action: &ActionSpec,
        keys: &[Key],
    ) -> Result<Vec<(usize, RowError)>, StoreError> {
        let now = self.now;
        let keys: Vec<&Key> = keys.iter().collect();
        self.within(PATIENCE, |reader| key_holders(&mut reader.session, jobs, action, &keys, &[], (now, "")))
    }

    fn row_locks(&mut self, jobs: &Jobs, rows: &[(Key, Option<Cell>)]) -> Result<Vec<LockHolder>, StoreError> {
        if !jobs.queue.engine.has_roles() || rows.is_empty() {
            return Ok(Vec::new());
        }
        match self.session.query(&sql::row_locks(jobs, self.session.dialect(), rows)) {
            Ok(found) => Ok(sql::lock_holders(&found, rows)),
            // A view has no xmax.
            Err(error) if error.code.as_deref() == Some("42703") => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn long_locks(&mut self, jobs: &Jobs) -> Result<Vec<LockHolder>, StoreError> {
        if !jobs.queue.engine.has_roles() {
            return Ok(Vec::new());
        }
        let found = self.within(GLANCE, |reader| reader.session.query(&sql::long_locks(jobs)))?;
        Ok(sql::lock_holders(&found, &[]))
    }

    fn explain_actions(&mut self, jobs: &Jobs) -> Result<Vec<Refusal>, StoreError> {
        let now = self.now;
        explain_actions(&mut self.session, jobs, now)
    }

    fn ends_as_interrupted(&mut self, jobs: &Jobs, interrupted: &Jobs) -> Result<Option<WrittenAt>, StoreError> {
        let now = self.now;
        ends_as_interrupted(&mut self.session, jobs, interrupted, now)
    }

    fn in_flight(&mut self, jobs: &Jobs) -> Result<u64, StoreError> {
        let statement = sql::count(jobs, self.session.dialect());
        self.session.count(&statement).map_err(|error| error.of_expressions(jobs))
    }

    fn count_by_owner(&mut self, jobs: &Jobs, each: &mut dyn FnMut(Option<&Owner>, u64)) -> Result<(), StoreError> {
        let statement = sql::count_by_owner(jobs, self.session.dialect());
        self.stream(jobs, &statement, &mut |row| {
            let (owner, claims) = sql::owner_count(jobs, row);
            // An aggregate without groups gives a row even if there are no claims.
            if claims > 0 {
                each(owner.as_ref(), claims);
            }
        })
    }

    fn count_by_state(&mut self, jobs: &Jobs, by_kind: bool) -> Result<Vec<RowCount>, StoreError> {
        let Some(statement) = sql::count_by_state(jobs, self.session.dialect(), by_kind) else { return Ok(Vec::new()) };
        let rows = self.session.query(&statement).map_err(|error| error.of_expressions(jobs))?;
        let mut counts: Vec<RowCount> = rows.iter().map(|row| sql::row_count(row)).collect();
        let mut meant = Vec::new();
        for count in counts.iter_mut().filter(|count| matches!(count.state, Cell::Text(_))) {
            count.state = self.state_meant(jobs, count.state.clone(), &mut meant)?;
        }
        Ok(counts)
    }

    fn finished(
        &mut self,
        jobs: &Jobs,
        runs: &Runs,
        wanted: &WantedRuns,
        each: &mut dyn FnMut(FinishedRun),
    ) -> Result<(), StoreError> {
        let statement = sql::finished(jobs, self.session.dialect(), runs, wanted);
        let mut read = |row: &mut [Cell]| each(sql::finished_run(runs, row));
        match wanted {
            WantedRuns::Since(_) => self.stream(jobs, &statement, &mut read),
            WantedRuns::Newest(_, time) => self.within(*time, |reader| reader.stream(jobs, &statement, &mut read)),
        }
    }

    fn identity(&mut self) -> Result<Option<String>, StoreError> {
        self.session.identity()
    }

    fn images(&mut self, jobs: &Jobs, columns: &[&Column], keys: &[Key]) -> Result<Vec<Option<RowImage>>, StoreError> {
        let mut rows = Vec::with_capacity(keys.len());
        for chunk in keys.chunks(LOOKUP) {
            let keys: Vec<&Key> = chunk.iter().collect();
            let mut found = images(&mut self.session, jobs, columns, &keys, None)?;
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

    fn last_sweep(&mut self, jobs: &Jobs, within: Duration) -> Result<Option<Timestamp>, StoreError> {
        let now = self.now();
        last_sweep(&mut self.session, jobs, now, within)
    }

    fn ledger_rows(
        &mut self,
        ledger: &LedgerSpec,
        run_id: &str,
        each: &mut dyn FnMut(Result<LedgerRow, String>),
    ) -> Result<(), StoreError> {
        let statement = sql::ledger_rows(self.session.dialect(), ledger, run_id);
        self.session.stream(&statement, &mut |row| {
            each(sql::ledger_row(row));
            ControlFlow::Continue(())
        })
    }
}

impl<S: ReadSession> SqlReader<S> {
    /// Fails once the operator has interrupted.
    pub(super) fn check_interrupt(&self) -> Result<(), StoreError> {
        match self.interrupt.is_raised() {
            true => Err(StoreError::new(StoreErrorKind::Interrupted, "interrupted while reading")),
            false => Ok(()),
        }
    }

    fn stream(
        &mut self,
        jobs: &Jobs,
        statement: &Statement,
        each: &mut dyn FnMut(&mut [Cell]),
    ) -> Result<(), StoreError> {
        let mut one = |row: &mut [Cell]| {
            each(row);
            ControlFlow::Continue(())
        };
        self.session.stream(statement, &mut one).map_err(|error| error.of_expressions(jobs))?;
        self.check_interrupt()
    }

    /// Limits some work to this time. The snapshot goes on after it, even if a statement has failed.
    pub(super) fn within<T>(
        &mut self,
        time: Duration,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.session.begin_short(time)?;
        let done = work(self);
        self.session.end_short()?;
        self.check_interrupt()?;
        done
    }

    /// The newest value of the columns that one application writes. The table is not read from end to end: a time
    /// further ahead in an old row that is not in flight is not seen. One that cannot be read shows nothing.
    fn newest_shown(&mut self, jobs: &Jobs) -> Result<Option<Timestamp>, StoreError> {
        let mut newest = None;
        for (times, statement) in sql::newest_shown(jobs, self.session.dialect()) {
            for row in self.session.query(&statement)? {
                for (time, cell) in times.iter().zip(&row) {
                    match time.encodings.decode(cell) {
                        Reading::At(at) => newest = Timestamp::newest(newest, Some(at)),
                        Reading::Absent => {}
                        Reading::Unfit { .. } => return Ok(None),
                    }
                }
            }
        }
        Ok(newest)
    }

    /// The state of the queue that the database takes a stored value for, or the value itself. `known` keeps the
    /// answers.
    fn state_meant(&mut self, jobs: &Jobs, stored: Cell, known: &mut Vec<(Cell, Cell)>) -> Result<Cell, StoreError> {
        if let Some((_, meant)) = known.iter().find(|(other, _)| *other == stored) {
            return Ok(meant.clone());
        }
        if jobs.queue.states.find(&stored).is_some() || known.len() == ODD_STATES {
            return Ok(stored);
        }
        let Some(statement) = sql::state_meant(jobs, self.session.dialect(), &stored) else { return Ok(stored) };
        let answer = self.session.value(&statement)?;
        let meant = answer.filter(|state| !state.is_null()).unwrap_or_else(|| stored.clone());
        known.push((stored, meant.clone()));
        Ok(meant)
    }
}
