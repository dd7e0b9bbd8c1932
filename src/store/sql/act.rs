//! Step two of a batch: the statements of an action on exactly the verified keys, the check of their effect, and what
//! is read of the rows for the record and set back by an undo.

use super::builder::{Binding, Occasion, Param, Sql, Statement, Values, column_sql, literal_sql};
use super::dialect::{Dialect, dialect};
use super::left::is_elsewhere;
use crate::model::{Action, Cell, Engine, Key, RowChange};
use crate::preset::ident::{literal, quoted};
use crate::preset::{ActionSpec, Column, Jobs, Rows, StateSource, StepSpec};

/// A statement of an action and the number of rows that it must touch.
pub struct Act {
    pub statement: Statement,
    pub rows: Rows,
}

pub fn acts(
    jobs: &Jobs,
    dialect: &dyn Dialect,
    action: &ActionSpec,
    keys: &[&Key],
    occasion: Occasion<'_>,
) -> Vec<Act> {
    let Occasion { now, run_at, reason, fail_code } = occasion;
    let values = Values { keys, now: Some(now), run_at: Some(run_at), reason, fail_code, ..Values::default() };
    let act = |step: &StepSpec| {
        let mut sql = Sql::new(dialect);
        let rows = write(&mut sql, jobs, step, values);
        Act { statement: sql.finish(), rows }
    };
    action.steps.iter().map(act).collect()
}

/// Writes a step of an action, and gives the number of rows that it must touch.
fn write(sql: &mut Sql<'_>, jobs: &Jobs, step: &StepSpec, values: Values<'_>) -> Rows {
    match step {
        StepSpec::Sql { sql: template, rows, encodings, .. } => {
            sql.template(jobs, template, &Values { named: Some(encodings), ..values });
            *rows
        }
        StepSpec::Update(assignments) => {
            sql.push("UPDATE ").lock_table(jobs).push(" SET ").joined(", ", assignments, |sql, assignment| {
                sql.push(&format!("{} = ", quoted(&assignment.column.name)));
                let values = Values { assigned: assignment.encodings.as_ref(), ..values };
                sql.template(jobs, &assignment.value, &values);
            });
            sql.push(" WHERE ").in_keys(jobs, values.keys);
            Rows::Each
        }
    }
}

/// The statements of an action, then those that wake workers, with the names of their parameters.
pub fn printed(jobs: &Jobs, action: Action) -> Vec<String> {
    let text = |write: &dyn Fn(&mut Sql<'_>)| {
        let mut sql = Sql::with(Binding::Name, dialect(jobs.queue.engine));
        write(&mut sql);
        sql.finish().sql
    };
    let wakes = matches!(action, Action::Requeue | Action::Wake);
    let woken = jobs.queue.notify.iter().filter(|_| wakes);
    let woken = woken.map(|notify| text(&|sql| _ = sql.template(jobs, &notify.sql, &Values::default())));
    let steps = jobs.actions.get(&action).into_iter().flat_map(|of| &of.steps);
    let acted = steps.map(|step| text(&|sql| _ = write(sql, jobs, step, Values::default())));
    acted.chain(woken).collect()
}

/// Has SQLite end the transaction where an UPDATE fails, for when nothing else in it would be kept: then it need not copy
/// each page to undo the statement alone, which takes a tenth of a reclaim.
pub fn or_roll_back(jobs: &Jobs, dialect: &dyn Dialect, action: &ActionSpec, act: &mut Statement) {
    let table = jobs.queue.tables.get(&jobs.claim.lock_table);
    let is_plain = table.is_some_and(|table| !table.declares_conflict && !table.has_triggers);
    if dialect.engine().has_conflict_clauses() && is_plain && matches!(action.steps.as_slice(), [StepSpec::Update(_)]) {
        act.sql = act.sql.replacen("UPDATE ", "UPDATE OR ROLLBACK ", 1);
    }
}

