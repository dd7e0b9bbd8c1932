//! Which rows wait, are in flight and have ended: by a state column, or by the columns that tell it together.

use super::draft::{Answers, Draft, counted, is_unset, of_job, sampled};
use super::facts::{Facts, Shape, StateSeen, stored};
use super::roles::{Class, Meaning, Role, class};
use super::table::{Rows, Sampler, Subject, SubjectColumn, with_value};
use crate::model::Cell;
use crate::ops::OpsError;
use crate::output::format::count;
use crate::output::{DraftKey, Grade};
use crate::preset::LiveColumn;
use crate::preset::ident::{qualified, quoted};
use std::collections::BTreeMap;
use toml_edit::{Array, InlineTable, Value};

/// The state column: the one that is answered, or the likeliest by name and type.
pub(super) fn state_column<'s>(subject: &'s Subject, answers: &Answers) -> Option<&'s SubjectColumn> {
    match answers.get("claim.state") {
        Some("none") => return None,
        Some(answer) => return subject.column(answer),
        None if answers.get("claim.where").is_some() => return None,
        None => {}
    }
    let of_state = || subject.of_role(Role::State);
    let named = of_state()
        .find(|column| column.labels.is_some())
        .or_else(|| of_state().find(|column| column.class != Class::Boolean));
    let by_type = || subject.columns.iter().find(|column| column.labels.is_some() && column.role.is_none());
    // One flag may be the whole state; several flags, or a flag and an end, are told together.
    let flags = || subject.columns.iter().filter(|column| column.class == Class::Boolean);
    let ends = || subject.columns.iter().any(|column| matches!(column.role, Some(Role::Ended(_))));
    let flag = || {
        flags()
            .find(|column| matches!(column.role, Some(Role::Claimed | Role::State)))
            .filter(|_| flags().count() == 1 && !ends())
    };
    named.or_else(by_type).or_else(flag)
}

pub(super) fn shape(sampler: &mut Sampler<'_>, answers: &Answers, ends: &Rows) -> Result<Shape, OpsError> {
    let subject = sampler.subject;
    if let Some(column) = state_column(subject, answers) {
        let states = states(sampler, column, ends)?;
        return Ok(Shape::Column { name: column.name.clone(), states: with_meanings(subject, answers, states) });
    }
    let condition = answers.get("claim.where").map_or_else(|| proposal(subject), str::to_owned);
    let mut groups = BTreeMap::new();
    if condition.is_empty() {
        return Ok(Shape::Where { condition, groups });
    }
    groups.insert(Meaning::InFlight, sampler.rows(&format!("({condition})"), "")?);
    let over: Vec<String> = ended(subject).map(set_sql).collect();
    let over = if over.is_empty() { String::new() } else { format!(" AND NOT ({})", over.join(" OR ")) };
    groups.insert(Meaning::Waiting, sampler.rows(&format!("NOT coalesce(({condition}), false){over}"), "")?);
    for column in ended(subject) {
        let meaning = if column.role == Some(Role::Ended(true)) { Meaning::Failed } else { Meaning::Done };
        let rows = sampler.rows(&set_sql(column), "")?;
        let known = groups.entry(meaning).or_default();
        *known = known.and(&rows);
    }
    Ok(Shape::Where { condition, groups })
}

fn ended(subject: &Subject) -> impl Iterator<Item = &SubjectColumn> {
    subject.columns.iter().filter(|column| matches!(column.role, Some(Role::Ended(_))))
}

/// The condition that a column holds a value.
fn set_sql(column: &SubjectColumn) -> String {
    let name = of_job(&column.name);
    match column.class {
        Class::Boolean => format!("coalesce({name}, false)"),
        _ => format!("{name} IS NOT NULL"),
    }
}

