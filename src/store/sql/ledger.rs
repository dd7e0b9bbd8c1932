//! The tables that jobdoctor makes: the ledger, how it is written and read, and those of a queue that begins with it.

use super::builder::{Param, Sql, Statement};
use super::dialect::Dialect;
use crate::model::{Actor, Cell, End, Engine, LedgerRow, LedgerRun, Loss, Outcome, RunHead, Step, Target, Timestamp};
use crate::preset::ident::{qualified, quoted};
use crate::preset::{LEDGER, LEDGER_COLUMNS, LEDGER_STEP, LedgerKind, LedgerSpec, Place};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Rows an INSERT on SQLite, which limits the number of bound values.
const ROWS: usize = 100;

/// The statements that make a ledger in that schema.
pub fn ledger_schema(engine: Engine, schema: &str) -> Vec<String> {
    let table = if engine.has_schemas() { qualified(schema, LEDGER) } else { quoted(LEDGER) };
    let columns: Vec<String> = LEDGER_COLUMNS
        .iter()
        .map(|(name, kind)| format!("    {:<18} {}", quoted(name), declared(engine, *kind)))
        .collect();
    vec![
        format!("CREATE TABLE {table} (\n{},\n    PRIMARY KEY (run_id, key)\n)", columns.join(",\n")),
        format!("CREATE INDEX {} ON {table} (job_table, id)", quoted(&format!("{LEDGER}_job"))),
    ]
}

fn declared(engine: Engine, kind: LedgerKind) -> &'static str {
    match (engine, kind) {
        (Engine::Postgres, LedgerKind::Instant) => "timestamptz NOT NULL",
        (Engine::Sqlite, LedgerKind::Instant) | (_, LedgerKind::Text | LedgerKind::Json) => "text NOT NULL",
        (_, LedgerKind::MaybeText) => "text",
        (Engine::Postgres, LedgerKind::MaybeInteger) => "bigint",
        (Engine::Sqlite, LedgerKind::MaybeInteger) => "integer",
    }
}

/// Each time that a job of a table was requeued, oldest first; a run that reverted another counts against it, and one
/// that reverted that, for it again.
pub fn ledger_losses(dialect: &dyn Dialect, ledger: &LedgerSpec, job_table: &str) -> Statement {
    let mut sql = Sql::new(dialect);
    let table = dialect.table(&ledger.table);
    sql.push(&format!(
        "SELECT {}, {}, l.attempts, l.attempts_after, CASE WHEN l.undoes IS NULL OR EXISTS (SELECT 1 FROM {table} AS u \
         WHERE u.run_id = l.undoes AND u.undoes IS NOT NULL) THEN 0 ELSE 1 END FROM {table} AS l WHERE l.job_table = ",
        dialect.as_text("l.key"),
        dialect.as_text("l.kind"),
    ));
    sql.bind(Param::Cell(Cell::Text(job_table.to_owned())));
    sql.push(&format!(" AND l.{} = 'requeue' ORDER BY l.moved_at, l.run_id", quoted("action")));
    sql.finish()
}

