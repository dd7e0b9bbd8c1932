//! The ledger: how it is made, written and read.

use super::builder::{Param, Sql, Statement};
use super::dialect::{Dialect, Postgres, Sqlite};
use crate::model::{Cell, Engine, LedgerRow, LedgerRun, Loss, Timestamp};
use crate::preset::ident::quoted;
use crate::preset::{LEDGER, LEDGER_COLUMNS, LedgerKind, LedgerSpec, Table};

/// Rows an INSERT: engines have limits on the number of bound values.
const ROWS: usize = 100;

/// The statements that make a ledger in that schema.
pub fn ledger_schema(engine: Engine, schema: &str) -> Vec<String> {
    let dialect: &dyn Dialect = match engine {
        Engine::Postgres => &Postgres,
        Engine::Sqlite => &Sqlite,
    };
    let table = dialect.table(&Table { schema: schema.to_owned(), name: LEDGER.to_owned() });
    let table = if engine == Engine::Sqlite { quoted(LEDGER) } else { table };
    let columns: Vec<String> = LEDGER_COLUMNS
        .iter()
        .map(|(name, kind)| format!("    {:<18} {}", quoted(name), declared(engine, *kind)))
        .collect();
    vec![
        format!("CREATE TABLE {table} (\n{},\n    PRIMARY KEY (run_id, job_key)\n)", columns.join(",\n")),
        format!("CREATE INDEX {} ON {table} (job_table, job_id)", quoted(&format!("{LEDGER}_job"))),
    ]
}

fn declared(engine: Engine, kind: LedgerKind) -> &'static str {
    match (engine, kind) {
        (Engine::Postgres, LedgerKind::Instant) => "timestamptz NOT NULL",
        (Engine::Sqlite, LedgerKind::Instant) | (_, LedgerKind::Text) => "text NOT NULL",
        (_, LedgerKind::MaybeText) => "text",
        (Engine::Postgres, LedgerKind::MaybeInteger) => "bigint",
        (Engine::Sqlite, LedgerKind::MaybeInteger) => "integer",
    }
}

/// Each time that a job of a table was given back to the queue, oldest first; a run that took another back counts against it,
/// and one that took that back for it again.
pub fn ledger_losses(dialect: &dyn Dialect, ledger: &LedgerSpec, job_table: &str) -> Statement {
    let mut sql = Sql::new(dialect);
    let table = dialect.table(&ledger.table);
    sql.push(&format!(
        "SELECT {}, {}, l.attempts_before, l.attempts_after, CASE WHEN l.undoes IS NULL OR EXISTS (SELECT 1 FROM {table} AS u \
         WHERE u.run_id = l.undoes AND u.undoes IS NOT NULL) THEN 0 ELSE 1 END FROM {table} AS l WHERE l.job_table = ",
        dialect.as_text("l.job_key"),
        dialect.as_text("l.kind"),
    ));
    sql.bind(Param::Cell(Cell::Text(job_table.to_owned())));
    sql.push(&format!(" AND l.{} = 'requeue' ORDER BY l.moved_at, l.run_id", quoted("action")));
    sql.finish()
}

/// A loss as it comes back; `None` if somebody has written something else there.
pub fn ledger_loss(cells: &[Cell]) -> Option<Loss> {
    let [key, kind, before, after, Cell::Integer(taken_back)] = cells else { return None };
    let number = |cell: &Cell| match cell {
        Cell::Integer(number) => Some(*number),
        _ => None,
    };
    Some(Loss {
        key: serde_json::from_str(&key.to_text()?).ok()?,
        kind: kind.to_text(),
        attempts_before: number(before),
        attempts_after: number(after),
        taken_back: *taken_back != 0,
    })
}

/// When that command last moved a job of that table, in runs named like that or later, and no later than `until`.
pub fn ledger_last(
    dialect: &dyn Dialect,
    ledger: &LedgerSpec,
    command: &str,
    job_table: &str,
    runs_from: &str,
    until: Timestamp,
) -> Statement {
    let mut sql = Sql::new(dialect);
    sql.push(&format!("SELECT max(l.moved_at) FROM {} AS l", dialect.table(&ledger.table)));
    // A run is named after its time, so that the primary key leaves out all that came long before.
    let conditions =
        [(" WHERE l.run_id >= ", runs_from), (" AND l.command = ", command), (" AND l.job_table = ", job_table)];
    for (condition, value) in conditions {
        sql.push(condition);
        sql.bind(Param::Cell(Cell::Text(value.to_owned())));
    }
    sql.push(" AND l.moved_at <= ");
    sql.bind(Param::Cell(Cell::Text(until.to_string())));
    if let (Engine::Postgres, Some(cast)) = (dialect.engine(), cast(LedgerKind::Instant)) {
        sql.push(cast);
    }
    sql.finish()
}

