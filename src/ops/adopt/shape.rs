//! Which rows wait, are in flight and have ended: by a state column, or by the columns that tell it together.

use super::condition::{deletions, ends, is_of_ends, open_sql, proposal, set_sql};
use super::draft::Answers;
use super::facts::{ENOUGH, Shape, StateSeen, Support, attempts, stored};
use super::roles::{Class, Meaning, Role, class, is_deletion};
use super::rows::Rows;
use super::table::{Sampler, Subject, SubjectColumn};
use crate::model::Cell;
use crate::ops::OpsError;
use crate::preset::ident::{qualified, quoted};
use crate::preset::{LiveColumn, did_you_mean};
use std::collections::BTreeMap;

/// The state column: the one that is answered, or the likeliest by name and type.
fn state_column<'s>(subject: &'s Subject, answers: &Answers) -> Option<&'s SubjectColumn> {
    match answers.get("claim.state") {
        Some("none") => return None,
        Some(answer) => return subject.column(answer),
        None if answers.get("claim.where").is_some_and(|said| !is_of_ends(subject, said)) => return None,
        None => {}
    }
    let of_state = || subject.of_role(Role::State);
    let named = of_state()
        .find(|column| column.labels.is_some())
        .or_else(|| of_state().find(|column| column.class != Class::Boolean));
    let tells = |column: &&SubjectColumn| {
        let labels = column.labels.as_deref().unwrap_or_default();
        column.role.is_none() && labels.iter().any(|label| Meaning::of(label) == Some(Meaning::InFlight))
    };
    let by_type = || subject.columns.iter().find(tells);
    // One flag may be the whole state; several flags, or a flag and an end, are told together.
    let flags = || {
        subject.columns.iter().filter(|column| {
            column.class == Class::Boolean && !is_deletion(&column.name) && !subject.generated.contains(&column.name)
        })
    };
    let flag = || {
        flags()
            .find(|column| matches!(column.role, Some(Role::Claimed | Role::State)))
            .filter(|_| flags().count() == 1 && ends(subject).next().is_none())
    };
    named.or_else(by_type).or_else(flag)
}

/// Reads the rows and groups them.
pub(super) fn shape(sampler: &mut Sampler<'_>, answers: &Answers, all: &Rows) -> Result<Shape, OpsError> {
    let subject = sampler.subject;
    let mut status: Option<(String, Vec<StateSeen>)> = None;
    if let Some(column) = state_column(subject, answers) {
        let states = with_meanings(subject, answers, &column.name, states(sampler, answers, column, all)?);
        if answers.get("claim.state").is_some() || tells_claims(&states) {
            return Ok(Shape::Column { name: column.name.clone(), states });
        }
        status = Some((column.name.clone(), states));
    }
    let (condition, is_supported) = match answers.get("claim.where") {
        Some(said) => (said.to_owned(), true),
        None => proposal(sampler, all, status.as_ref()),
    };
    let mut groups = BTreeMap::new();
    if !condition.is_empty() {
        groups.insert(Meaning::InFlight, sampler.rows(&format!("({condition})"), "")?);
        let mut waiting = vec![format!("NOT coalesce(({condition}), false)")];
        waiting.extend(open_sql(sampler.engine, subject, all));
        groups.insert(Meaning::Waiting, sampler.rows(&waiting.join(" AND "), "")?);
        for column in ends(subject) {
            let meaning = if column.role == Some(Role::Ended(true)) { Meaning::Failed } else { Meaning::Done };
            let rows = sampler.rows(&set_sql(sampler.engine, column, all), "")?;
            let known = groups.entry(meaning).or_default();
            *known = known.and(&rows);
        }
    }
    Ok(Shape::Where { condition, is_supported, groups })
}

