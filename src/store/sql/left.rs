//! What an action would make of a row: whether it would be where the action says, and whether it would count as
//! interrupted.

use super::builder::Occasion;
use super::builder::{Binding, Sql, Statement, Values, column_sql};
use super::dialect::{Dialect, dialect};
use crate::model::{Engine, Timestamp};
use crate::preset::ident::quoted;
use crate::preset::lex::{Kind, tokens};
use crate::preset::{ActionSpec, Assignment, Column, Jobs, Marker, Piece, StateSource, StepSpec, Template};

/// 1 where an action, now, would leave a row of the claims elsewhere than it says: in flight, a requeued job not
/// waiting, another not ended; else 0. `None` where that is not known before: a state column says where the row is, or the action is more
/// than one UPDATE of it.
pub(super) fn astray(jobs: &Jobs, dialect: &dyn Dialect, action: &ActionSpec, now: Timestamp) -> Option<String> {
    let is_told_before = jobs.claim.filter.is_some() && matches!(jobs.claim.state, StateSource::Place(_));
    if !is_told_before || action.refused.is_some() || !action.is_one_update() {
        return None;
    }
    let elsewhere = is_elsewhere(jobs, dialect, action).unwrap_or_else(|| "false".to_owned());
    let asked = asked(jobs, dialect, action);
    // A value that no condition asks about need not be one that its column takes.
    let is_asked = |name: &str| asked.contains(name);
    let mut sql = Sql::with(Binding::Literal, dialect);
    let own: Vec<String> =
        jobs.row.iter().map(|column| format!("{} AS {}", column_sql(column), quoted(&column.name))).collect();
    let own = of_row(jobs, &format!("(SELECT {})", own.join(", ")));
    sql.push("(SELECT CASE WHEN EXISTS (SELECT 1 FROM ").claims(&own);
    sql.push(&format!(") OR {elsewhere} THEN 1 ELSE 0 END FROM (SELECT "));
    sql.joined(", ", &jobs.row, |sql, column| match is_asked(&column.name) {
        true => after(sql, jobs, action, column, Occasion::at(now, "")),
        false => _ = sql.push(&format!("NULL AS {}", quoted(&column.name))),
    });
    sql.push(&format!(") AS {})", quoted(&jobs.claim.lock)));
    let asked = sql.finish().sql;
    Some(match action.delayed.as_deref().and_then(|delayed| astray(jobs, dialect, delayed, now)) {
        Some(delayed) => format!("({asked} | {delayed})"),
        None => asked,
    })
}

/// The conditions that say where a row is.
fn asked(jobs: &Jobs, dialect: &dyn Dialect, action: &ActionSpec) -> String {
    let mut sql = Sql::with(Binding::Literal, dialect);
    sql.push(&is_elsewhere(jobs, dialect, action).unwrap_or_default()).in_flight(jobs, None);
    sql.finish().sql
}

/// The condition that a row which is no longer in flight is elsewhere than an action says, of the job's own row; `None` if
/// any place will do, or another table says it.
pub(super) fn is_elsewhere(jobs: &Jobs, dialect: &dyn Dialect, action: &ActionSpec) -> Option<String> {
    let conditions = &jobs.conditions;
    let text =
        |condition: &Template| Sql::with(Binding::Literal, dialect).fragment(jobs, condition, &Values::default()).sql;
    let waits = conditions.waiting.as_ref().filter(|_| conditions.waiting_in.is_none()).map(text);
    if action.requeues {
        return waits.map(|waits| format!("(({waits}) IS NOT TRUE)"));
    }
    let is_no_end = conditions.ended.as_ref().map(|ended| format!("({}) IS NOT TRUE", text(ended)));
    let waits = waits.map(|waits| format!("({waits}) IS TRUE"));
    let either: Vec<String> = waits.into_iter().chain(is_no_end).collect();
    (!either.is_empty()).then(|| format!("({})", either.join(" OR ")))
}

/// The queue as if that FROM item were the table of its claims.
fn of_row(jobs: &Jobs, item: &str) -> Jobs {
    let mut left = jobs.clone();
    let own = |piece: &&mut Piece| matches!(piece, Piece::Name(name) if *name == jobs.claim.lock_table);
    if let Some(table) = left.claim.from.0.iter_mut().find(own) {
        *table = Piece::Text(item.to_owned());
    }
    left
}

/// Counts the rows in flight that are asked, and those that the action would leave elsewhere than it says: of what is
/// there, then of rows that are made up of the values that the conditions name.
pub fn led_astray(jobs: &Jobs, dialect: &dyn Dialect, action: &ActionSpec, now: Timestamp) -> Vec<Statement> {
    let Some(astray) = astray(jobs, dialect, action, now) else { return Vec::new() };
    let count = |of: &Jobs| {
        let mut sql = Sql::new(dialect);
        sql.push(&format!("SELECT count(*), coalesce(sum(astray), 0) FROM (SELECT {astray} AS astray FROM "));
        sql.claims(of).push(" LIMIT 1000) AS asked");
        sql.finish()
    };
    vec![count(jobs), count(&of_row(jobs, &made_up(jobs, dialect, &asked(jobs, dialect, action))))]
}

