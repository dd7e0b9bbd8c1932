//! What a snapshot is asked beyond the port: each a statement, and what its rows come to.

use super::batch::last_sweep;
use super::port::{Detail, Holders, LiveServer, Scan, Wanted};
use super::sql::{self, Occasion, Statement, dialect};
use super::{Reader, StoreError, StoreErrorKind};
use crate::model::{
    Action, Cell, Claim, Engine, Key, LedgerRow, LedgerRun, LockHolder, Loss, Reading, RowError, Timestamp,
};
use crate::preset::{DueSpec, Jobs, LedgerSpec, Shown, Template, is_fresh};
use std::ops::ControlFlow;
use std::time::Duration;

/// Keys that are asked about in one statement.
const CHUNK: usize = 1000;
/// How long it may take to learn what the rows show of their zone, or what stands in the way of a plan.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a question about the waiting side or about locks may take: less than a look at the situation may.
pub(super) const GLANCE: Duration = Duration::from_secs(3);

impl dyn Reader + '_ {
    pub fn now(&self) -> Timestamp {
        self.at().now
    }

    pub fn server(&self) -> Option<&LiveServer> {
        self.at().server.as_ref()
    }

    /// [`Reader::scan_until`] the end.
    pub fn scan(
        &mut self,
        jobs: &Jobs,
        wanted: &Wanted,
        detail: Detail,
        each: &mut dyn FnMut(Claim),
    ) -> Result<Holders, StoreError> {
        self.scan_until(Scan::of(jobs, wanted.clone(), detail), &mut |claim| {
            each(claim);
            ControlFlow::Continue(())
        })
    }

    pub(super) fn all(&mut self, statement: &Statement, time: Option<Duration>) -> Result<Vec<Vec<Cell>>, StoreError> {
        let mut all = Vec::new();
        self.rows(statement, time, &mut |row| {
            all.push(row.iter_mut().map(|cell| std::mem::replace(cell, Cell::Null)).collect());
            ControlFlow::Continue(())
        })?;
        Ok(all)
    }

    /// Its first value.
    fn value(&mut self, statement: &Statement, time: Option<Duration>) -> Result<Option<Cell>, StoreError> {
        Ok(self.all(statement, time)?.into_iter().next().and_then(|row| row.into_iter().next()))
    }

    fn count(&mut self, statement: &Statement, time: Option<Duration>) -> Result<u64, StoreError> {
        let answer = self.value(statement, time)?;
        let not_counted = || StoreError::new(StoreErrorKind::Other, format!("expected a count and got {answer:?}"));
        answer.as_ref().and_then(Cell::as_count).ok_or_else(not_counted)
    }

    /// The answer to a boolean SQL query; NULL and no row count as no.
    pub fn ask(&mut self, sql: &str) -> Result<bool, StoreError> {
        let answer = self.value(&Statement::plain(sql), None)?;
        Ok(!matches!(answer, None | Some(Cell::Null | Cell::Integer(0))))
    }

    /// The rows that a query of the catalog gives, as texts; NULL is an empty one.
    pub fn texts(&mut self, sql: &str) -> Result<Vec<Vec<String>>, StoreError> {
        let text = |cell: &Cell| cell.to_text().unwrap_or_default();
        let rows = self.all(&Statement::plain(sql), None)?;
        Ok(rows.iter().map(|row| row.iter().map(text).collect()).collect())
    }

    /// The rows that a query gives within this time, as they are stored. The snapshot goes on after one that fails.
    pub fn sample(&mut self, sql: &str, time: Duration) -> Result<Vec<Vec<Cell>>, StoreError> {
        self.all(&Statement::plain(sql), Some(time))
    }

    /// The number that a query of the preset gives; NULL, no row and any other value count as 0.
    pub fn number(&mut self, jobs: &Jobs, sql: &Template) -> Result<u64, StoreError> {
        let number = self.value(&sql::question(jobs, dialect(jobs.queue.engine), sql), None)?;
        Ok(number.as_ref().and_then(Cell::as_count).unwrap_or(0))
    }

    /// How many jobs ended, well or not, at or after that instant; `None` where the preset has no such count.
    pub fn ended(&mut self, jobs: &Jobs, since: Timestamp) -> Result<Option<u64>, StoreError> {
        let statement = sql::ended(jobs, dialect(jobs.queue.engine), since);
        statement.map(|statement| self.count(&statement, Some(PATIENCE))).transpose()
    }

    /// What this snapshot shows beyond single claims. No zone is shown if reading that fails, after which the snapshot goes
    /// on, or takes too long.
    pub fn shown(&mut self, jobs: &Jobs) -> Result<Shown, StoreError> {
        let mut shown = Shown::default();
        if jobs.shown_by().iter().any(|times| !times.is_empty()) {
            shown.utc = self.newest_shown(jobs)?.is_some_and(|at| is_fresh(at, self.now()));
        }
        if jobs.judges_missing_owners()
            && let Some(statement) = sql::missing_owners(jobs, dialect(jobs.queue.engine))
        {
            let mut one = |row: &mut [Cell]| {
                let signs = jobs.own_signs().zip(row.iter().skip(1));
                let signs = signs.filter_map(|(time, cell)| time.encodings.decode(cell).at());
                let newest = signs.reduce(|a, b| if b.micros() > a.micros() { b } else { a });
                if let (Some(owner), Some(at)) = (row.first().and_then(Cell::to_text), newest) {
                    let seen = shown.missing_owners.entry(owner).or_insert(at);
                    *seen = Timestamp::newest(Some(*seen), Some(at)).unwrap_or(at);
                }
                ControlFlow::Continue(())
            };
            let read = self.rows(&statement, Some(Duration::MAX), &mut one).map_err(|error| error.of_expressions(jobs));
            match read {
                // The listing reads the same tables, and `check` names all rights together.
                Err(error) if error.kind == StoreErrorKind::Denied => {}
                read => read?,
            }
        }
        Ok(shown)
    }

    /// The newest value of the columns that one application writes. The table is not read from end to end: a time
    /// further ahead in an old row that is not in flight is not seen. One that cannot be read shows nothing.
    fn newest_shown(&mut self, jobs: &Jobs) -> Result<Option<Timestamp>, StoreError> {
        let mut newest = None;
        for (times, statement) in sql::newest_shown(jobs, dialect(jobs.queue.engine)) {
            let rows = match self.all(&statement, Some(PATIENCE)) {
                Err(error) if error.spoils_the_snapshot() => return Err(error),
                Err(_) => return Ok(None),
                Ok(rows) => rows,
            };
            for (time, cell) in rows.iter().flat_map(|row| times.iter().zip(row)) {
                match time.encodings.decode(cell) {
                    Reading::At(at) => newest = Timestamp::newest(newest, Some(at)),
                    Reading::Absent => {}
                    Reading::Unfit { .. } => return Ok(None),
                }
            }
        }
        Ok(newest)
    }

    /// Counts the due jobs of a queue that wait since before that instant, up to [`WaitingSide::MOST`] and one.
    pub fn due_before(&mut self, due: &DueSpec, queue: Option<&str>, since: Timestamp) -> Result<u64, StoreError> {
        let statement = sql::due_before(due, dialect(due.jobs.queue.engine), queue, since, self.now());
        self.count(&statement, Some(GLANCE))
    }

    /// Calls [`key_holders`] on this snapshot.
    pub fn key_holders(&mut self, jobs: &Jobs, keys: &[Key]) -> Result<Vec<(usize, RowError)>, StoreError> {
        let occasion = Occasion::at(self.now(), "");
        key_holders(&mut |asked| self.all(asked, Some(PATIENCE)), jobs, keys, occasion)
    }

    /// Who holds the rows of these keys, or those of their owners, where these have one: such rows come first. Nothing where
    /// the engine does not tell.
    pub fn row_locks(&mut self, jobs: &Jobs, rows: &[(Key, Option<Cell>)]) -> Result<Vec<LockHolder>, StoreError> {
        if !jobs.queue.engine.has_roles() || rows.is_empty() {
            return Ok(Vec::new());
        }
        match self.all(&sql::row_locks(jobs, dialect(jobs.queue.engine), rows), None) {
            Ok(found) => Ok(sql::lock_holders(&found, rows)),
            // A view has no xmax.
            Err(error) if error.code.as_deref() == Some("42703") => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// The transactions that have held locks on the queue's tables for ten minutes, and those of which this role may not
    /// see for how long; nothing where the engine does not tell. The snapshot goes on after an error.
    pub fn long_locks(&mut self, jobs: &Jobs) -> Result<Vec<LockHolder>, StoreError> {
        if !jobs.queue.engine.has_roles() {
            return Ok(Vec::new());
        }
        Ok(sql::lock_holders(&self.all(&sql::long_locks(jobs), Some(GLANCE))?, &[]))
    }

    /// When a sweep of this queue last moved a job, if that was `within` this time; `None` without a ledger too.
    pub fn last_sweep(&mut self, jobs: &Jobs, within: Duration) -> Result<Option<Timestamp>, StoreError> {
        let now = self.now();
        last_sweep(&mut |asked| self.value(asked, None), jobs, now, within)
    }

    /// The newest runs of the ledger, newest first.
    pub fn ledger_runs(&mut self, ledger: &LedgerSpec, limit: u64) -> Result<Vec<LedgerRun>, StoreError> {
        let rows = self.all(&sql::ledger_runs(dialect(ledger.engine), ledger, limit), None)?;
        Ok(rows.iter().filter_map(|row| sql::ledger_run(row)).collect())
    }

    /// The ids of at most `limit` runs of the ledger that begin with `prefix`.
    pub fn ledger_run_ids(
        &mut self,
        ledger: &LedgerSpec,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        let rows = self.all(&sql::ledger_run_ids(dialect(ledger.engine), ledger, prefix, limit), None)?;
        Ok(rows.iter().filter_map(|row| row.first()?.to_text()).collect())
    }

    /// Hands over the rows of one run; of a row that jobdoctor did not write, the id of the job.
    pub fn ledger_rows(
        &mut self,
        ledger: &LedgerSpec,
        run_id: &str,
        each: &mut dyn FnMut(Result<LedgerRow, String>),
    ) -> Result<(), StoreError> {
        self.rows(&sql::ledger_rows(dialect(ledger.engine), ledger, run_id), None, &mut |row| {
            each(sql::ledger_row(row));
            ControlFlow::Continue(())
        })
    }

    /// Hands over each requeue of a job of that table, oldest first.
    pub fn ledger_losses(
        &mut self,
        ledger: &LedgerSpec,
        job_table: &str,
        each: &mut dyn FnMut(Loss),
    ) -> Result<(), StoreError> {
        self.rows(&sql::ledger_losses(dialect(ledger.engine), ledger, job_table), None, &mut |row| {
            sql::ledger_loss(row).into_iter().for_each(&mut *each);
            ControlFlow::Continue(())
        })
    }
}

/// Runs a statement and gives its rows.
pub(super) type Ask<'a> = &'a mut dyn FnMut(&Statement) -> Result<Vec<Vec<Cell>>, StoreError>;

/// The jobs, by their place among the keys, that cannot be requeued because a row that is there holds a unique key
/// already; each with the refusal that the database would give, naming that row.
pub(super) fn key_holders(
    ask: Ask<'_>,
    jobs: &Jobs,
    keys: &[Key],
    occasion: Occasion<'_>,
) -> Result<Vec<(usize, RowError)>, StoreError> {
    let (mut found, dialect) = (Vec::new(), dialect(jobs.queue.engine));
    let Some(requeue) = jobs.actions.get(&Action::Requeue).filter(|_| !keys.is_empty()) else { return Ok(found) };
    let Some(statement) = sql::unique_keys(jobs, dialect) else { return Ok(found) };
    let code = match dialect.engine() {
        Engine::Postgres => "23505",
        Engine::Sqlite => "SQLITE_CONSTRAINT_UNIQUE",
    };
    let indexes = ask(&statement)?;
    for index in indexes.iter().filter_map(|row| sql::unique_key(jobs, dialect, requeue, row)) {
        for (chunk, keys) in keys.chunks(CHUNK).enumerate() {
            let keys: Vec<&Key> = keys.iter().collect();
            for row in ask(&sql::key_holders(jobs, requeue, &index, &keys, occasion))? {
                let [Cell::Integer(n), holder @ ..] = row.as_slice() else { continue };
                let message = format!("job {} has its unique key already", Key(holder.to_vec()));
                let (sqlstate, constraint) = (Some(code.to_owned()), Some(index.constraint.clone()));
                let place = usize::try_from(*n).ok().and_then(|n| n.checked_sub(1));
                let error = RowError { sqlstate, constraint, message };
                found.extend(place.map(|place| (chunk * CHUNK + place, error)));
            }
        }
    }
    Ok(found)
}