/// The condition that would make a row a claim, by names: begun and not ended.
fn proposal(subject: &Subject) -> String {
    let flag = subject.of_role(Role::Claimed).find(|column| column.class == Class::Boolean);
    let named = || [Role::Claimed, Role::Owner, Role::Lease].into_iter().find_map(|role| subject.of_role(role).next());
    let Some(begin) = flag.or_else(named) else { return String::new() };
    let is_set = |column: &SubjectColumn| match column.class {
        Class::Boolean => of_job(&column.name),
        _ => set_sql(column),
    };
    let not = |column: &SubjectColumn| match column.class {
        Class::Boolean => format!("NOT {}", of_job(&column.name)),
        _ => format!("{} IS NULL", of_job(&column.name)),
    };
    std::iter::once(is_set(begin)).chain(ended(subject).map(not)).collect::<Vec<_>>().join(" AND ")
}

fn states(sampler: &mut Sampler<'_>, column: &SubjectColumn, ends: &Rows) -> Result<Vec<StateSeen>, OpsError> {
    let labels = lookup(sampler, column)?;
    let values = sampler.distinct(&column.name, column.labels.as_deref(), ends)?;
    let is_truth = column.class == Class::Boolean;
    let mut states = Vec::new();
    for value in values {
        let stored = stored(sampler.engine, column, &value);
        let mut rows = sampler.rows(&format!("j.{} = {stored}", quoted(&column.name)), "")?;
        if rows.rows.is_empty() {
            rows = with_value(ends, &column.name, &value);
        }
        let label = labels.iter().find(|(stored, _)| *stored == value.to_string()).map(|(_, label)| label.clone());
        let (meaning, grade, why) = (None, Grade::Likely, String::new());
        states.push(StateSeen { value, label, is_truth, rows, meaning, grade, why });
    }
    Ok(states)
}

/// The names of a number's meanings in the table that it refers to.
fn lookup(sampler: &mut Sampler<'_>, column: &SubjectColumn) -> Result<Vec<(String, String)>, OpsError> {
    let Some(foreign) = sampler.subject.foreign.iter().find(|foreign| foreign.column == column.name) else {
        return Ok(Vec::new());
    };
    let live = sampler.reader.live_schema(std::slice::from_ref(&foreign.table))?;
    let Some(table) = live.table(Some(&foreign.schema), &foreign.table) else { return Ok(Vec::new()) };
    let is_label = |column: &&LiveColumn| column.name != foreign.to && class(&column.type_name) == Class::Text;
    let Some(label) = table.columns.iter().find(is_label) else { return Ok(Vec::new()) };
    let (key, label, table) = (quoted(&foreign.to), quoted(&label.name), qualified(&table.schema, &table.name));
    let sql = format!("SELECT {key}, {label} FROM {table} LIMIT 100");
    let rows = sampler.query(&sql)?;
    Ok(rows.iter().filter_map(|row| Some((row.first()?.to_string(), row.get(1)?.to_text()?))).collect())
}

