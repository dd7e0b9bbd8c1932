//! Checks that an index serves the listing, and proposes one.

use super::{Findings, name};
use crate::model::{Cell, Engine};
use crate::ops::OpsError;
use crate::ops::session::Snapshot;
use crate::preset::ident::{literal, qualified, quoted};
use crate::preset::lex::{Kind, Token, tokens};
use crate::preset::{Column, Expr, Jobs, LiveIndex, LiveTable, StateValue};
use std::collections::BTreeSet;
use std::time::Duration;

/// One of the conditions that AND joins: its words in lower case, without casts, brackets, and quotes around names.
type Condition = Vec<String>;

/// Warns if no index leads to the claims in flight, so that every snapshot reads the table; with what that costs today,
/// and the statement that makes one.
pub(super) fn index(
    findings: &mut Findings,
    snapshot: &mut Snapshot,
    counted: Option<Duration>,
) -> Result<(), OpsError> {
    let jobs = &snapshot.jobs;
    let Some(table) = jobs.queue.tables.get(&jobs.claim.lock_table) else { return Ok(()) };
    // A view's own tables have the indexes.
    let live = snapshot.live.table(Some(&table.schema), &table.name).filter(|live| !live.is_view);
    let Some(live) = live else { return Ok(()) };
    let listings = listings(jobs);
    if listings.iter().all(BTreeSet::is_empty) {
        if jobs.state_stands_elsewhere() {
            let detail = format!("another table holds the state: every snapshot may read all of table {}", live.name);
            findings.costs("index", detail, None, counted);
        } else {
            findings.ok("index", format!("every row of table {} is a claim in flight", live.name));
        }
        return Ok(());
    }
    // Each in-flight state is listed separately, so each needs an index.
    let has_indexes = |table: &LiveTable| {
        listings.iter().all(|listing| table.indexes.iter().any(|index| leads_to(jobs, index, listing)))
    };
    if has_indexes(live) {
        findings.ok("index", format!("an index of table {} leads to the claims in flight", live.name));
        return Ok(());
    }
    if let Some(partitions) = live.partitions.as_ref().filter(|partitions| !partitions.is_empty()) {
        // Each may have an index that the partitioned table knows nothing of. A listing that was refused has ended the
        // snapshot, so they cannot be asked about.
        if counted.is_none() {
            return Ok(());
        }
        let names: Vec<String> = partitions.iter().map(|(_, name)| name.clone()).collect();
        let parts = snapshot.reader.live_schema(&names)?;
        if partitions.iter().all(|(schema, name)| parts.table(Some(schema), name).is_some_and(has_indexes)) {
            let detail = format!("an index of each partition of table {} leads to the claims in flight", live.name);
            findings.ok("index", detail);
            return Ok(());
        }
    }
    let detail =
        format!("no index of table {} leads to the claims in flight: every snapshot reads the whole table", live.name);
    findings.costs("index", detail, statement(jobs, live), counted);
    Ok(())
}

/// True if the index holds every row of the listing and few others: a partial one whose condition the listing implies,
/// or one whose first column the listing compares. The planner is not asked: its plan for a table that is small today
/// goes through an index that a large table has no use for, such as one on the heartbeats that finished jobs keep.
fn leads_to(jobs: &Jobs, index: &LiveIndex, listing: &BTreeSet<Condition>) -> bool {
    if let Some(condition) = &index.condition {
        return is_implied(condition, listing, jobs.queue.engine);
    }
    let Some(first) = index.columns.first().map(|column| column.to_lowercase()) else { return false };
    let is_sign = signs(jobs).any(|sign| sign.name.to_lowercase() == first);
    // Finished jobs keep their signs of life if only the state tells them from claims in flight.
    let is_kept = is_sign && jobs.claim.own_state().is_some();
    listing.iter().any(|condition| match words(condition)[..] {
        [column, "=", _] => column == first,
        [column, "is", "not", "null"] => column == first && !is_kept && jobs.queue.engine.plans_with_values(),
        _ => is_sign && !is_kept && bounds(condition, &first),
    })
}

/// True if the condition is a bound of that column.
fn bounds(condition: &Condition, column: &str) -> bool {
    let words = words(condition);
    matches!(words[..], [of, "<" | ">" | "<=" | ">=", _, ..] if of == column) && !words.contains(&"or")
}

fn words(condition: &Condition) -> Vec<&str> {
    condition.iter().map(String::as_str).collect()
}

/// The signs of life on the claim's own row.
fn signs(jobs: &Jobs) -> impl Iterator<Item = &Column> {
    let signs = jobs.liveness.iter().filter_map(|source| source.column()).map(|time| &time.column);
    signs.filter(|column| column.alias == jobs.claim.lock)
}

