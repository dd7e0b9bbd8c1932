//! The waiting side: due jobs, who takes them, and what was taken lately.

use super::builder::{Param, Sql, Statement, Values, column_of, column_sql, ordered};
use super::decode::reading;
use super::dialect::Dialect;
use crate::model::{Cell, FUTURE_TOLERANCE, QueueRows, Reading, Timestamp, WaitingSide, Worker};
use crate::preset::ident::{literal, quoted};
use crate::preset::{
    Column, DueSpec, EARLIEST_MICROS, FURTHEST_EAST, Jobs, Runs, TimeColumn, WaitingSpec, WorkersSpec,
};
use std::time::Duration;

/// A part of the waiting side.
#[derive(Debug, Clone, Copy)]
pub enum Part {
    Due,
    Staged,
    Done,
    Paused,
    Workers,
}

/// The statements of each part that the queue tells, in the order in which they are worth reading. In a zone that is not
/// known, jobs are due that are in any zone, and what counts the last minutes is not asked.
pub fn waiting(
    jobs: &Jobs,
    told: &WaitingSpec,
    dialect: &'static dyn Dialect,
    now: Timestamp,
) -> Vec<(Part, Statement)> {
    let until = now.plus(jobs.unknown_zone_of_due(told).map_or(Duration::ZERO, |_| FURTHEST_EAST));
    let mut parts = vec![(Part::Due, due(&told.due, dialect, until))];
    parts.extend(told.staged.iter().map(|(_, staged)| (Part::Staged, due(staged, dialect, until))));
    parts.extend(told.paused.iter().map(|paused| (Part::Paused, super::question(jobs, dialect, paused))));
    let is_known = |time: &TimeColumn| !jobs.has_unknown_zone(time);
    let beating = told.workers.iter().filter(|of| of.heartbeat.iter().all(|(time, _)| is_known(time)));
    parts.extend(beating.map(|of| (Part::Workers, workers(jobs, of, dialect))));
    let ends = jobs.finished.kept().filter(|runs| told.ends_are_indexed && is_known(&runs.at));
    parts.extend(ends.map(|runs| (Part::Done, done(jobs, runs, dialect, now))));
    parts
}

/// Counts the due jobs by queue, with the oldest time since when one waits, and no more jobs than
/// [`WaitingSide::MOST`] and one. Those that wait longest come first where an index gives that order.
fn due(due: &DueSpec, dialect: &'static dyn Dialect, now: Timestamp) -> Statement {
    let mut sql = Sql::new(dialect);
    let since = ordered(dialect, &due.since);
    let plausible = |sql: &mut Sql<'static>, t: &TimeColumn| {
        Timestamp::from_micros(EARLIEST_MICROS).into_iter().for_each(|earliest| _ = sql.after(t, earliest));
    };
    by_queue(&mut sql, &due.jobs, "min", &due.since, plausible);
    rows_due(&mut sql, due, now);
    if due.is_ordered {
        sql.push(&format!(" ORDER BY {since}"));
    }
    end(sql)
}

/// Counts the due jobs of a queue that wait since before that instant, no further than [`WaitingSide::MOST`] and one.
pub fn due_before(
    due: &DueSpec,
    dialect: &'static dyn Dialect,
    queue: Option<&str>,
    since: Timestamp,
    now: Timestamp,
) -> Statement {
    let mut sql = Sql::new(dialect);
    sql.push("SELECT count(*) FROM (SELECT 1 FROM ");
    rows_due(&mut sql, due, now);
    // What waits since the same second waits no longer.
    sql.push(" AND ").before(&due.since, since.minus(Duration::from_secs(1)));
    match (due.jobs.claim.queue.as_ref().map(|expr| sql.text_of(&due.jobs, expr)), queue) {
        (None, _) => {}
        (Some(text), None) => _ = sql.push(&format!(" AND {text} IS NULL")),
        (Some(text), Some(queue)) => {
            sql.push(&format!(" AND {text} = ")).bind(Param::Cell(Cell::Text(queue.to_owned())));
        }
    }
    sql.push(&format!(" LIMIT {}) AS counted", WaitingSide::MOST + 1));
    sql.finish()
}