/// Gives each state its meaning: as answered, by its name, or by what its rows hold.
fn with_meanings(subject: &Subject, answers: &Answers, mut states: Vec<StateSeen>) -> Vec<StateSeen> {
    let signs = signs(subject, answers, &states);
    let is_idle = |state: &StateSeen| {
        !state.rows.rows.is_empty() && signs.iter().all(|column| state.rows.values(column).all(is_unset))
    };
    let some_hold = states.iter().any(|state| !state.rows.rows.is_empty() && !is_idle(state)) && !signs.is_empty();
    let has_word = states
        .iter()
        .any(|state| Meaning::of(state.label.as_deref().unwrap_or(&state.text())) == Some(Meaning::Waiting));
    let over: Vec<&str> = ended(subject).map(|column| column.name.as_str()).collect();
    for state in &mut states {
        let text = state.text();
        let answered = Meaning::ALL.into_iter().find(|meaning| {
            answers
                .list(&format!("states.{}", meaning.key()))
                .is_some_and(|list| list.iter().any(|one| *one == text || state.label.as_deref() == Some(*one)))
        });
        let name = state.label.as_deref().unwrap_or(&text);
        let named = Meaning::of(name);
        // An answer is complete: no proposal is added to it.
        let named = named.filter(|meaning| answers.get(&format!("states.{}", meaning.key())).is_none());
        let has_ended = over.iter().any(|column| state.rows.values(column).any(|cell| !is_unset(cell)));
        let idle = some_hold && is_idle(state) && !has_ended;
        let shown_idle =
            || (Some(Meaning::Waiting), Grade::Shown, format!("no claim in {}", counted(&state.rows, "of it")));
        (state.meaning, state.grade, state.why) = match (answered, named) {
            (Some(meaning), _) => (Some(meaning), Grade::Asked, "as answered".to_owned()),
            (None, Some(Meaning::Waiting)) if idle => shown_idle(),
            (None, Some(meaning)) => (Some(meaning), Grade::Likely, format!("by the name `{name}`")),
            // Where a word says which wait, others without a claim may be held back, or be of no matter.
            (None, None) if idle && !has_word && answers.get("states.waiting").is_none() => shown_idle(),
            (None, None) => (None, Grade::Likely, String::new()),
        };
    }
    // Without a word for it, what holds a claim that has not ended is proposed as in flight: asked, never taken.
    let is_meant = |states: &[StateSeen]| states.iter().any(|state| state.meaning == Some(Meaning::InFlight));
    if !is_meant(&states) && answers.get("states.in_flight").is_none() {
        let unclaimed = |state: &&mut StateSeen| {
            state.meaning.is_none()
                && !state.rows.rows.is_empty()
                && signs.iter().any(|column| state.rows.is_set(column))
                && over.iter().all(|column| state.rows.values(column).all(is_unset))
        };
        for state in states.iter_mut().filter(unclaimed) {
            state.meaning = Some(Meaning::InFlight);
        }
    }
    states
}

/// The columns that a claim sets: as answered and by their names, or else those that are NULL in all rows of one state
/// and set in all of another.
fn signs<'s>(subject: &'s Subject, answers: &Answers, states: &[StateSeen]) -> Vec<&'s str> {
    let said = |column: &&SubjectColumn| {
        ["owner.id", "claim.claimed_at"].iter().any(|key| answers.get(key) == Some(&column.name))
    };
    let is_sign = |column: &&SubjectColumn| {
        let named = matches!(column.role, Some(Role::Claimed | Role::Heartbeat | Role::Lease | Role::Owner));
        (named && column.class != Class::Boolean) || said(column)
    };
    let named: Vec<&str> = subject.columns.iter().filter(is_sign).map(|column| column.name.as_str()).collect();
    if !named.is_empty() {
        return named;
    }
    let plain = subject.columns.iter().filter(|column| column.role.is_none());
    let differs = |column: &&SubjectColumn| {
        let some = |is: fn(&Rows, &str) -> bool| states.iter().any(|state| is(&state.rows, &column.name));
        // An error of an earlier run is NULL in some rows of a state and set in others; a claim's columns are not.
        let is_mixed = |rows: &Rows| !(rows.rows.is_empty() || rows.is_null(&column.name) || rows.is_set(&column.name));
        some(Rows::is_null) && some(Rows::is_set) && !states.iter().any(|state| is_mixed(&state.rows))
    };
    plain.filter(differs).map(|column| column.name.as_str()).collect()
}