/// Counts the rows of these keys that the action failed to move: rows that are still in flight, and rows in another
/// state than the announced one. One row with these two numbers; `None` if the action writes nothing, as a wake-up.
pub fn left_behind(jobs: &Jobs, dialect: &dyn Dialect, action: &ActionSpec, keys: &[&Key]) -> Option<Statement> {
    if action.steps.is_empty() {
        return None;
    }
    let mut sql = Sql::new(dialect);
    sql.push("SELECT ");
    if jobs.waited() {
        // A waiting job may be put back into the state in which it waits.
        sql.push("0");
    } else {
        sql.push("(SELECT count(*) FROM ").claim_from(jobs).push(" WHERE ").in_keys(jobs, keys).push(" AND ");
        sql.in_flight(jobs, None).push(")");
    }
    sql.push(" AS in_flight, ");
    match &jobs.claim.state {
        StateSource::Place(_) => elsewhere(&mut sql, jobs, action, keys),
        StateSource::Column(column) => {
            // A requeued row that is gone is in no state.
            let (counted, is_not) =
                if action.requeues { (keys.len().to_string() + " - ", "") } else { (String::new(), " IS NOT TRUE") };
            sql.push(&format!("{counted}(SELECT count(*) FROM "));
            // A join could lose the row of a job that no longer names its owner.
            let from = if column.alias == jobs.claim.lock { sql.lock_table(jobs) } else { sql.claim_from(jobs) };
            from.push(" WHERE ").in_keys(jobs, keys);
            let announced = literal_sql(&action.to.stored);
            sql.push(&format!(" AND ({} = {announced}){is_not})", column_sql(column)));
        }
    }
    sql.push(" AS elsewhere");
    Some(sql.finish())
}

/// Adds how many of these jobs are elsewhere than an action without a state says. A requeued one that is gone is.
fn elsewhere(sql: &mut Sql<'_>, jobs: &Jobs, action: &ActionSpec, keys: &[&Key]) {
    let (waiting, waiting_in) = (&jobs.conditions.waiting, &jobs.conditions.waiting_in);
    if let (true, Some(waits)) = (action.requeues, waiting) {
        sql.push(&format!("{} - (SELECT count(*) FROM ", keys.len()));
        let none = Values::default();
        match waiting_in {
            None => _ = sql.lock_table(jobs).push(" WHERE ").in_keys(jobs, keys),
            Some((from, key)) => {
                sql.template(jobs, from, &none);
                let columns: Vec<String> = key.iter().map(column_sql).collect();
                sql.push(&format!(" WHERE ({}) {} ", columns.join(", "), sql.dialect.among()));
                sql.dialect.keys(sql, key, keys);
            }
        }
        sql.push(" AND (").template(jobs, waits, &none).push("))");
        return;
    }
    match is_elsewhere(jobs, sql.dialect, action) {
        None => _ = sql.push("0"),
        Some(is_elsewhere) => {
            sql.push("(SELECT count(*) FROM ").lock_table(jobs).push(" WHERE ").in_keys(jobs, keys);
            sql.push(&format!(" AND {is_elsewhere})"));
        }
    }
}

/// True if a job's own row alone decides whether it is in flight, and whether it waits.
pub fn checks_rows(jobs: &Jobs) -> bool {
    !jobs.claim.may_repeat && jobs.owner.row.is_none() && jobs.conditions.waiting_in.is_none()
}