/// A loss from its cells; `None` if jobdoctor did not write them.
pub fn ledger_loss(cells: &[Cell]) -> Option<Loss> {
    let [key, kind, before, after, Cell::Integer(reverted)] = cells else { return None };
    Some(Loss {
        key: serde_json::from_str(&key.to_text()?).ok()?,
        kind: kind.to_text(),
        attempts: before.as_integer(),
        attempts_after: after.as_integer(),
        reverted: *reverted != 0,
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
        sql.push(condition).bind(Param::Cell(Cell::Text(value.to_owned())));
    }
    sql.push(" AND l.moved_at <= ").bind(Param::Cell(instant(until))).push(&cast(dialect, LedgerKind::Instant));
    sql.finish()
}

/// On Postgres one statement, whose text is the same for any number of steps.
pub fn ledger_inserts(
    dialect: &dyn Dialect,
    ledger: &LedgerSpec,
    head: &RunHead,
    at: Timestamp,
    steps: &[Step<End>],
) -> Vec<Statement> {
    let names: Vec<String> = LEDGER_COLUMNS.iter().map(|(name, _)| quoted(name)).collect();
    let insert = |steps: &[Step<End>]| {
        let mut sql = Sql::new(dialect);
        sql.push("INSERT INTO ").table(&ledger.table).push(&format!(" ({}) SELECT ", names.join(", ")));
        sql.joined(", ", of_head(head, at).into_iter().zip(LEDGER_COLUMNS), |sql, (cell, (_, kind))| {
            sql.bind(Param::Cell(cell)).push(&cast(dialect, kind));
        });
        let rows: Vec<Vec<Cell>> = steps.iter().map(of_step).collect();
        match dialect.engine() {
            Engine::Sqlite => {
                sql.push(", s.* FROM (VALUES ").joined(", ", &rows, |sql, row| {
                    sql.push("(").bind_all(row).push(")");
                });
            }
            Engine::Postgres => {
                sql.push(", s.* FROM unnest(");
                sql.joined(", ", LEDGER_COLUMNS.iter().skip(LEDGER_STEP).enumerate(), |sql, (n, (_, kind))| {
                    let texts = rows.iter().map(|row| row.get(n).filter(|cell| **cell != Cell::Null));
                    sql.bind(Param::Texts(Arc::new(texts.map(|cell| cell.map(Cell::to_bytes)).collect())));
                    let cast = cast(dialect, *kind);
                    sql.push(&if cast.is_empty() { String::new() } else { format!("{cast}[]") });
                });
            }
        }
        sql.push(") AS s");
        sql.finish()
    };
    let rows = if dialect.engine() == Engine::Sqlite { ROWS } else { steps.len().max(1) };
    steps.chunks(rows).map(insert).collect()
}

/// A NULL is bound as text.
fn cast(dialect: &dyn Dialect, kind: LedgerKind) -> String {
    match kind {
        LedgerKind::MaybeInteger => dialect.cast_to("bigint"),
        LedgerKind::Instant => dialect.cast_to("timestamptz"),
        LedgerKind::Text | LedgerKind::MaybeText | LedgerKind::Json => String::new(),
    }
}

/// With every digit: SQLite compares texts, and a `Z` is behind any digit.
fn instant(at: Timestamp) -> Cell {
    Cell::Text(format!("{at:.6}"))
}

/// The values that all rows of a batch share.
fn of_head(head: &RunHead, at: Timestamp) -> [Cell; LEDGER_STEP] {
    let text = |text: &str| Cell::Text(text.to_owned());
    let maybe = |text: Option<String>| text.map_or(Cell::Null, Cell::Text);
    [
        text(&head.run_id),
        instant(at),
        text(&head.command),
        text(&head.version),
        maybe(head.actor.name()),
        maybe(head.host.clone()),
        maybe(head.reason.clone()),
        maybe(head.undoes.clone()),
        text(&head.target.preset),
        text(&head.target.table),
        text(&Value::from(head.target.key.clone()).to_string()),
    ]
}

fn of_step(step: &Step<End>) -> Vec<Cell> {
    // A step has no map with keys that are no text, so it is always JSON.
    let json = serde_json::to_value(step).unwrap_or_default();
    let cells = LEDGER_COLUMNS.iter().skip(LEDGER_STEP).map(|(name, kind)| match (json.get(name), kind) {
        (Some(json), LedgerKind::Json) => Cell::Text(json.to_string()),
        (Some(Value::String(text)), _) => Cell::Text(text.clone()),
        (json, _) => json.and_then(Value::as_i64).map_or(Cell::Null, Cell::Integer),
    });
    cells.collect()
}

/// The columns as they are read, all of them behind the alias `l`.
fn columns(dialect: &dyn Dialect) -> String {
    let column = |(name, kind): &(&str, LedgerKind)| match kind {
        LedgerKind::MaybeInteger | LedgerKind::Instant => format!("l.{}", quoted(name)),
        LedgerKind::Text | LedgerKind::MaybeText | LedgerKind::Json => dialect.as_text(&format!("l.{}", quoted(name))),
    };
    LEDGER_COLUMNS.iter().map(column).collect::<Vec<_>>().join(", ")
}

/// The runs, newest first: any one row of each, how many it has, and how many of them can be reverted.
pub fn ledger_runs(dialect: &dyn Dialect, ledger: &LedgerSpec, limit: u64) -> Statement {
    let table = dialect.table(&ledger.table);
    Statement::plain(format!(
        "SELECT {}, r.moved, r.undoable FROM (SELECT run_id, min(key) AS key, count(*) AS moved, \
         sum(CASE WHEN {row} = 'null' THEN 0 ELSE 1 END) AS undoable FROM {table} GROUP BY run_id ORDER BY run_id DESC LIMIT {limit}) AS r \
         JOIN {table} AS l ON l.run_id = r.run_id AND l.key = r.key ORDER BY l.run_id DESC",
        columns(dialect),
        row = quoted("row"),
    ))
}

/// The ids of runs that begin like that.
pub fn ledger_run_ids(dialect: &dyn Dialect, ledger: &LedgerSpec, prefix: &str, limit: usize) -> Statement {
    let mut sql = Sql::new(dialect);
    let id = dialect.as_text("l.run_id");
    sql.push(&format!("SELECT DISTINCT {id} FROM {} AS l WHERE substr(l.run_id, 1, ", dialect.table(&ledger.table)));
    sql.push(&format!("{}) = ", prefix.chars().count())).bind(Param::Cell(Cell::Text(prefix.to_owned())));
    sql.push(&format!(" ORDER BY 1 LIMIT {limit}"));
    sql.finish()
}

pub fn ledger_rows(dialect: &dyn Dialect, ledger: &LedgerSpec, run_id: &str) -> Statement {
    let mut sql = Sql::new(dialect);
    sql.push(&format!("SELECT {} FROM {} AS l WHERE l.run_id = ", columns(dialect), dialect.table(&ledger.table)));
    sql.bind(Param::Cell(Cell::Text(run_id.to_owned()))).push(" ORDER BY l.key");
    sql.finish()
}

/// A row that was read, by its columns.
struct Columns<'c>(&'c [Cell]);