pub(super) fn draft(facts: &Facts<'_>, draft: &mut Draft<'_>) {
    let answers = facts.answers;
    let (name, states) = match &facts.shape {
        Shape::Column { name, states } => (name, states),
        Shape::Where { condition, .. } => {
            draft.key("claim.state", "'running'", Grade::Likely, "the name of what `where` finds");
            match answers.get("claim.where") {
                Some(_) => draft.key("claim.where", condition.as_str(), Grade::Asked, ""),
                None => {
                    let tells = |column: &&SubjectColumn| {
                        matches!(column.role, Some(Role::Claimed | Role::Ended(_) | Role::Lease | Role::Owner))
                    };
                    let columns = facts.subject.columns.iter().filter(tells);
                    let seen = columns.map(|column| sampled(&column.name, &facts.all)).collect();
                    let form = if condition.is_empty() { "j.COLUMN IS NOT NULL" } else { condition };
                    let question = "which rows are in flight? there is no state column";
                    draft.ask("claim.where", question, seen, form, !condition.is_empty());
                }
            }
            return;
        }
    };
    let column = facts.subject.column(name);
    let values = states.len();
    let reason = format!("by name and type, with {values} different values");
    draft.key("claim.state", name.as_str(), Grade::Likely, reason);
    let watched =
        facts.watched.and_then(|watched| watched.states(facts.subject, &facts.rows(Meaning::Waiting), states));
    for meaning in Meaning::ALL {
        let of: Vec<&StateSeen> = states.iter().filter(|state| state.meaning == Some(meaning)).collect();
        let key = format!("states.{}", meaning.key());
        if meaning == Meaning::InFlight && answers.get(&key).is_none() {
            match &watched {
                Some(seen) => draft.keys.push(DraftKey::new(
                    &key,
                    list(states.iter().filter(|state| seen.contains(&state.text()))),
                    Grade::Shown,
                    "a heartbeat changed on rows of it while it was watched",
                )),
                None => {
                    let form = of.iter().map(|state| state.text()).collect::<Vec<_>>().join(",");
                    let comment =
                        column.and_then(|column| column.comment.clone()).map(|comment| format!("comment: {comment}"));
                    let seen = states.iter().map(described).chain(comment).collect();
                    let question = format!("in which states of `{name}` does a worker hold the job?");
                    let is_proposal = !form.is_empty();
                    let form = if is_proposal { form } else { "STATE,STATE".to_owned() };
                    draft.ask(&key, question, seen, form, is_proposal);
                }
            }
            continue;
        }
        if let Some(said) = answers.list(&key) {
            let unknown = said
                .iter()
                .filter(|one| !of.iter().any(|state| state.text() == **one || state.label.as_deref() == Some(**one)));
            let is_number = states.iter().any(|state| matches!(state.value, Cell::Integer(_)));
            let others: Vec<Value> = unknown
                .map(|one| match one.parse::<i64>() {
                    Ok(number) if is_number => number.into(),
                    _ => (*one).into(),
                })
                .collect();
            if !of.is_empty() || !others.is_empty() {
                let mut value = list(of.into_iter());
                if let Some(list) = value.as_array_mut() {
                    others.into_iter().for_each(|other| list.push(other));
                }
                draft.answered(&key, value);
            }
        } else if let Some(first) = of.first() {
            let grade = if of.iter().all(|state| state.grade == Grade::Shown) { Grade::Shown } else { Grade::Likely };
            draft.keys.push(DraftKey::new(&key, list(of.iter().copied()), grade, first.why.clone()));
        } else if meaning == Meaning::Waiting && answers.get("actions") != Some("none") {
            let seen = states.iter().map(described).collect();
            draft.ask(&key, format!("in which states of `{name}` does a job wait?"), seen, "STATE", false);
        }
    }
    let rest: Vec<&StateSeen> = states.iter().filter(|state| state.meaning.is_none()).collect();
    if !rest.is_empty() {
        let form = rest.iter().map(|state| state.text()).collect::<Vec<_>>().join(",");
        let seen = rest.iter().map(|state| described(state)).collect();
        let question = "what do these states mean? name them under waiting, done, failed or cancelled, or `ignored`";
        draft.ask("states.ignored", question, seen, form, true);
    }
}

fn described(state: &StateSeen) -> String {
    let label = state.label.as_ref().map_or_else(String::new, |label| format!(" ({label})"));
    let rows = match state.rows.rows.len() {
        500.. => "500 rows or more".to_owned(),
        rows => count(rows as u64, "row", "rows"),
    };
    format!("{}{label}: {rows}", state.text())
}

/// States as a list, or as a table where a lookup table names them.
fn list<'s>(states: impl Iterator<Item = &'s StateSeen>) -> Value {
    let states: Vec<&StateSeen> = states.collect();
    if states.iter().any(|state| state.label.is_some()) {
        let named = states.iter().map(|state| (state.label.clone().unwrap_or_else(|| state.text()), state.value()));
        return named.collect::<InlineTable>().into();
    }
    states.iter().map(|state| state.value()).collect::<Array>().into()
}