/// Reads rows after an action as [`images`] does, each then with whether it is still in flight and whether it is in the
/// announced state, where [`checks_rows`].
pub fn after(jobs: &Jobs, dialect: &dyn Dialect, action: &ActionSpec, columns: &[&Column], keys: &[&Key]) -> Statement {
    let mut sql = Sql::new(dialect);
    sql.push("SELECT w.n").image_items(jobs, columns).push(", CASE WHEN ");
    // A waiting job may be put back into the state in which it waits.
    let is_held = if jobs.waited() { sql.push("false") } else { sql.in_flight(jobs, None) };
    is_held.push(" THEN 1 ELSE 0 END, CASE WHEN ");
    match &jobs.claim.state {
        StateSource::Place(_) => {
            let is_elsewhere = is_elsewhere(jobs, dialect, action).map(|is_elsewhere| format!("NOT {is_elsewhere}"));
            sql.push(is_elsewhere.as_deref().unwrap_or("true"));
        }
        StateSource::Column(column) => {
            sql.push(&format!("{} = {}", column_sql(column), literal_sql(&action.to.stored)));
        }
    }
    let rows: Vec<(&Key, &str)> = keys.iter().map(|key| (*key, "")).collect();
    sql.push(" THEN 1 ELSE 0 END FROM ").wanted_rows(jobs, &rows);
    sql.finish()
}

/// What an UPDATE returns instead of a second look at the rows, where [`returns_final_rows`] holds: each row's key and state, then
/// its image. `None` where an action is no single UPDATE on Postgres, or where its state alone does not tell that a row is
/// no longer in flight.
pub fn returning(jobs: &Jobs, dialect: &dyn Dialect, action: &ActionSpec, columns: &[&Column]) -> Option<String> {
    let is_update = matches!(action.steps.as_slice(), [StepSpec::Update(_)]) && !action.locks_for_update;
    let in_flight = &jobs.states;
    let ends = jobs.waited() || !in_flight.is_empty() && in_flight.iter().all(|state| state.stored != action.to.stored);
    let state = jobs.claim.own_state().filter(|_| is_update && ends && dialect.engine() == Engine::Postgres)?;
    let told = jobs.claim.key.iter().chain([state]).map(|column| dialect.as_text(&column_sql(column)));
    let mut sql = Sql::new(dialect);
    sql.push(&format!(" RETURNING {}", told.collect::<Vec<_>>().join(", "))).image_items(jobs, columns);
    Some(sql.finish().sql)
}

/// Postgres: 1 if what an UPDATE of the claim's own table returned is what became of the rows: nothing else writes to
/// them, and their states are equal only if they are spelled alike. Asked behind the UPDATE, whose lock keeps both so. On
/// Postgres 13 the triggers that a partition has from its parent pass for the system's own.
pub fn returns_final_rows(jobs: &Jobs, dialect: &dyn Dialect) -> Statement {
    let table = jobs.queue.tables.get(&jobs.claim.lock_table).map(|table| dialect.table(table)).unwrap_or_default();
    let state = jobs.claim.own_state().map(|state| state.name.as_str()).unwrap_or_default();
    Statement::plain(format!(
        "SELECT count(*) FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid \
         AND a.attname = {} JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid \
         LEFT JOIN pg_catalog.pg_collation AS o ON o.oid = a.attcollation \
         WHERE c.oid = {}::regclass AND c.relkind = 'r' AND NOT c.relispartition AND NOT c.relhassubclass AND NOT c.relhasrules \
         AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger AS g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal) \
         AND (t.typtype = 'e' OR coalesce(o.collisdeterministic, true) \
         AND t.oid IN ('text'::regtype, 'varchar'::regtype, 'int2'::regtype, 'int4'::regtype, 'int8'::regtype))",
        literal(state),
        literal(&table),
    ))
}

pub fn notifications(jobs: &Jobs, dialect: &dyn Dialect, queue: Option<&str>, moved: usize) -> Vec<Statement> {
    let values = Values { queue, moved, ..Values::default() };
    jobs.queue.notify.iter().map(|notify| Sql::new(dialect).fragment(jobs, &notify.sql, &values)).collect()
}

/// Bound values a statement: engines have limits on their number.
const VALUES: usize = 10_000;

