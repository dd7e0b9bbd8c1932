//! Checks that an index serves the listing, and proposes one.

use super::{Findings, name};
use crate::model::Cell;
use crate::ops::OpsError;
use crate::ops::session::Snapshot;
use crate::preset::ident::{literal, qualified, quoted};
use crate::preset::{Column, Expr, LiveIndex, LiveTable, Piece, QueueSpec, StateValue, Template};
use std::collections::BTreeSet;
use std::time::Duration;

/// One of the conditions that AND joins, as words.
type Condition = Vec<String>;

/// Warns if no index leads to the claims in flight, so that every snapshot reads the table; with what that costs today,
/// and the statement that makes one.
pub(super) fn index(
    findings: &mut Findings,
    snapshot: &mut Snapshot,
    counted: Option<Duration>,
) -> Result<(), OpsError> {
    let spec = &snapshot.spec;
    let Some(table) = spec.tables.get(&spec.claim.lock_table) else { return Ok(()) };
    // A view's own tables have the indexes.
    let live = snapshot.live.table(Some(&table.schema), &table.name).filter(|live| !live.is_view);
    let Some(live) = live else { return Ok(()) };
    let listings = listings(spec);
    if listings.iter().all(BTreeSet::is_empty) {
        if spec.state_stands_elsewhere() {
            let detail =
                format!("the state stands in another table: every snapshot may read all of table {}", live.name);
            findings.costs("index", detail, None, counted);
        } else {
            findings.ok("index", format!("every row of table {} is a claim in flight", live.name));
        }
        return Ok(());
    }
    // Each in-flight state is listed separately, so each needs an index.
    let is_served =
        |table: &LiveTable| listings.iter().all(|says| table.indexes.iter().any(|index| serves(spec, index, says)));
    if is_served(live) {
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
        if partitions.iter().all(|(schema, name)| parts.table(Some(schema), name).is_some_and(is_served)) {
            let detail = format!("an index of each partition of table {} leads to the claims in flight", live.name);
            findings.ok("index", detail);
            return Ok(());
        }
    }
    let detail =
        format!("no index of table {} leads to the claims in flight: every snapshot reads the whole table", live.name);
    findings.costs("index", detail, statement(spec, live), counted);
    Ok(())
}

/// True if the database will probably read a listing with these conditions through that index.
fn serves(spec: &QueueSpec, index: &LiveIndex, says: &BTreeSet<Condition>) -> bool {
    match (&index.condition, index.columns.first()) {
        (Some(condition), _) => implied(condition, says),
        (None, Some(first)) => leads(spec, &first.to_lowercase(), says),
        (None, None) => false,
    }
}

/// True if hardly a row that is not in flight meets the conditions on the column. Finished jobs keep their signs of
/// life if only the state tells them from claims in flight.
fn leads(spec: &QueueSpec, column: &str, says: &BTreeSet<Condition>) -> bool {
    let is_kept = spec.claim.own_state().is_some() && signs(spec).any(|sign| sign.name.to_lowercase() == column);
    says.iter().filter(|condition| condition.first().is_some_and(|first| first == column)).any(|condition| {
        let rest: Vec<&str> = condition.iter().skip(1).map(String::as_str).collect();
        matches!(rest.as_slice(), ["=", _]) || (rest == ["is", "not", "null"] && !is_kept)
    })
}

/// The signs of life on the claim's own row.
fn signs(spec: &QueueSpec) -> impl Iterator<Item = &Column> {
    let signs = spec.liveness.iter().filter_map(|source| source.column()).map(|time| &time.column);
    signs.filter(|column| column.alias == spec.claim.lock)
}

/// The conditions of each listing, one for each in-flight state. Empty if every row of the table is in flight.
fn listings(spec: &QueueSpec) -> Vec<BTreeSet<Condition>> {
    let filter: Vec<Condition> = match &spec.claim.filter {
        Some(Template(pieces)) => {
            let text = |piece: &Piece| match piece {
                Piece::Text(text) => text.clone(),
                _ => "?".to_owned(),
            };
            let all = conditions(&pieces.iter().map(text).collect::<String>());
            let alias = spec.claim.lock.to_lowercase();
            all.into_iter().map(|all| without(all, &alias)).filter(|all| *all != ["true"]).collect()
        }
        None => Vec::new(),
    };
    let states: Vec<Vec<Condition>> = match spec.claim.own_state() {
        Some(column) => {
            let is = |state: &StateValue| conditions(&format!("{} = {}", quoted(&column.name), stored(state)));
            spec.states.in_flight.iter().map(is).collect()
        }
        None => vec![Vec::new()],
    };
    let mut listings: Vec<BTreeSet<Condition>> =
        states.into_iter().map(|state| state.into_iter().chain(filter.iter().cloned()).collect()).collect();
    for says in listings.iter_mut().filter(|says| !says.is_empty()) {
        // The pre-filter compares it, so NULL never passes.
        says.extend(signs(spec).flat_map(|sign| conditions(&format!("{} IS NOT NULL", quoted(&sign.name)))));
    }
    listings
}