/// The conditions of each listing, one for each in-flight state. Empty if every row of the table is in flight. Where rows
/// lie in the order of the key, they are looked for by their state alone.
fn listings(jobs: &Jobs) -> Vec<BTreeSet<Condition>> {
    let filter: String = jobs.claim.filter.iter().map(|sql| sql.spelled(|_, _| " ? ".to_owned())).collect();
    let alias = format!("{}.", jobs.claim.lock.to_lowercase());
    let mut filter = conditions(&filter, jobs.queue.engine);
    filter.iter_mut().for_each(|condition| condition.retain(|word| *word != alias));
    let by_state = jobs.claim.own_state().is_some() && jobs.claim.rowid.is_some();
    filter.retain(|condition| !by_state && !condition.is_empty() && *condition != ["true"]);
    let states = match jobs.claim.own_state() {
        Some(column) => {
            let name = quoted(&column.name);
            let is = |state: &StateValue| conditions(&format!("{name} = {}", stored(state)), jobs.queue.engine);
            jobs.states.iter().map(is).collect()
        }
        None => vec![Vec::new()],
    };
    // A sign of life that is NULL is within no bound.
    let bounded = signs(jobs).map(|sign| sign.name.to_lowercase());
    let bounded = bounded.filter(|sign| filter.iter().any(|condition| bounds(condition, sign)));
    filter.extend(bounded.map(|sign| is_set(&sign)).collect::<Vec<_>>());
    states.into_iter().map(|state| state.into_iter().chain(filter.iter().cloned()).collect()).collect()
}

fn is_set(column: &str) -> Condition {
    [column, "is", "not", "null"].map(str::to_owned).to_vec()
}

/// A stored state as an SQL literal.
fn stored(state: &StateValue) -> String {
    match &state.stored {
        Cell::Integer(number) => number.to_string(),
        other => literal(&other.to_string()),
    }
}

/// The conditions that AND joins, in one spelling.
fn conditions(sql: &str, engine: Engine) -> Vec<Condition> {
    const BEHIND_TYPE: [&str; 9] = [".", "(", ")", "precision", "time", "varying", "with", "without", "zone"];
    let is_number = |token: &Token<'_>| token.kind == Kind::Number;
    let mut tokens = tokens(sql, engine.quotes_in_brackets()).peekable();
    let mut words: Vec<String> = Vec::new();
    while let Some(token) = tokens.next() {
        match (token.text, words.last_mut()) {
            ("::", _) => {
                tokens.next();
                while let Some(token) = tokens.next_if(|token| BEHIND_TYPE.contains(&token.text)) {
                    // A type of a schema, or a length.
                    tokens.next_if(|_| matches!(token.text, "." | "("));
                }
            }
            ("(" | ")" | "[" | "]" | ",", _) => {}
            // A word with a dot is the alias of a table.
            (".", Some(alias)) => alias.push('.'),
            ("-", _) => words.push(format!("-{}", tokens.next_if(is_number).map_or("", |number| number.text))),
            _ => words.push(bare(token)),
        }
    }
    words.split(|word| word == "and").map(<[String]>::to_vec).collect()
}

/// A word without the quotes of a name, a number or a truth value; all but texts in lower case.
fn bare(token: Token<'_>) -> String {
    let value = token.value();
    match token.kind {
        Kind::Text if value.parse::<i64>().is_ok() || value == "true" || value == "false" => value,
        Kind::Text => token.text.to_owned(),
        _ => value.to_lowercase(),
    }
}

/// True if an index with that condition holds every row of the listing.
fn is_implied(condition: &str, listing: &BTreeSet<Condition>, engine: Engine) -> bool {
    let equals = |column: &str, value: &str| listing.contains(&[column, "=", value].map(str::to_owned).to_vec());
    let is_among = |condition: &Condition| match words(condition)[..] {
        [column, "=", "any", "array", ref list @ ..] => list.iter().any(|value| equals(column, value)),
        _ => false,
    };
    conditions(condition, engine).iter().all(|condition| listing.contains(condition) || is_among(condition))
}