/// Reads rows by key: number (from 1), the columns named, then what the fingerprint of the whole row is made of. With
/// `lock` the rows are locked without waiting, as for a change of key columns if it says so.
pub fn images(jobs: &Jobs, dialect: &dyn Dialect, columns: &[&Column], keys: &[&Key], lock: Option<bool>) -> Statement {
    let mut sql = Sql::new(dialect);
    let rows: Vec<(&Key, &str)> = keys.iter().map(|key| (*key, "")).collect();
    sql.push("SELECT w.n").image_items(jobs, columns).push(" FROM ").wanted_rows(jobs, &rows);
    if let Some(for_update) = lock {
        sql.push(&dialect.lock(&jobs.claim.lock, for_update));
    }
    sql.finish()
}

impl Sql<'_> {
    /// The further items of a select list that make an image of a job's row.
    pub(super) fn image_items(&mut self, jobs: &Jobs, columns: &[&Column]) -> &mut Self {
        let dialect = self.dialect;
        let values = columns.iter().map(|column| dialect.as_text(&column_sql(column)));
        let whole: Vec<String> = jobs.row.iter().map(column_sql).collect();
        values.chain(dialect.whole(&whole)).fold(self, |sql, item| sql.push(&format!(", {item}")))
    }
}

/// A row to restore: its number, its key, and what it was.
type Row<'r> = (usize, &'r Key, &'r RowChange);

/// The statements that set rows back, each with the number of rows it must touch. All rows name the same columns.
pub fn restores(jobs: &Jobs, dialect: &dyn Dialect, columns: &[&Column], rows: &[Row<'_>]) -> Vec<(Statement, u64)> {
    let width = jobs.claim.key.len() + columns.len();
    let chunks = rows.chunks((VALUES / width.max(1)).max(1));
    chunks.map(|rows| (restored(jobs, dialect, columns, rows), rows.len() as u64)).collect()
}

fn restored(jobs: &Jobs, dialect: &dyn Dialect, columns: &[&Column], rows: &[Row<'_>]) -> Statement {
    let key = &jobs.claim.key;
    let mut sql = Sql::new(dialect);
    sql.push("UPDATE ").lock_table(jobs).push(" SET ");
    sql.joined(", ", columns.iter().zip(1..), |sql, (column, n)| {
        sql.push(&format!("{} = jobdoctor_was.c{n}", quoted(&column.name)));
    });
    // Names for the columns of VALUES, in the one way that both engines have.
    let names = (1..=key.len()).map(|n| format!("k{n}")).chain((1..=columns.len()).map(|n| format!("c{n}")));
    let names: Vec<String> = names.enumerate().map(|(n, name)| format!("column{} AS {name}", n + 1)).collect();
    sql.push(&format!(" FROM (SELECT {} FROM (VALUES ", names.join(", ")));
    sql.joined(", ", rows, |sql, (_, of, row)| {
        let values = of.0.iter().chain(row.values.iter().map(|value| &value.before));
        let values = values.zip(key.iter().chain(columns.iter().copied()));
        sql.push("(").joined(", ", values, |sql, (value, column)| exact(sql, dialect, value, column)).push(")");
    });
    sql.push(") AS jobdoctor_values) AS jobdoctor_was WHERE ");
    sql.joined(" AND ", key.iter().zip(1..), |sql, (column, n)| {
        sql.push(&format!("{} {} jobdoctor_was.k{n}", column_sql(column), dialect.equals()));
    });
    sql.finish()
}

/// Binds a recorded value on its way back: the value itself, or text that is read by the column's own type.
fn exact(sql: &mut Sql<'_>, dialect: &dyn Dialect, value: &Cell, column: &Column) {
    let is_text = dialect.engine().has_strict_types() && !matches!(value, Cell::Null | Cell::BrokenText(_));
    sql.bind(Param::Cell(if is_text { Cell::Text(value.to_string()) } else { value.clone() }));
    sql.push(&dialect.cast_to(&column.type_name));
}