/// The statements that add rows.
pub fn ledger_inserts(dialect: &dyn Dialect, ledger: &LedgerSpec, rows: &[LedgerRow]) -> Vec<Statement> {
    let names: Vec<String> = LEDGER_COLUMNS.iter().map(|(name, _)| quoted(name)).collect();
    let insert = |rows: &[LedgerRow]| {
        let mut sql = Sql::new(dialect);
        sql.push(&format!("INSERT INTO {} ({}) VALUES ", dialect.table(&ledger.table), names.join(", ")));
        for (n, row) in rows.iter().enumerate() {
            sql.push(if n > 0 { ", (" } else { "(" });
            for (n, (cell, (_, kind))) in cells(row).into_iter().zip(LEDGER_COLUMNS).enumerate() {
                if n > 0 {
                    sql.push(", ");
                }
                sql.bind(Param::Cell(cell));
                if let (Engine::Postgres, Some(cast)) = (dialect.engine(), cast(kind)) {
                    sql.push(cast);
                }
            }
            sql.push(")");
        }
        sql.finish()
    };
    rows.chunks(ROWS).map(insert).collect()
}

/// A NULL is bound as text.
fn cast(kind: LedgerKind) -> Option<&'static str> {
    match kind {
        LedgerKind::Text | LedgerKind::MaybeText => None,
        LedgerKind::MaybeInteger => Some("::bigint"),
        LedgerKind::Instant => Some("::timestamptz"),
    }
}

fn cells(row: &LedgerRow) -> [Cell; 26] {
    let text = |text: &String| Cell::Text(text.clone());
    let maybe = |text: &Option<String>| text.clone().map_or(Cell::Null, Cell::Text);
    let number = |number: Option<i64>| number.map_or(Cell::Null, Cell::Integer);
    [
        text(&row.run_id),
        Cell::Text(row.moved_at.to_string()),
        text(&row.command),
        text(&row.version),
        maybe(&row.actor),
        maybe(&row.host),
        maybe(&row.reason),
        maybe(&row.undoes),
        text(&row.preset),
        text(&row.job_table),
        text(&row.job_id),
        text(&row.job_key),
        text(&row.key_columns),
        maybe(&row.queue),
        maybe(&row.kind),
        maybe(&row.owner),
        text(&row.action),
        text(&row.state_before),
        text(&row.state_after),
        number(row.attempts_before),
        number(row.attempts_after),
        text(&row.rules),
        maybe(&row.before),
        maybe(&row.after),
        maybe(&row.fingerprint_before),
        maybe(&row.fingerprint_after),
    ]
}

/// The columns as they are read, all of them behind the alias `l`.
fn columns(dialect: &dyn Dialect) -> String {
    let column = |(name, kind): &(&str, LedgerKind)| match kind {
        LedgerKind::MaybeInteger => format!("l.{}", quoted(name)),
        LedgerKind::Instant => format!("l.{}", quoted(name)),
        LedgerKind::Text | LedgerKind::MaybeText => dialect.as_text(&format!("l.{}", quoted(name))),
    };
    LEDGER_COLUMNS.iter().map(column).collect::<Vec<_>>().join(", ")
}

/// The runs, newest first: any one row of each, how many it has, and how many of them can be taken back.
pub fn ledger_runs(dialect: &dyn Dialect, ledger: &LedgerSpec, limit: u64) -> Statement {
    let table = dialect.table(&ledger.table);
    Statement::plain(format!(
        "SELECT {}, r.moved, r.undoable FROM (SELECT run_id, min(job_key) AS job_key, count(*) AS moved, \
         count(fingerprint_after) AS undoable FROM {table} GROUP BY run_id ORDER BY run_id DESC LIMIT {limit}) AS r \
         JOIN {table} AS l ON l.run_id = r.run_id AND l.job_key = r.job_key ORDER BY l.run_id DESC",
        columns(dialect)
    ))
}

