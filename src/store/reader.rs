//! The reader for both engines: runs the statements of `sql` in a session and turns rows into claims.

use super::batch::images;
use super::port::{At, FinishedRun, Found, Holders, RowCount, Scan, WantedRuns};
use super::questions::GLANCE;
use super::session::ReadSession;
use super::sql::{self, Statement};
use super::{Interrupt, Reader, StoreError};
use crate::model::{Cell, Claim, FUTURE_TOLERANCE, Key, Owner, QueueRows, Reading, RowImage, Timestamp};
use crate::preset::{Column, Jobs, LiveSchema, Runs};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

/// Keys looked up in one statement.
pub(super) const LOOKUP: usize = 1000;
/// The most unfamiliar states that the database is asked about.
const ODD_STATES: usize = 20;

/// Claims by queue, with the newest time of one.
type InFlight = BTreeMap<Option<String>, (u64, Option<Timestamp>)>;

/// Counts a claim. A queue is cloned only when it comes first.
fn count(claims: &mut InFlight, queue: &Option<String>, at: Option<Timestamp>) {
    match claims.get_mut(queue) {
        Some((rows, newest)) => (*rows, *newest) = (*rows + 1, Timestamp::newest(*newest, at)),
        None => _ = claims.insert(queue.clone(), (1, at)),
    }
}

/// A snapshot in a session.
pub(super) struct SqlReader<S> {
    pub(super) session: S,
    pub(super) at: At,
    pub(super) interrupt: Interrupt,
}

impl<S: ReadSession> Reader for SqlReader<S> {
    fn at(&self) -> &At {
        &self.at
    }

    fn rows(
        &mut self,
        statement: &Statement,
        time: Option<Duration>,
        each: &mut dyn FnMut(&mut [Cell]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        match time {
            Some(time) => self.within(time, |reader| reader.session.stream(statement, each)),
            None => {
                self.session.stream(statement, each)?;
                self.check_interrupt()
            }
        }
    }

    fn explain(&mut self, jobs: &Jobs, statement: &Statement) -> Result<(), StoreError> {
        self.session.explain(jobs, statement)
    }

    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError> {
        self.session.live_schema(names)
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
        Scan { jobs, wanted, detail, most, waiting }: Scan<'_>,
        each: &mut dyn FnMut(Claim) -> ControlFlow<()>,
    ) -> Result<Holders, StoreError> {
        let mut holders = Holders::default();
        let dialect = self.session.dialect();
        let (parts, beside): (Vec<sql::Part>, Vec<Statement>) =
            waiting.iter().flat_map(|(told, _)| sql::waiting(jobs, told, dialect, self.at.now)).unzip();
        let Some(sql::Listing { statement, projection }) = sql::listing(jobs, dialect, &wanted, detail, most) else {
            return Ok(holders);
        };
        let (mut claims, latest) = (InFlight::new(), self.at.now.plus(FUTURE_TOLERANCE));
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

    fn find(&mut self, jobs: &Jobs, ids: &[String]) -> Result<Vec<Found>, StoreError> {
        self.within(Duration::MAX, |reader| reader.find_ids(jobs, ids)).map_err(|error| error.of_expressions(jobs))
    }

    fn find_keys(&mut self, jobs: &Jobs, keys: &[Key]) -> Result<Vec<(Claim, bool)>, StoreError> {
        self.rows_of(jobs, keys).map_err(|error| error.of_expressions(jobs))
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

    fn images(&mut self, jobs: &Jobs, columns: &[&Column], keys: &[Key]) -> Result<Vec<Option<RowImage>>, StoreError> {
        let mut rows = Vec::with_capacity(keys.len());
        for chunk in keys.chunks(LOOKUP) {
            let keys: Vec<&Key> = chunk.iter().collect();
            let mut found = images(&mut self.session, jobs, columns, &keys, None)?;
            rows.extend((0..keys.len()).map(|n| found.remove(&n)));
        }
        Ok(rows)
    }
}

impl<S: ReadSession> SqlReader<S> {
    /// Fails once the operator has interrupted.
    pub(super) fn check_interrupt(&self) -> Result<(), StoreError> {
        if self.interrupt.is_raised() { Err(StoreError::interrupted("reading")) } else { Ok(()) }
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