/// What makes an index that leads there and stays small, because finished jobs are not in it.
fn statement(jobs: &Jobs, live: &LiveTable) -> Option<String> {
    // A job that no worker holds has no value there.
    let tells = |column: &&Column| {
        let is_set = is_set(&column.name.to_lowercase());
        listings(jobs).iter().all(|listing| listing.contains(&is_set))
    };
    let state = jobs.claim.own_state();
    let column = match state {
        Some(state) => signs(jobs).next().unwrap_or(state),
        None => signs(jobs).chain(owner(jobs)).find(tells)?,
    };
    let column = quoted(&column.name);
    let index = |table: &str| quoted(&format!("{table}_in_flight"));
    if !jobs.queue.engine.plans_with_values() {
        let on = format!("CREATE INDEX {} ON {}", index(&live.name), name(jobs, live));
        return Some(match state.map(|state| quoted(&state.name)) {
            Some(state) if state != column => format!("{on} ({state}, {column})"),
            Some(state) => format!("{on} ({state})"),
            None => format!("{on} ({column}) WHERE {column} IS NOT NULL"),
        });
    }
    let condition = match state {
        Some(state) => match jobs.states.iter().map(stored).collect::<Vec<_>>().as_slice() {
            [only] => format!("{} = {only}", quoted(&state.name)),
            several => format!("{} IN ({})", quoted(&state.name), several.join(", ")),
        },
        None => format!("{column} IS NOT NULL"),
    };
    let on = |index: String, table: String| {
        format!("CREATE INDEX CONCURRENTLY {index} ON {table} ({column}) WHERE {condition}")
    };
    let Some(partitions) = &live.partitions else { return Some(on(index(&live.name), name(jobs, live))) };
    // Postgres makes no index concurrently on a partitioned table, but it takes those of its partitions together in
    // one.
    let whole = format!("CREATE INDEX {} ON ONLY {} ({column}) WHERE {condition}", index(&live.name), name(jobs, live));
    let of_whole = qualified(&live.schema, &format!("{}_in_flight", live.name));
    let parts = partitions.iter().flat_map(|(schema, table)| {
        let attached = qualified(schema, &format!("{table}_in_flight"));
        let attach = format!("ALTER INDEX {of_whole} ATTACH PARTITION {attached}");
        [on(index(table), qualified(schema, table)), attach]
    });
    Some(std::iter::once(whole).chain(parts).collect::<Vec<_>>().join("; ") + ";")
}

fn owner(jobs: &Jobs) -> Option<&Column> {
    let Some(Expr::Column(owner)) = &jobs.owner.id else { return None };
    Some(owner).filter(|owner| owner.alias == jobs.claim.lock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_as_postgres_spells_them_are_understood() {
        let cases = [
            ("(status = 'doing'::procrastinate_job_status)", true),
            ("((status)::text = 'doing'::text)", true),
            ("(status = ANY (ARRAY['todo'::my.state, 'doing'::my.state]))", true),
            ("((status = 'doing'::text) AND (locked_at IS NOT NULL))", true),
            ("((status)::character varying = 'doing'::character varying) AND (locked_at IS NOT NULL)", true),
            ("((status)::character varying(20) = 'doing'::bpchar)", true),
            ("\"status\" = 'doing'", true),
            ("status='doing'", true),
            // A schema whose name needs quotes.
            ("(status = 'doing'::\"my-app\".procrastinate_job_status)", true),
            ("(status = 'doing'::\"Ha.i x y\".\"Job state\")", true),
            ("(status = ANY (ARRAY['todo'::\"My-Boss\".s, 'doing'::\"My-Boss\".s]))", true),
            // States that are no texts, and a name in camel case.
            ("(n = 1)", true),
            ("(n = '1'::integer)", true),
            ("(m = ANY (ARRAY['-1'::integer, 2]))", true),
            ("(m='-1'::integer)", true),
            ("(running = true)", true),
            ("(\"State\" = 'Run and go'::text)", true),
            ("(\"State\" = 'run and go'::text)", false),
            ("(n = 2)", false),
            ("(status = 'todo'::procrastinate_job_status)", false),
            ("(status < 'doing'::pgboss.job_state)", false),
            ("((status = 'doing'::text) AND (queue = 'mail'::text))", false),
            ("((status = 'doing'::text) OR (queue = 'mail'::text))", false),
            ("(status = ANY (ARRAY['todo'::my.state, 'done'::my.state]))", false),
            ("(o.status = 'doing'::text)", false),
            ("(is_available = true)", false),
            ("(status = 'DOING'::text)", false),
            ("", false),
        ];
        let listing = "status = 'doing' AND locked_at IS NOT NULL AND n = 1 AND m = -1 AND running = 'true'
            AND \"State\" = 'Run and go'";
        let listing = conditions(listing, Engine::Postgres).into_iter().collect();
        for (condition, expected) in cases {
            assert_eq!(is_implied(condition, &listing, Engine::Postgres), expected, "{condition}");
        }
    }
}