/// A FROM item of rows whose columns that a text names hold each of its values in turn.
fn made_up(jobs: &Jobs, dialect: &dyn Dialect, asked: &str) -> String {
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    let texts = tokens(asked, jobs.queue.engine.quotes_in_brackets()).filter(|token| token.kind == Kind::Text);
    let texts: std::collections::BTreeSet<&str> = texts.map(|token| token.text).collect();
    for (column, n) in jobs.row.iter().zip(1..) {
        let (type_name, name) = (column.type_name.as_str(), quoted(&column.name));
        let cast = dialect.cast_to(type_name);
        if !asked.contains(&column.name) {
            columns.push(format!("NULL{cast} AS {name}"));
            continue;
        }
        let is_text = !dialect.engine().has_strict_types()
            || ["text", "character", "varchar"].iter().any(|text| type_name.to_lowercase().starts_with(text));
        let known: Vec<&str> = match type_name {
            "boolean" => vec!["true", "false"],
            kind if kind.starts_with("timestamp") || kind == "date" => vec!["CURRENT_TIMESTAMP"],
            kind if is_number(kind) => vec!["0", "1"],
            _ if is_text => vec!["'x'"],
            _ => Vec::new(),
        };
        let named = texts.iter().copied().filter(|_| is_text);
        columns.push(format!("jobdoctor_c{n}.v AS {name}"));
        let all = ["NULL"].into_iter().chain(known).chain(named).map(|value| format!("SELECT {value}{cast} AS v"));
        values.push(format!("({}) AS jobdoctor_c{n}", all.collect::<Vec<_>>().join(" UNION ALL ")));
    }
    let from = if values.is_empty() { String::new() } else { format!(" FROM {}", values.join(" CROSS JOIN ")) };
    format!("(SELECT {}{from})", columns.join(", "))
}

/// Asks for rows that an action would leave and that the condition on interrupted jobs may select: of those in flight, and
/// of two of which no more is known than what the action writes. What is not known is NULL; in the second, numbers are
/// alike, so that attempts have reached their maximum. The condition must be false of them, or of the second where the
/// action leaves a code. With each, whether it reads rows of the table.
pub fn left_as_interrupted(
    jobs: &Jobs,
    interrupted: &Jobs,
    action: &ActionSpec,
    occasion: Occasion<'_>,
) -> Vec<(Statement, bool)> {
    let dialect = dialect(jobs.queue.engine);
    let one = |row: &str, is_selected: &str| {
        let mut sql = Sql::new(dialect);
        sql.push("WITH jobdoctor_left AS (SELECT ");
        sql.joined(", ", &jobs.row, |sql, column| after(sql, jobs, action, column, occasion)).push(" FROM ");
        if row.is_empty() {
            sql.claims(jobs).push(" LIMIT 1000");
        } else {
            sql.push(&format!("({row}) AS {}", quoted(&jobs.claim.lock)));
        }
        let left = of_row(interrupted, "jobdoctor_left");
        sql.push(") SELECT 1 FROM ").claim_from(&left).push(" WHERE (").in_flight(&left, None);
        sql.push(&format!(") {is_selected} LIMIT 1"));
        (sql.finish(), row.is_empty())
    };
    let made = |number: &str| {
        let value = |column: &Column| {
            let value = if is_number(&column.type_name) { number } else { "NULL" };
            format!("{value}{} AS {}", dialect.cast_to(&column.type_name), quoted(&column.name))
        };
        format!("SELECT {}", jobs.row.iter().map(value).collect::<Vec<_>>().join(", "))
    };
    let mut asked = vec![one(&made("1"), "IS NOT FALSE")];
    if !action.asks(&|marker| *marker == Marker::FailCode) {
        asked.push(one(&made("NULL"), "IS NOT FALSE"));
    }
    // What other statements write to the row is not known.
    asked.extend(action.is_one_update().then(|| one("", "IS TRUE")));
    asked
}

/// True if each column of that type holds a number.
fn is_number(type_name: &str) -> bool {
    let name = type_name.to_ascii_lowercase();
    let numbers = ["bigint", "double", "integer", "numeric", "real", "smallint"];
    name == "int" || numbers.iter().any(|number| name.starts_with(number))
}

/// Adds a column as it is after an action.
pub(super) fn after(sql: &mut Sql<'_>, jobs: &Jobs, action: &ActionSpec, column: &Column, occasion: Occasion<'_>) {
    match assigned(action).find(|assignment| assignment.column.name == column.name) {
        Some(assignment) => cast(sql, jobs, assignment, &column.type_name, occasion),
        None => _ = sql.push(&column_sql(column)),
    }
    sql.push(&format!(" AS {}", quoted(&column.name)));
}

/// Casts what an action would write to that type.
fn cast(
    sql: &mut Sql<'_>,
    jobs: &Jobs,
    assignment: &Assignment,
    type_name: &str,
    Occasion { now, reason, fail_code, .. }: Occasion<'_>,
) {
    let values = Values {
        now: Some(now),
        run_at: Some(now),
        assigned: assignment.encodings.as_ref(),
        reason,
        fail_code,
        ..Values::default()
    };
    let kind = quoted(type_name);
    let around = match jobs.queue.engine {
        Engine::Postgres => vec!["CAST((".to_owned(), format!(") AS {type_name})")],
        Engine::Sqlite if type_name.is_empty() => vec!["(".to_owned(), ")".to_owned()],
        // A cast makes a number of any text, a column only of text that is one.
        Engine::Sqlite => ["CASE WHEN (", ") = CAST((", ") AS T) THEN CAST((", ") AS T) ELSE (", ") END"]
            .map(|part| part.replace("AS T", &format!("AS {kind}")))
            .to_vec(),
    };
    for (n, part) in around.iter().enumerate() {
        if n > 0 {
            sql.template(jobs, &assignment.value, &values);
        }
        sql.push(part);
    }
}

/// What an action assigns to columns of the job's own row.
pub(super) fn assigned(action: &ActionSpec) -> impl Iterator<Item = &Assignment> {
    action.steps.iter().flat_map(|step| match step {
        StepSpec::Update(assignments) => assignments.as_slice(),
        StepSpec::Sql { .. } => &[],
    })
}