/// The ids of runs that begin like that.
pub fn ledger_run_ids(dialect: &dyn Dialect, ledger: &LedgerSpec, prefix: &str, limit: usize) -> Statement {
    let mut sql = Sql::new(dialect);
    let id = dialect.as_text("l.run_id");
    sql.push(&format!("SELECT DISTINCT {id} FROM {} AS l WHERE substr(l.run_id, 1, ", dialect.table(&ledger.table)));
    sql.push(&format!("{}) = ", prefix.chars().count()));
    sql.bind(Param::Cell(Cell::Text(prefix.to_owned())));
    sql.push(&format!(" ORDER BY 1 LIMIT {limit}"));
    sql.finish()
}

/// All rows of one run, and of the runs that take it back the ids.
pub fn ledger_rows(dialect: &dyn Dialect, ledger: &LedgerSpec, run_id: &str) -> Statement {
    let mut sql = Sql::new(dialect);
    sql.push(&format!("SELECT {} FROM {} AS l WHERE l.run_id = ", columns(dialect), dialect.table(&ledger.table)));
    sql.bind(Param::Cell(Cell::Text(run_id.to_owned())));
    sql.push(" ORDER BY l.job_key");
    sql.finish()
}

/// A row as it comes back; `None` if somebody has written something else there.
pub fn ledger_row(cells: &[Cell]) -> Option<LedgerRow> {
    let at = |name: &str| {
        let n = LEDGER_COLUMNS.iter().position(|(known, _)| *known == name)?;
        cells.get(n)
    };
    let maybe = |name: &str| at(name).and_then(Cell::to_text);
    let number = |name: &str| match at(name) {
        Some(Cell::Integer(number)) => Some(*number),
        _ => None,
    };
    Some(LedgerRow {
        run_id: maybe("run_id")?,
        moved_at: match at("moved_at")? {
            Cell::Instant(micros) => Timestamp::from_micros(*micros)?,
            other => Timestamp::parse(&other.to_text()?)?,
        },
        command: maybe("command")?,
        version: maybe("version")?,
        actor: maybe("actor"),
        host: maybe("host"),
        reason: maybe("reason"),
        undoes: maybe("undoes"),
        preset: maybe("preset")?,
        job_table: maybe("job_table")?,
        job_id: maybe("job_id")?,
        job_key: maybe("job_key")?,
        key_columns: maybe("key_columns")?,
        queue: maybe("queue"),
        kind: maybe("kind"),
        owner: maybe("owner"),
        action: maybe("action")?,
        state_before: maybe("state_before")?,
        state_after: maybe("state_after")?,
        attempts_before: number("attempts_before"),
        attempts_after: number("attempts_after"),
        rules: maybe("rules")?,
        before: maybe("before"),
        after: maybe("after"),
        fingerprint_before: maybe("fingerprint_before"),
        fingerprint_after: maybe("fingerprint_after"),
    })
}

/// A run as it comes back.
pub fn ledger_run(cells: &[Cell]) -> Option<LedgerRun> {
    let (row, counts) = cells.split_at_checked(LEDGER_COLUMNS.len())?;
    let count = |n: usize| match counts.get(n) {
        Some(Cell::Integer(count)) => u64::try_from(*count).ok(),
        _ => None,
    };
    Some(LedgerRun { row: ledger_row(row)?, moved: count(0)?, undoable: count(1)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        let text = |name: &str| name.to_owned();
        let row = LedgerRow {
            run_id: text("run"),
            moved_at: Timestamp::from_micros(1_234_567_890_123_456).unwrap(),
            command: text("reclaim"),
            version: text("1"),
            actor: Some(text("actor")),
            host: None,
            reason: Some(text("")),
            undoes: None,
            preset: text("preset"),
            job_table: text("table"),
            job_id: text("1"),
            job_key: text("[1]"),
            key_columns: text("[\"id\"]"),
            queue: Some(text("queue")),
            kind: Some(text("kind")),
            owner: None,
            action: text("fail"),
            state_before: text("a"),
            state_after: text("b"),
            attempts_before: Some(1),
            attempts_after: None,
            rules: text("lease_expired"),
            before: Some(text("{}")),
            after: None,
            fingerprint_before: Some(text("f")),
            fingerprint_after: Some(text("g")),
        };
        assert_eq!(ledger_row(&cells(&row)), Some(row.clone()));
        let run = [&cells(&row)[..], &[Cell::Integer(3), Cell::Integer(2)]].concat();
        assert_eq!(ledger_run(&run), Some(LedgerRun { row, moved: 3, undoable: 2 }));
        assert_eq!(ledger_run(&run[..26]), None);
    }
}