/// A condition without the alias of its table, as an index has it.
fn without(condition: Condition, alias: &str) -> Condition {
    let mut bare = Condition::new();
    for word in condition {
        match (word.as_str(), bare.last()) {
            (".", Some(last)) if last == alias => drop(bare.pop()),
            _ => bare.push(word),
        }
    }
    bare
}

/// A stored state as an SQL literal.
fn stored(state: &StateValue) -> String {
    match &state.stored {
        Cell::Integer(number) => number.to_string(),
        other => literal(&other.to_string()),
    }
}

/// The conditions that AND joins, in one spelling: see [`words`].
fn conditions(sql: &str) -> Vec<Condition> {
    words(sql).split(|word| word == "and").map(<[String]>::to_vec).collect()
}

/// SQL word by word, without casts, brackets, commas and quotes around names and numbers, in lower case but for texts.
fn words(sql: &str) -> Vec<String> {
    // The words that a type's name goes on with.
    const OF_TYPES: [&str; 7] = [".", "varying", "precision", "with", "without", "time", "zone"];
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut words, mut rest): (Vec<String>, &str) = (Vec::new(), sql);
    // In a cast, the part of the type's name that came last.
    let mut cast: Option<&str> = None;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' | '"' => rest.char_indices().skip(1).find(|(_, c)| *c == first).map_or(rest.len(), |(end, _)| end + 1),
            ':' if rest.starts_with("::") => 2,
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            '-' if rest.get(1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) => {
                rest.char_indices().skip(1).find(|(_, c)| !is_word(*c)).map_or(rest.len(), |(end, _)| end)
            }
            c => c.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        rest = after;
        match (word, cast) {
            (",", _) => cast = None,
            _ if first.is_whitespace() || "()[]".contains(first) => {}
            ("::", _) => cast = Some(word),
            (_, Some("::" | ".")) => cast = Some(word),
            // What `character varying(10)` and `timestamp(6) with time zone` go on with.
            (_, Some(_)) if OF_TYPES.contains(&word) || word.parse::<u16>().is_ok() => cast = Some(word),
            _ => {
                cast = None;
                words.push(match (first, word.trim_matches(first)) {
                    ('\'', inner) if inner.parse::<i64>().is_ok() || inner == "true" || inner == "false" => {
                        inner.into()
                    }
                    ('\'', _) => word.to_owned(),
                    ('"', inner) => inner.to_lowercase(),
                    _ => word.to_lowercase(),
                });
            }
        }
    }
    words
}

/// True if an index with that condition holds every row that a listing asks for.
fn implied(condition: &str, says: &BTreeSet<Condition>) -> bool {
    let is_among = |condition: &Condition| match condition.as_slice() {
        [column, is, any, array, list @ ..] if is == "=" && any == "any" && array == "array" => {
            let equals = |value: &String| says.contains(&vec![column.clone(), is.clone(), value.clone()]);
            list.iter().any(equals)
        }
        _ => false,
    };
    conditions(condition).iter().all(|condition| says.contains(condition) || is_among(condition))
}

/// What makes an index that leads there and stays small, because finished jobs are not in it.
fn statement(spec: &QueueSpec, live: &LiveTable) -> Option<String> {
    let sign = signs(spec).next();
    let column = sign.or(spec.claim.own_state().or_else(|| held_by(spec)))?;
    let column = quoted(&column.name);
    let index = |table: &str| quoted(&format!("{table}_in_flight"));
    if !spec.engine.plans_with_values() {
        let state = spec.claim.own_state().filter(|_| sign.is_some());
        let state = state.map(|state| format!("{}, ", quoted(&state.name))).unwrap_or_default();
        return Some(format!("CREATE INDEX {} ON {} ({state}{column})", index(&live.name), name(spec, live)));
    }
    let condition = match spec.claim.own_state() {
        Some(state) => match spec.states.in_flight.iter().map(stored).collect::<Vec<_>>().as_slice() {
            [only] => format!("{} = {only}", quoted(&state.name)),
            several => format!("{} IN ({})", quoted(&state.name), several.join(", ")),
        },
        None => format!("{column} IS NOT NULL"),
    };
    let on = |index: String, table: String| {
        format!("CREATE INDEX CONCURRENTLY {index} ON {table} ({column}) WHERE {condition}")
    };
    let Some(partitions) = &live.partitions else { return Some(on(index(&live.name), name(spec, live))) };
    // Postgres makes no index concurrently on a partitioned table, but it takes those of its partitions together in
    // one.
    let whole = format!("CREATE INDEX {} ON ONLY {} ({column}) WHERE {condition}", index(&live.name), name(spec, live));
    let parts = partitions.iter().flat_map(|(schema, table)| {
        let attached = qualified(schema, &format!("{table}_in_flight"));
        let attach = format!(
            "ALTER INDEX {} ATTACH PARTITION {attached}",
            qualified(&live.schema, &format!("{}_in_flight", live.name))
        );
        [on(index(table), qualified(schema, table)), attach]
    });
    Some(std::iter::once(whole).chain(parts).collect::<Vec<_>>().join("; "))
}