/// The FROM item of due jobs, and the condition that makes a row one of them.
fn rows_due(sql: &mut Sql<'static>, due: &DueSpec, now: Timestamp) {
    sql.claims(&due.jobs);
    if let Some(at) = &due.at {
        // Within its unit, an instant is not before itself.
        sql.push(" AND (").before(at, now.plus(Duration::from_micros(1)));
        let column = column_sql(&at.column);
        if due.at_may_be_null {
            sql.push(&format!(" OR {column} IS NULL"));
        }
        // Texts sort behind numbers. A job with a text there is due, at a time that cannot be read.
        if !sql.dialect.engine().has_strict_types() && !at.encodings.is_text() {
            sql.push(&format!(" OR {column} >= ''"));
        }
        let text = sql.dialect.as_text(&column);
        at.sentinels.iter().for_each(|raw| _ = sql.push(&format!(" OR {text} = {}", literal(raw))));
        sql.push(")");
    }
}

fn done(jobs: &Jobs, runs: &Runs, dialect: &'static dyn Dialect, now: Timestamp) -> Statement {
    let mut sql = Sql::new(dialect);
    let ended = ordered(dialect, &runs.at);
    by_queue(&mut sql, jobs, "max", &runs.at, |sql, t| _ = sql.before(t, now.plus(FUTURE_TOLERANCE)));
    sql.runs_from(jobs, runs, jobs.claim.queue.iter().map(column_of));
    sql.push(" AND ").after(&runs.at, now.minus(WaitingSide::LATELY)).push(&format!(" ORDER BY {ended} DESC"));
    end(sql)
}

fn workers(jobs: &Jobs, workers: &WorkersSpec, dialect: &'static dyn Dialect) -> Statement {
    let mut sql = Sql::new(dialect);
    let queues = sql.text_or_null(jobs, workers.queues.as_ref());
    let beat = workers.heartbeat.as_ref().map_or_else(|| "NULL".to_owned(), |(time, _)| column_sql(&time.column));
    sql.push(&format!("SELECT {queues}, {beat} FROM "));
    jobs.queue.tables.get(&workers.table).into_iter().for_each(|table| _ = sql.table(table));
    sql.push(&format!(" AS {}", quoted("w")));
    if let Some(filter) = &workers.filter {
        sql.push(" WHERE ").template(jobs, filter, &Values::default());
    }
    sql.push(&format!(" LIMIT {}", WaitingSide::MOST));
    sql.finish()
}

/// Begins a count by queue of at most so many rows, up to the FROM item, with the oldest or the newest of a time that
/// is plausible.
fn by_queue(
    sql: &mut Sql<'static>,
    jobs: &Jobs,
    which: &str,
    time: &TimeColumn,
    plausible: impl Fn(&mut Sql<'static>, &TimeColumn),
) {
    let queue = sql.text_or_null(jobs, jobs.claim.queue.as_ref());
    let t = Column { alias: String::new(), name: "t".to_owned(), ..time.column.clone() };
    sql.push(&format!("SELECT q, count(*), {which}(t) FILTER (WHERE "));
    plausible(sql, &TimeColumn { column: t, ..time.clone() });
    sql.push(&format!(") FROM (SELECT {queue} AS q, {} AS t FROM ", ordered(sql.dialect, time)));
}

fn end(mut sql: Sql<'static>) -> Statement {
    sql.push(&format!(" LIMIT {}) AS counted GROUP BY 1", WaitingSide::MOST + 1));
    sql.finish()
}

impl Part {
    /// Takes in the rows of this part.
    pub fn read(self, jobs: &Jobs, told: &WaitingSpec, rows: &[Vec<Cell>], side: &mut WaitingSide) {
        let text = |row: &[Cell], n: usize| row.get(n).and_then(Cell::to_text);
        let time = |row: &[Cell], n: usize, time: Option<&TimeColumn>| {
            row.get(n).zip(time).map_or(Reading::Absent, |(cell, time)| reading(time, cell))
        };
        let counted = |of: Option<&TimeColumn>| {
            let rows = rows.iter().map(|row| QueueRows {
                queue: text(row, 0),
                rows: row.get(1).and_then(Cell::as_count).unwrap_or(0),
                at: time(row, 2, of),
            });
            Some(rows.collect())
        };
        match self {
            Part::Due => side.due = counted(Some(&told.due.since)),
            Part::Staged => side.staged = counted(told.staged.as_ref().map(|(_, staged)| &staged.since)),
            Part::Done => side.done = counted(jobs.finished.kept().map(|runs| &runs.at)),
            Part::Paused => side.paused = Some(rows.iter().filter_map(|row| text(row, 0)).collect()),
            Part::Workers => {
                let Some(workers) = &told.workers else { return };
                let worker = |row: &Vec<Cell>| Worker {
                    queues: workers.queues.as_ref().map(|_| text(row, 0).unwrap_or_default()),
                    beat: workers.heartbeat.as_ref().map(|(of, _)| time(row, 1, Some(of))),
                };
                side.workers = Some(rows.iter().map(worker).collect());
            }
        }
    }
}