fn states(
    sampler: &mut Sampler<'_>,
    answers: &Answers,
    column: &SubjectColumn,
    all: &Rows,
) -> Result<Vec<StateSeen>, OpsError> {
    let labels = lookup(sampler, column)?;
    let is_truth = column.class == Class::Boolean;
    let state = |value: Cell, rows: Rows| {
        let label = labels.iter().find(|(stored, _)| *stored == value.to_string()).map(|(_, label)| label.clone());
        let (meaning, support) = (None, Support::Name);
        StateSeen { value, label, is_truth, rows, held: 0, is_over: false, meaning, support }
    };
    let mut states = Vec::new();
    for value in sampler.distinct(column, all)? {
        let stored = stored(sampler.engine, column.class, &value);
        let mut rows = sampler.rows(&format!("j.{} = {stored}", quoted(&column.name)), "")?;
        if rows.is_empty() {
            rows = all.only(&column.name, |cell| *cell == value);
        }
        for deletion in deletions(sampler.subject) {
            rows = rows.without(&deletion.name);
        }
        states.push(state(value, rows));
    }
    // States that the operator names and no row has.
    let seen = states.len();
    for (key, said) in Meaning::ALL.into_iter().flat_map(|meaning| {
        let key = format!("states.{}", meaning.key());
        answers.list(&key).unwrap_or_default().into_iter().map(move |said| (key.clone(), said))
    }) {
        let known: Vec<String> = states[..seen].iter().flat_map(|state| [state.text(), state.name()]).collect();
        let hint = did_you_mean(said, known.iter().map(String::as_str));
        match said.parse() {
            _ if states.iter().any(|state| state.is_called(said)) => {}
            _ if key == "states.in_flight" && !hint.is_empty() => {
                let message = format!("the answer to {key}: no row is `{said}`{hint}");
                return Err(OpsError::usage(message, "name the states as they are stored"));
            }
            Ok(number) if matches!(states.first(), Some(StateSeen { value: Cell::Integer(_), .. })) => {
                states.push(state(Cell::Integer(number), Rows::default()));
            }
            _ => states.push(state(Cell::Text(said.to_owned()), Rows::default())),
        }
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
    let rows = sampler.query(&format!("SELECT {key}, {label} FROM {table} LIMIT 100"))?;
    Ok(rows.iter().filter_map(|row| Some((row.first()?.to_string(), row.get(1)?.to_text()?))).collect())
}

/// Gives each state its meaning: as answered, or by its name and its rows where these agree.
fn with_meanings(subject: &Subject, answers: &Answers, column: &str, mut states: Vec<StateSeen>) -> Vec<StateSeen> {
    let signs = signs(subject, answers, &states);
    for state in &mut states {
        let free = signs.iter().fold(state.rows.clone(), |rows, sign| rows.without(sign));
        state.held = state.rows.len() - free.len();
        state.is_over = ends(subject).any(|column| state.rows.is_held(&column.name));
    }
    let waits = states.iter().any(|state| Meaning::of(&state.name()) == Some(Meaning::Waiting));
    let default = subject.begins_with(column);
    let idle = states.iter().filter(|state| state.held == 0 && !state.rows.is_empty() && !state.is_over).count();
    for state in &mut states {
        let is_said = |meaning: &Meaning| {
            let list = answers.list(&format!("states.{}", meaning.key())).unwrap_or_default();
            list.into_iter().any(|said| state.is_called(said))
        };
        // An answer is complete: no proposal is added to it.
        let is_open = |(meaning, _): &(Meaning, Support)| answers.get(&format!("states.{}", meaning.key())).is_none();
        let named = Meaning::of(&state.name());
        let is_default = default.as_ref().is_some_and(|default| state.is_called(default));
        let is_idle = state.held == 0 && !state.rows.is_empty() && !signs.is_empty();
        let by_rows = if state.rows.len() >= ENOUGH { Support::Both } else { Support::Rows };
        let found = match named {
            // What rows say against a name is asked.
            Some(Meaning::Waiting) | None if state.is_held() || state.is_over => {
                // Once the operator has said which have failed, those that have ended have not.
                let is_done = named.is_none() && state.is_over && answers.get("states.failed").is_some();
                is_done.then_some((Meaning::Done, Support::Rows))
            }
            Some(Meaning::InFlight) if is_idle || state.is_over => None,
            // Where others are called so, a new row may only be a draft.
            Some(Meaning::Waiting) | None if is_default && (named.is_some() || !waits) => {
                let is_shown = named.is_some() || matches!(state.value, Cell::Integer(_));
                let by_rows = if is_idle && idle == 1 { by_rows } else { Support::Rows };
                Some((Meaning::Waiting, if is_shown { Support::Shown } else { by_rows }))
            }
            Some(Meaning::Waiting) if is_idle => Some((Meaning::Waiting, by_rows)),
            Some(Meaning::InFlight) if state.is_held() => Some((Meaning::InFlight, Support::Rows)),
            Some(Meaning::Failed) if has_failed(subject, answers, &state.rows) => Some((Meaning::Failed, by_rows)),
            named => named.map(|meaning| (meaning, Support::Name)),
        };
        let said = Meaning::ALL.into_iter().find(is_said).map(|meaning| (meaning, Support::Answered));
        if let Some((meaning, support)) = said.or(found.filter(is_open)) {
            (state.meaning, state.support) = (Some(meaning), support);
        }
    }
    propose_in_flight(answers, &mut states);
    states
}

/// Without a word for it, the one state whose rows all hold a claim that has not ended is proposed as in flight. Where
/// several could be it, or others hold a claim too that have no end, no rows tell which it is.
fn propose_in_flight(answers: &Answers, states: &mut [StateSeen]) {
    if answers.get("states.in_flight").is_some() {
        return;
    }
    let is_held = |state: &StateSeen| state.is_held() && !state.is_over;
    let is_meant = |state: &StateSeen| state.meaning == Some(Meaning::InFlight);
    let open: Vec<usize> = (0..states.len()).filter(|n| is_held(&states[*n]) && states[*n].meaning.is_none()).collect();
    let kept = states.iter().any(|state| is_held(state) && state.meaning.is_some() && !is_meant(state));
    let meant = states.iter().filter(|state| is_meant(state)).count();
    match (meant, &open[..]) {
        (0, [only]) if Meaning::of(&states[*only].name()).is_none() && !kept => {
            (states[*only].meaning, states[*only].support) = (Some(Meaning::InFlight), Support::Rows);
        }
        (1, []) => {}
        (_, []) if !kept => {}
        _ => states
            .iter_mut()
            .filter(|state| state.meaning == Some(Meaning::InFlight))
            .for_each(|state| state.support = Support::Name),
    }
}

/// Whether each row has what only a failed job has: no attempts left; or an error or a time of its end, and no attempts
/// left that a column counts.
fn has_failed(subject: &Subject, answers: &Answers, rows: &Rows) -> bool {
    let number =
        |column: &str| rows.values(column).map(|cell| cell.as_integer().unwrap_or_default()).collect::<Vec<_>>();
    let most = subject.of_role(Role::MaxAttempts).next();
    match (attempts(subject, answers), most) {
        (Some(tries), Some(most)) if !rows.is_empty() => {
            number(tries).iter().zip(&number(&most.name)).all(|(tries, most)| tries >= most)
        }
        _ => subject
            .columns
            .iter()
            .any(|column| matches!(column.role, Some(Role::LastError | Role::Ended(_))) && rows.is_held(&column.name)),
    }
}

/// The columns that a claim sets: as answered and by their names, or else those that are empty in all rows of one state
/// and set in all of another. A column that every row has tells nothing.
fn signs<'s>(subject: &'s Subject, answers: &Answers, states: &[StateSeen]) -> Vec<&'s str> {
    let some = |is: fn(&Rows, &str) -> bool, name: &str| states.iter().any(|state| is(&state.rows, name));
    let is_in_all = |column: &str| states.iter().all(|state| state.rows.is_empty() || state.rows.is_held(column));
    let of = |wanted: &[Role]| {
        let said = |name: &str| ["owner.id", "claim.claimed_at"].iter().any(|key| answers.get(key) == Some(name));
        let is_sign = |column: &&SubjectColumn| {
            let is_named = column.role.is_some_and(|role| wanted.contains(&role)) && column.class != Class::Boolean;
            (is_named || said(&column.name)) && !is_in_all(&column.name)
        };
        subject.columns.iter().filter(is_sign).map(|column| column.name.as_str()).collect::<Vec<_>>()
    };
    let named = [&[Role::Owner][..], &[Role::Claimed], &[Role::Heartbeat]].into_iter().map(of);
    let differs = |column: &&SubjectColumn| {
        // An error of an earlier run is empty in some rows of a state and set in others; a claim's columns are not.
        let is_mixed = |rows: &Rows| !(rows.is_empty() || rows.is_free(&column.name) || rows.is_held(&column.name));
        column.role.is_none()
            && some(Rows::is_free, &column.name)
            && some(Rows::is_held, &column.name)
            && !states.iter().any(|state| is_mixed(&state.rows))
    };
    let by_rows = || subject.columns.iter().filter(differs).map(|column| column.name.as_str()).collect();
    named.into_iter().find(|named| !named.is_empty()).unwrap_or_else(by_rows)
}

/// Whether the states tell which rows are claimed: not where one of them has both kinds, and none has either alone.
fn tells_claims(states: &[StateSeen]) -> bool {
    let is_mixed = |state: &StateSeen| state.held > 0 && state.held < state.rows.len() && !state.is_over;
    let is_alone = |state: &StateSeen| match Meaning::of(&state.name()) {
        Some(Meaning::InFlight) => state.is_held() || state.rows.is_empty(),
        Some(Meaning::Waiting) => state.held == 0 && !state.rows.is_empty(),
        _ => state.is_held() && state.meaning.is_none(),
    };
    !states.iter().any(is_mixed) || states.iter().any(is_alone)
}