impl Columns<'_> {
    fn cell(&self, name: &str) -> Option<&Cell> {
        self.0.get(LEDGER_COLUMNS.iter().position(|(known, _)| *known == name)?)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.cell(name).and_then(Cell::to_text)
    }

    fn moved_at(&self) -> Option<Timestamp> {
        match self.cell("moved_at")? {
            Cell::Instant(micros) => Timestamp::from_micros(*micros),
            other => Timestamp::parse(&other.to_text()?),
        }
    }

    /// The head. The ledger lies in the queue's own database, and names neither that nor its engine.
    fn head(&self) -> Option<RunHead> {
        let key = self.text("key_columns").and_then(|json| serde_json::from_str(&json).ok());
        Some(RunHead {
            run_id: self.text("run_id")?,
            store_time: self.moved_at()?,
            command: self.text("command")?,
            version: self.text("version")?,
            actor: Actor { user: self.text("actor"), uid: None },
            host: self.text("host"),
            reason: self.text("reason"),
            external_id: None,
            undoes: self.text("undoes"),
            target: Target {
                preset: self.text("preset")?,
                table: self.text("job_table")?,
                key: key.unwrap_or_default(),
                ..Target::default()
            },
            place: Place::default(),
            columns: Vec::new(),
            digest: None,
            planned: None,
            causes: Vec::new(),
        })
    }

    /// The step: the ledger's rows are committed with what they record, so each was moved.
    fn step(&self) -> Option<Step<End>> {
        let mut json = Map::from_iter([("outcome".to_owned(), Value::from(Outcome::Moved.name()))]);
        for ((name, kind), cell) in LEDGER_COLUMNS.iter().zip(self.0).skip(LEDGER_STEP) {
            let value = match (kind, cell) {
                (LedgerKind::Json, cell) => serde_json::from_str(&cell.to_text()?).ok()?,
                (_, Cell::Integer(number)) => Value::from(*number),
                (_, cell) => cell.to_text().map_or(Value::Null, Value::from),
            };
            json.insert((*name).to_owned(), value);
        }
        serde_json::from_value(Value::Object(json)).ok()
    }
}

/// The error is the id of a job whose row jobdoctor did not write.
pub fn ledger_row(cells: &[Cell]) -> Result<LedgerRow, String> {
    let columns = Columns(cells);
    let row = || Some(LedgerRow { moved_at: columns.moved_at()?, head: columns.head()?, step: columns.step()? });
    row().ok_or_else(|| columns.text("id").unwrap_or_default())
}

/// A run from the cells of one of its rows and its counts.
pub fn ledger_run(cells: &[Cell]) -> Option<LedgerRun> {
    let (row, counts) = cells.split_at_checked(LEDGER_COLUMNS.len())?;
    let count = |n: usize| counts.get(n).and_then(Cell::as_count);
    Some(LedgerRun { head: Columns(row).head()?, moved: count(0)?, undoable: count(1)? })
}

/// Builds the statements of the reference schema. docs/reference-schema.md shows how workers use it.
pub fn reference_schema(engine: Engine, place: &Place) -> Vec<String> {
    let name = place.table.as_deref().unwrap_or("jobs");
    let table = match (&place.schema, engine) {
        (Some(schema), Engine::Postgres) => qualified(schema, name),
        _ => quoted(name),
    };
    let (id, time, now) = match engine {
        Engine::Sqlite => ("integer PRIMARY KEY", "integer", "unixepoch()"),
        Engine::Postgres => ("bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY", "timestamptz", "now()"),
    };
    let states = "'QUEUED', 'CLAIMED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'TIMED_OUT'";
    let index = |columns: &[&str]| {
        let index = quoted(&format!("{name}_{}", columns.join("_")));
        format!("CREATE INDEX {index} ON {table} ({})", columns.join(", "))
    };
    vec![
        format!(
            "CREATE TABLE {table} (
    id                  {id},
    queue               text NOT NULL DEFAULT 'default',
    kind                text NOT NULL DEFAULT '',
    payload             text NOT NULL DEFAULT '{{}}',
    priority            integer NOT NULL DEFAULT 0,
    status              text NOT NULL DEFAULT 'QUEUED' CHECK (status IN ({states})),
    run_at              {time} NOT NULL DEFAULT ({now}),
    owner_id            text,
    lease_token         text,
    claimed_at          {time},
    heartbeat_at        {time},
    lease_expires_at    {time},
    attempts            integer NOT NULL DEFAULT 0,
    max_attempts        integer DEFAULT 5,
    stalls              integer NOT NULL DEFAULT 0,
    max_runtime_seconds integer,
    deadline_at         {time},
    cancel_requested_at {time},
    error_code          text,
    error_detail        text,
    created_at          {time} NOT NULL DEFAULT ({now}),
    finished_at         {time}
)"
        ),
        index(&["status", "lease_expires_at"]),
        index(&["status", "queue", "priority", "id"]),
    ]
}
