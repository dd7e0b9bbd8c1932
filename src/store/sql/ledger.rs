//! The ledger: how it is made, written and read.

use super::builder::{Param, Sql, Statement};
use super::dialect::Dialect;
use crate::model::{
    Action, Actor, Cell, Engine, Fingerprint, LedgerRow, LedgerRun, Loss, RecordedStep, RowChange, RunHead, RunTarget,
    StoredChange, Timestamp,
};
use crate::preset::ident::{qualified, quoted};
use crate::preset::{LEDGER, LEDGER_COLUMNS, LedgerKind, LedgerSpec};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Rows an INSERT: engines have limits on the number of bound values.
const ROWS: usize = 100;

/// The statements that make a ledger in that schema.
pub fn ledger_schema(engine: Engine, schema: &str) -> Vec<String> {
    let table = if engine == Engine::Sqlite { quoted(LEDGER) } else { qualified(schema, LEDGER) };
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

/// Each time that a job of a table was requeued, oldest first; a run that reverted another counts against it, and one that
/// reverted that, for it again.
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

/// A loss from its cells; `None` if jobdoctor did not write them.
pub fn ledger_loss(cells: &[Cell]) -> Option<Loss> {
    let [key, kind, before, after, Cell::Integer(reverted)] = cells else { return None };
    Some(Loss {
        key: serde_json::from_str(&key.to_text()?).ok()?,
        kind: kind.to_text(),
        attempts_before: number(before),
        attempts_after: number(after),
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
        sql.push("INSERT INTO ");
        sql.table(&ledger.table);
        sql.push(&format!(" ({}) VALUES ", names.join(", ")));
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

fn number(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Integer(number) => Some(*number),
        _ => None,
    }
}

fn cells(row: &LedgerRow) -> [Cell; 26] {
    let LedgerRow { moved_at, head, step } = row;
    let text = |text: &str| Cell::Text(text.to_owned());
    let maybe = |text: Option<String>| text.map_or(Cell::Null, Cell::Text);
    let number = |number: Option<i64>| number.map_or(Cell::Null, Cell::Integer);
    let change = step.row.clone().map(StoredChange::from);
    let of_change = |part: fn(&StoredChange) -> String| maybe(change.as_ref().map(part));
    [
        text(&head.run_id),
        text(&moved_at.to_string()),
        text(&head.command),
        text(&head.version),
        maybe(head.actor.name()),
        maybe(head.host.clone()),
        maybe(head.reason.clone()),
        maybe(head.undoes.clone()),
        text(&head.target.preset),
        text(&head.target.table),
        text(&step.id),
        text(&step.key.exact()),
        text(&Value::from(head.target.key.clone()).to_string()),
        maybe(step.queue.clone()),
        maybe(step.kind.clone()),
        maybe(step.owner.clone()),
        text(step.action.name()),
        text(&step.state_before),
        text(&step.state_after),
        number(step.attempts_before),
        number(step.attempts_after),
        text(&step.rules.join(",")),
        of_change(|change| change.before.to_string()),
        of_change(|change| change.after.to_string()),
        of_change(|change| change.fingerprint_before.0.clone()),
        of_change(|change| change.fingerprint_after.0.clone()),
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

/// The runs, newest first: any one row of each, how many it has, and how many of them can be reverted.
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

/// All rows of one run.
pub fn ledger_rows(dialect: &dyn Dialect, ledger: &LedgerSpec, run_id: &str) -> Statement {
    let mut sql = Sql::new(dialect);
    sql.push(&format!("SELECT {} FROM {} AS l WHERE l.run_id = ", columns(dialect), dialect.table(&ledger.table)));
    sql.bind(Param::Cell(Cell::Text(run_id.to_owned())));
    sql.push(" ORDER BY l.job_key");
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

    fn json<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_str(&self.text(name)?).ok()
    }

    fn moved_at(&self) -> Option<Timestamp> {
        match self.cell("moved_at")? {
            Cell::Instant(micros) => Timestamp::from_micros(*micros),
            other => Timestamp::parse(&other.to_text()?),
        }
    }

    /// The head. The ledger lies in the queue's own database, and names neither that nor its engine.
    fn head(&self) -> Option<RunHead> {
        Some(RunHead {
            run_id: self.text("run_id")?,
            time: self.moved_at()?,
            command: self.text("command")?,
            version: self.text("version")?,
            actor: Actor { user: self.text("actor"), uid: None },
            host: self.text("host"),
            reason: self.text("reason"),
            undoes: self.text("undoes"),
            target: RunTarget {
                preset: self.text("preset")?,
                table: self.text("job_table")?,
                key: self.json("key_columns").unwrap_or_default(),
                ..RunTarget::default()
            },
            columns: Vec::new(),
            digest: None,
            planned: 0,
        })
    }

    fn step(&self) -> Option<RecordedStep> {
        let action = self.text("action")?;
        Some(RecordedStep {
            step: 0,
            id: self.text("job_id")?,
            key: self.json("job_key")?,
            queue: self.text("queue"),
            kind: self.text("kind"),
            owner: self.text("owner"),
            action: Action::ALL.into_iter().find(|known| known.name() == action)?,
            state_before: self.text("state_before")?,
            state_after: self.text("state_after")?,
            attempts_before: self.cell("attempts_before").and_then(number),
            attempts_after: self.cell("attempts_after").and_then(number),
            rules: self.text("rules")?.split(',').filter(|rule| !rule.is_empty()).map(str::to_owned).collect(),
            row: self.row()?,
        })
    }

    /// What became of the row; the inner `None` where that is not recorded.
    fn row(&self) -> Option<Option<RowChange>> {
        let columns = ["before", "after", "fingerprint_before", "fingerprint_after"];
        if columns.into_iter().any(|column| self.text(column).is_none()) {
            return Some(None);
        }
        let stored = StoredChange {
            before: self.json("before")?,
            after: self.json("after")?,
            fingerprint_before: Fingerprint(self.text("fingerprint_before")?),
            fingerprint_after: Fingerprint(self.text("fingerprint_after")?),
        };
        RowChange::try_from(stored).ok().map(Some)
    }
}

/// A row from its cells.
///
/// # Errors
/// The id of the job, if jobdoctor did not write the row.
pub fn ledger_row(cells: &[Cell]) -> Result<LedgerRow, String> {
    let columns = Columns(cells);
    let row = || Some(LedgerRow { moved_at: columns.moved_at()?, head: columns.head()?, step: columns.step()? });
    row().ok_or_else(|| columns.text("job_id").unwrap_or_default())
}

/// A run from the cells of one of its rows and its counts.
pub fn ledger_run(cells: &[Cell]) -> Option<LedgerRun> {
    let (row, counts) = cells.split_at_checked(LEDGER_COLUMNS.len())?;
    let count = |n: usize| counts.get(n).and_then(number).and_then(|count| u64::try_from(count).ok());
    Some(LedgerRun { head: Columns(row).head()?, moved: count(0)?, undoable: count(1)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Key, ValueChange};

    #[test]
    fn what_is_written_is_what_is_read() {
        let text = |name: &str| name.to_owned();
        let moved_at = Timestamp::from_micros(1_234_567_890_123_456).unwrap();
        let target =
            RunTarget { preset: text("preset"), table: text("table"), key: vec![text("id")], ..RunTarget::default() };
        let head = RunHead {
            run_id: text("run"),
            time: moved_at,
            command: text("reclaim"),
            version: text("1"),
            actor: Actor { user: Some(text("actor")), uid: None },
            host: None,
            reason: Some(text("")),
            undoes: None,
            target,
            columns: Vec::new(),
            digest: None,
            planned: 0,
        };
        let value = ValueChange { column: text("c"), before: Cell::Null, after: Cell::Text(text("a")) };
        let step = RecordedStep {
            step: 0,
            id: text("1"),
            key: Key(vec![Cell::Integer(1)]),
            queue: Some(text("queue")),
            kind: Some(text("kind")),
            owner: None,
            action: Action::Fail,
            state_before: text("a"),
            state_after: text("b"),
            attempts_before: Some(1),
            attempts_after: None,
            rules: vec![text("lease_expired"), text("heartbeat_silent")],
            row: Some(RowChange { values: vec![value], before: Fingerprint(text("f")), after: Fingerprint(text("g")) }),
        };
        let row = LedgerRow { moved_at, head: head.clone(), step };
        assert_eq!(ledger_row(&cells(&row)), Ok(row.clone()));
        let run = [&cells(&row)[..], &[Cell::Integer(3), Cell::Integer(2)]].concat();
        assert_eq!(ledger_run(&run), Some(LedgerRun { head, moved: 3, undoable: 2 }));
        assert_eq!(ledger_run(&run[..26]), None);
        let without_row = LedgerRow { step: RecordedStep { row: None, ..row.step.clone() }, ..row };
        assert_eq!(ledger_row(&cells(&without_row)), Ok(without_row));
        assert_eq!(ledger_row(&run[..12]), Err(text("1")));
    }
}