/// The owner's column, where a claim in flight is a row that has one.
fn held_by(spec: &QueueSpec) -> Option<&Column> {
    let Some(Expr::Column(owner)) = &spec.owner.id else { return None };
    let asked = conditions(&format!("{} IS NOT NULL", quoted(&owner.name)));
    let is_asked = listings(spec).iter().all(|says| asked.iter().all(|condition| says.contains(condition)));
    (owner.alias == spec.claim.lock && is_asked).then_some(owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_implied(condition: &str, says: &[&str]) -> bool {
        implied(condition, &says.iter().flat_map(|says| conditions(says)).collect())
    }

    #[test]
    fn conditions_as_postgres_spells_them_are_understood() {
        let doing = ["status = 'doing'", "locked_at IS NOT NULL"];
        assert!(is_implied("(status = 'doing'::procrastinate_job_status)", &doing));
        assert!(is_implied("((status)::text = 'doing'::text)", &doing));
        assert!(is_implied("(status = ANY (ARRAY['todo'::my.state, 'doing'::my.state]))", &doing));
        assert!(is_implied("((status = 'doing'::text) AND (locked_at IS NOT NULL))", &doing));
        assert!(is_implied(
            "((status)::character varying = 'doing'::character varying) AND (locked_at IS NOT NULL)",
            &doing
        ));
        assert!(is_implied("((status)::character varying(20) = 'doing'::bpchar)", &doing));
        assert!(is_implied("\"status\" = 'doing'", &doing));
        assert!(is_implied("status='doing'", &doing));
    }

    #[test]
    fn types_of_a_schema_whose_name_needs_quotes_are_understood() {
        let doing = ["status = 'doing'"];
        assert!(is_implied("(status = 'doing'::\"my-app\".procrastinate_job_status)", &doing));
        assert!(is_implied("(status = 'doing'::\"Ha.i x y\".\"Job state\")", &doing));
        assert!(is_implied("(status = ANY (ARRAY['todo'::\"My-Boss\".s, 'doing'::\"My-Boss\".s]))", &doing));
    }

    #[test]
    fn columns_in_camel_case_are_understood() {
        assert!(is_implied("(\"State\" = 'run'::text)", &["\"State\" = 'run'"]));
        assert!(!is_implied("(\"State\" = 'Run'::text)", &["\"State\" = 'run'"]));
    }

    #[test]
    fn states_that_are_no_texts_are_understood() {
        assert!(is_implied("(n = 1)", &["n = 1"]));
        assert!(is_implied("(n = '-1'::integer)", &["n = -1"]));
        assert!(is_implied("(n = ANY (ARRAY['-1'::integer, 2]))", &["n = 2"]));
        assert!(is_implied("(running = true)", &["running = 'true'"]));
        assert!(!is_implied("(n = 1)", &["n = 2"]));
    }

    #[test]
    fn an_index_without_all_claims_in_flight_leads_nowhere() {
        let doing = ["status = 'doing'"];
        assert!(!is_implied("(status = 'todo'::procrastinate_job_status)", &doing));
        assert!(!is_implied("(status < 'doing'::pgboss.job_state)", &doing));
        assert!(!is_implied("((status = 'doing'::text) AND (queue = 'mail'::text))", &doing));
        assert!(!is_implied("((status = 'doing'::text) OR (queue = 'mail'::text))", &["status = 'done'"]));
        assert!(!is_implied("(status = ANY (ARRAY['todo'::my.state, 'done'::my.state]))", &doing));
        assert!(!is_implied("(is_available = true)", &["locked_at IS NOT NULL"]));
        assert!(!is_implied("(status = 'DOING'::text)", &doing));
        assert!(!is_implied("", &doing));
    }
}
