//! The condition of rows in flight: where no column alone tells them, and where some are no jobs any more.

use super::draft::{of_job, sampled};
use super::facts::{Facts, Shape, StateSeen, Support, stored};
use super::keys::Finding;
use super::roles::{Class, Role, is_deletion};
use super::rows::Rows;
use super::table::{Sampler, Subject, SubjectColumn};
use super::times::newest_in;
use crate::model::{Cell, Engine, Timestamp};
use crate::preset::lex::{Kind, tokens};
use std::collections::BTreeSet;

/// Whether a condition leaves rows out that are no jobs any more, and tells nothing of a claim.
pub(super) fn is_of_ends(subject: &Subject, condition: &str) -> bool {
    let of_claims = [Some(Role::Claimed), Some(Role::Owner), Some(Role::Lease), Some(Role::Heartbeat)];
    let has_state = subject.of_role(Role::State).next().is_some();
    has_state && !named_in(subject, condition).any(|column| of_claims.contains(&column.role))
}

/// The columns that a condition names.
pub(super) fn named_in<'s>(subject: &'s Subject, condition: &str) -> impl Iterator<Item = &'s SubjectColumn> {
    // If brackets are no quotes, a plain name in them is still found.
    let names = tokens(condition, false).filter(|token| matches!(token.kind, Kind::Word | Kind::Quoted));
    let names: Vec<String> = names.map(|token| token.value()).collect();
    subject.columns.iter().filter(move |column| names.contains(&column.name))
}

pub(super) fn ends(subject: &Subject) -> impl Iterator<Item = &SubjectColumn> {
    subject.columns.iter().filter(|column| matches!(column.role, Some(Role::Ended(_))) && !is_deletion(&column.name))
}

pub(super) fn deletions(subject: &Subject) -> impl Iterator<Item = &SubjectColumn> {
    subject.columns.iter().filter(|column| is_deletion(&column.name) && column.class != Class::Json)
}

/// The condition that a column holds a value, by what stands for none in the rows that were read.
pub(super) fn set_sql(engine: Engine, column: &SubjectColumn, all: &Rows) -> String {
    let name = column.sql.clone();
    let none = all.values(&column.name).filter(|cell| all.is_none(&column.name, cell) && !cell.is_null());
    let none: BTreeSet<String> = none.map(|cell| stored(engine, column.class, cell)).collect();
    match column.class {
        Class::Boolean => name,
        _ if none.is_empty() => format!("{name} IS NOT NULL"),
        _ => format!("{name} NOT IN ({})", none.into_iter().collect::<Vec<_>>().join(", ")),
    }
}

fn unset_sql(engine: Engine, column: &SubjectColumn, all: &Rows) -> String {
    let set = set_sql(engine, column, all);
    match set.strip_suffix(" IS NOT NULL") {
        Some(name) => format!("{name} IS NULL"),
        None if column.class == Class::Boolean && all.values(&column.name).all(|cell| !cell.is_null()) => {
            format!("NOT {set}")
        }
        None => format!("NOT coalesce({set}, false)"),
    }
}

/// The conditions that a row has not ended and is not deleted.
pub(super) fn open_sql(engine: Engine, subject: &Subject, all: &Rows) -> Vec<String> {
    ends(subject).chain(deletions(subject)).map(|column| unset_sql(engine, column, all)).collect()
}

/// The condition that would make a row a claim: begun, not ended, not deleted. Of the columns that may tell a claim the
/// one that the fewest rows have. The rows support it if each of them that meets it has all of a claim, and no other
/// that has not ended.
pub(super) fn proposal(sampler: &Sampler<'_>, all: &Rows, status: Option<&(String, Vec<StateSeen>)>) -> (String, bool) {
    let (subject, engine, now) = (sampler.subject, sampler.engine, sampler.reader.now());
    let open = ends(subject).chain(deletions(subject)).fold(all.clone(), |rows, column| rows.without(&column.name));
    // Whether a column is set where all of these are, and nowhere else.
    let splits = |column: &SubjectColumn, signs: &[&SubjectColumn]| {
        let (held, free) = (open.with(&column.name), open.without(&column.name));
        !signs.is_empty() && signs.iter().all(|sign| held.is_held(&sign.name) && free.is_free(&sign.name))
    };
    let is_named = |column: &&SubjectColumn| matches!(column.role, Some(Role::Claimed | Role::Owner));
    let mut signs: Vec<&SubjectColumn> = subject.columns.iter().filter(is_named).collect();
    // A flag of any name.
    let follows = |flag: &&SubjectColumn| flag.class == Class::Boolean && flag.role.is_none() && splits(flag, &signs);
    let flags: Vec<&SubjectColumn> = subject.columns.iter().filter(follows).collect();
    signs.extend(flags);
    if signs.is_empty() {
        signs.extend(subject.of_role(Role::Lease));
    }
    let held_rows = |column: &SubjectColumn| match open.set(&column.name).count() {
        0 => usize::MAX,
        rows => rows,
    };
    // A flag is made to tell; of others the one that the fewest rows have.
    let Some(begin) = signs.iter().min_by_key(|column| (column.class != Class::Boolean, held_rows(column))) else {
        return (String::new(), false);
    };
    let (held, free) = (open.with(&begin.name), open.without(&begin.name));
    // A flag or a time that only some of these rows have may be an end of the others, whatever it is called.
    // So may a number or a word that differs among them, and from that of all others: a state that nothing names.
    let may_end = |column: &SubjectColumn| {
        let is_mixed = held.set(&column.name).next().is_some() && !held.is_held(&column.name);
        let none = free.agreed(&column.name).filter(|none| !none.is_null());
        let differs = |none: &Cell| held.values(&column.name).all(|cell| cell != none);
        let may_tell = held.agreed(&column.name).is_none() && none.is_some_and(differs);
        column.role.is_none() && (may_tell || (is_mixed && is_time_or_flag(column, &held, now)))
    };
    let is_supported = splits(begin, &signs) && !subject.columns.iter().any(may_end);
    let mut parts = vec![set_sql(engine, begin, all)];
    parts.extend(open_sql(engine, subject, all));
    if let Some((column, states)) = status.filter(|(_, states)| states.len() > 1) {
        let class = subject.column(column).map_or(Class::Text, |column| column.class);
        let mixed = states.iter().filter(|state| state.held > 0 && !state.is_over);
        let mixed: Vec<String> = mixed.map(|state| stored(engine, class, &state.value)).collect();
        parts.push(format!("{} IN ({})", of_job(column), mixed.join(", ")));
    }
    (parts.join(" AND "), is_supported)
}

