//! What presets say, in plain words. Names of columns and tables, values and SQL stand in backquotes.

use crate::model::age;
use crate::preset::{
    Absence, AttemptsProfile, Condition, Counted, Exhausted, Fencing, LifeSign, MaxCounts, OwnerProfile, Preset,
    Profile, Proof, StateValue, TableProfile, TableRole, Threshold,
};

pub(super) fn quoted(text: &str) -> String {
    format!("`{text}`")
}

/// SQL or a value, in backquotes; a backquote in it would end it.
pub(super) fn code(text: &str) -> String {
    format!("`{}`", text.replace('`', "'"))
}

/// States as they are stored, each with its name where that is another one.
pub(super) fn stored(states: &[StateValue]) -> Vec<String> {
    let one = |state: &StateValue| match state.stored.to_string() {
        stored if stored == state.name => stored,
        stored => format!("{stored} ({})", state.name),
    };
    states.iter().map(one).collect()
}

/// A column, an expression or a number; or the option that stands for it.
pub(super) fn or_option(text: &str) -> String {
    match text.strip_prefix("option ") {
        Some(option) => format!("the option {}", quoted(option)),
        None => quoted(text),
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(super) fn any_of(words: &[String]) -> String {
    match words.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

pub(super) fn proof(preset: &Preset) -> String {
    let of_ours = preset.built_in && preset.checked.is_empty();
    match preset.proof {
        _ if !preset.built_in => "as good as its description; `jobdoctor check` holds it against the table",
        Proof::Live if of_ours => "live: the schema is our own, and our tests run it on every engine",
        Proof::Schema if of_ours => "schema: the table is our own, and our tests run it on every engine",
        Proof::Live if preset.live.len() < preset.checked.len() => {
            let live = preset.live.join(", ");
            return format!(
                "live: the real library is run in our tests ({live}); of the others, our own copies of their tables"
            );
        }
        Proof::Live => "live: the real library is run in our tests",
        Proof::Schema => "schema: our own copy of its tables, after its source",
        Proof::Facts => "facts: its source was read, and nothing was run",
    }
    .to_owned()
}

pub(super) fn table(table: &TableProfile) -> String {
    let role = |role: &TableRole| match role {
        TableRole::Claims => "its rows are the claims",
        TableRole::Owners => "its rows are the owners",
        TableRole::Read => "read beside the claims",
        TableRole::Asked => "asked before a step",
        TableRole::Written => "written by an action",
        TableRole::Woken => "a row in it wakes workers",
    };
    match table.roles.as_slice() {
        [] => "looked at to recognise the queue".to_owned(),
        roles => roles.iter().map(role).collect::<Vec<_>>().join("; "),
    }
}

pub(super) fn condition(condition: &Condition) -> String {
    let subject = quoted(&condition.subject);
    let values = || any_of(&condition.values.iter().map(|value| quoted(value)).collect::<Vec<_>>());
    match condition.probe.as_str() {
        "engine" => format!("the database is {}", condition.subject),
        "table" => format!("there is a table {subject}"),
        "no_table" => format!("there is no table {subject}"),
        "column" => format!("there is a column {subject}"),
        "no_column" => format!("there is no column {subject}"),
        "type" => format!("the type of {subject} is {}", values()),
        "label" => format!("the type {subject} has the label {}", values()),
        "function" => format!("there is a function {subject}"),
        "no_function" => format!("there is no function {subject}"),
        "option" => format!("the option {subject} is {}", values()),
        "sql" => format!("{subject} is true"),
        other if condition.values.is_empty() => format!("{other}: {subject}"),
        other => format!("{other}: {subject} is {}", values()),
    }
}

pub(super) fn in_flight(profile: &Profile, states: &[String]) -> String {
    let claim = &profile.claim;
    let table = quoted(&claim.table);
    let states: Vec<String> = states.iter().map(|state| quoted(state)).collect();
    let filter = claim.filter.as_deref().filter(|filter| !filter.eq_ignore_ascii_case("true"));
    match (&claim.state, filter) {
        (Some(state), None) => format!("a row of {table} whose {} is {}", quoted(state), any_of(&states)),
        (Some(state), Some(filter)) => {
            let (state, filter) = (quoted(state), quoted(filter));
            format!("a row of {table} whose {state} is {}, where {filter}", any_of(&states))
        }
        (None, Some(filter)) => format!("a row of {table} where {}", quoted(filter)),
        (None, None) => format!("a row of {table}: its place is its state"),
    }
}

pub(super) fn owner(owner: &OwnerProfile) -> Option<String> {
    let mut words = vec![format!("{} says who holds a claim", quoted(owner.id.as_ref()?))];
    words.extend(owner.name.as_ref().map(|name| format!("shown as {}", quoted(name))));
    words.extend(owner.table.as_ref().map(|table| format!("owners have rows in {}", quoted(table))));
    words.push(match &owner.host {
        Some(host) => format!("the host, for --host, is {}", quoted(host)),
        None => "it tells no host, so --host is refused".to_owned(),
    });
    Some(words.join("; "))
}

fn threshold(sign: &LifeSign) -> String {
    match &sign.silent_after {
        Some(Threshold::Span(span)) => age(*span),
        Some(Threshold::Column(column)) => format!("{} seconds, as the row says", quoted(column)),
        Some(Threshold::Option(option)) => format!("the option {}", quoted(option)),
        Some(Threshold::Required) | None => "what --older says (there is no default)".to_owned(),
    }
}

pub(super) fn life_sign(sign: &LifeSign, owner: &OwnerProfile) -> String {
    let column = quoted(sign.column.as_deref().unwrap_or_default());
    let allowed = threshold(sign);
    match sign.by.as_str() {
        "lease" => {
            let plus = sign.plus.as_ref().map(|plus| format!(" plus {} seconds", quoted(plus))).unwrap_or_default();
            format!("alive until {column}{plus}, dead from then on")
        }
        "heartbeat" => format!("alive while {column} is not older than {allowed}, dead after that"),
        "owner" => {
            let mut words = match (&sign.column, &owner.table) {
                (Some(_), Some(table)) => {
                    let table = quoted(table);
                    vec![format!(
                        "alive while {column} of its owner in {table} is not older than {allowed}, dead after that"
                    )]
                }
                _ => Vec::new(),
            };
            words.push(format!("an owner without a row: {}", absence(owner.missing)));
            words.push(format!("no owner named: {}", absence(owner.unset)));
            words.join("; ")
        }
        "lock" => {
            let held = quoted(sign.held.as_deref().unwrap_or_default());
            let free = if sign.free_is_dead { "dead" } else { "the next source is asked" };
            format!("alive while its worker holds the lock: {held}; nobody holds it: {free}")
        }
        "age" => format!(
            "age only: alive while {column} is not older than {allowed}, dead after that; a slow job looks the same"
        ),
        other => other.to_owned(),
    }
}

fn absence(absence: Absence) -> &'static str {
    match absence {
        Absence::Dead => "dead",
        Absence::Next => "the next source is asked",
        Absence::Unknown => "nobody can tell",
    }
}

pub(super) fn counted(attempts: &AttemptsProfile) -> String {
    let Some(column) = &attempts.column else { return "not in the tables, so a reclaim counts nothing".to_owned() };
    let column = quoted(column);
    match attempts.counted {
        Counted::AtClaim => format!("{column} counts a run when it begins, so a lost run is counted already"),
        Counted::AtNextClaim => {
            format!("{column} counts a run when the next one begins, which will count the lost one")
        }
        Counted::AtEnd => format!("{column} counts a run when it ends, which a lost one never does: a reclaim adds it"),
        Counted::OnError => format!("{column} counts a run when it ends badly: a reclaim adds the lost one"),
        Counted::AtReclaim => format!("{column} counts a lost run when it is reclaimed"),
        Counted::NotInTheTable => format!("{column} is not changed by a reclaim"),
    }
}

pub(super) fn exhausted(attempts: &AttemptsProfile) -> String {
    if attempts.exhausted == Exhausted::Leave {
        return "the library itself decides: a reclaimed job goes back all the same".to_owned();
    }
    let Some(max) = &attempts.max else { return "there is no maximum that the tables know".to_owned() };
    let max = or_option(max);
    let used_up = match attempts.max_counts {
        MaxCounts::Runs => format!("reach {max}"),
        MaxCounts::Retries => format!("exceed {max}"),
    };
    format!("a job whose attempts {used_up} fails and is never put back")
}

pub(super) fn fencing(fencing: Fencing) -> &'static str {
    match fencing {
        Fencing::Fenced => "it is stopped: the library compares who holds the job",
        Fencing::ByState => "it is stopped only if the job is in another state by then",
        Fencing::ById => "it overwrites what happened meanwhile",
        Fencing::Unknown => "it is not known what it does to the job",
    }
}