/// What waits where no state says it: nothing but the operator does.
pub(super) fn waits(facts: &Facts<'_>) -> Vec<Finding> {
    match facts.shape {
        Shape::Where { .. } => vec![Finding::open("", "CONDITION", Vec::new())],
        Shape::Column { .. } => Vec::new(),
    }
}

/// Which rows are jobs in flight: where no column alone tells, and where a state has rows that may be none any more.
pub(super) fn condition(facts: &Facts<'_>) -> Vec<Finding> {
    let subject = facts.subject;
    let seen = |column: &SubjectColumn| {
        let set = facts.all.set(&column.name).count();
        format!("{}, set in {set} of {} rows", sampled(&column.name, &facts.all), facts.all.len())
    };
    if let Some(said) = facts.answers.get("claim.where") {
        return vec![Finding::new(said, Support::Answered, "as answered")];
    }
    if let Shape::Where { condition, is_supported, .. } = &facts.shape {
        let of_claims = [Role::Claimed, Role::Ended(true), Role::Ended(false), Role::Lease, Role::Owner, Role::State];
        let tells = |column: &&SubjectColumn| {
            column.class == Class::Boolean || column.role.is_some_and(|role| of_claims.contains(&role))
        };
        let seen = subject.columns.iter().filter(tells).map(seen).collect();
        let about = "no column is known that tells it alone (name one with claim.state; if another table keeps it: docs/mapping.md)";
        let support = Support::by(*is_supported, facts.waiting.len(), facts.in_flight.len()).min(Support::Rows);
        return match condition.is_empty() || support == Support::Name {
            true => vec![Finding::open(about, "CONDITION", seen)],
            false => vec![Finding::new(condition, support, "").asked(about, condition, seen)],
        };
    }
    // A deletion; or what only some rows in flight have and no job that waits: an end, a cancellation.
    let is_mark = |column: &&SubjectColumn| {
        let some = facts.in_flight.set(&column.name).next().is_some() && !facts.in_flight.is_held(&column.name);
        let is_end = matches!(column.role, None | Some(Role::Ended(_)));
        let is_of_some = is_end && some && facts.waiting.is_free(&column.name);
        is_deletion(&column.name) || (is_of_some && is_time_or_flag(column, &facts.in_flight, facts.now))
    };
    let marks: Vec<&SubjectColumn> = subject.columns.iter().filter(is_mark).collect();
    if marks.is_empty() {
        return Vec::new();
    }
    // What nothing names an end may be a heartbeat that some have not written yet.
    let is_named = |column: &&&SubjectColumn| is_deletion(&column.name) || column.role.is_some();
    let named: Vec<&SubjectColumn> = marks.iter().filter(is_named).copied().collect();
    let is_used = named.iter().any(|column| facts.all.set(&column.name).next().is_some());
    let support = if is_used && named.len() == marks.len() { Support::Rows } else { Support::Name };
    let unset: Vec<String> = named.iter().map(|column| unset_sql(facts.engine, column, &facts.all)).collect();
    let condition = if unset.is_empty() { "CONDITION".to_owned() } else { unset.join(" AND ") };
    let names: Vec<&str> = marks.iter().map(|column| column.name.as_str()).collect();
    let about = format!("a row with `{}` may be none any more", names.join("` or `"));
    let seen = marks.into_iter().map(seen).collect();
    vec![Finding::new(&condition, support, "").asked(about, &condition, seen)]
}

/// Whether a column is a flag or keeps times.
fn is_time_or_flag(column: &SubjectColumn, rows: &Rows, now: Timestamp) -> bool {
    let is_flag = column.class == Class::Number && rows.set(&column.name).all(|cell| *cell == Cell::Integer(1));
    is_flag || matches!(column.class, Class::Boolean | Class::Time) || newest_in(rows.set(&column.name), now).is_some()
}
