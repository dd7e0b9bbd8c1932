//! The keys of the states, and the name of each for actions.

use super::facts::{Facts, Shape, StateSeen, Support};
use super::keys::Finding;
use super::roles::{Meaning, is_among};
use crate::output::format::count;
use crate::preset::words;
use toml_edit::{Array, InlineTable, Value};

pub(super) fn column(facts: &Facts<'_>) -> Vec<Finding> {
    vec![match &facts.shape {
        Shape::Where { .. } => Finding::new("'running'", Support::Name, "the name of what `where` finds"),
        Shape::Column { name, states } => {
            let why = format!("by name and type, with {} different values", states.len());
            Finding::new(name, Support::Name, why)
        }
    }]
}

/// The states with a meaning, as answered or as they are proposed.
fn of_meaning(facts: &Facts<'_>, meaning: Meaning) -> Vec<Finding> {
    let Shape::Column { name, states } = &facts.shape else { return Vec::new() };
    let of: Vec<&StateSeen> = states.iter().filter(|state| state.meaning == Some(meaning)).collect();
    let seen = states.iter().map(described).collect();
    let Some(best) = of.iter().map(|state| state.support).max() else {
        return vec![Finding::open(name, "STATE", seen)];
    };
    let form = of.iter().map(|state| state.text()).collect::<Vec<_>>().join(",");
    // One of them is enough to go on; the grade is that of the least.
    let support = if of.iter().all(|state| state.support >= Support::Shown) { best } else { best.min(Support::Both) };
    let why = match support {
        Support::Answered => "as answered",
        Support::Shown => "the column's default: a new row begins in it",
        Support::Both => "by name or by its default, and its rows say nothing against it",
        _ => "by name",
    };
    vec![Finding::new(list(of.iter().copied()), support, why).asked(name, form, seen)]
}

pub(super) fn in_flight(facts: &Facts<'_>) -> Vec<Finding> {
    let Shape::Column { name, states } = &facts.shape else { return Vec::new() };
    let mut findings = of_meaning(facts, Meaning::InFlight);
    let comment = facts.subject.column(name).and_then(|column| column.comment.as_ref());
    for finding in findings.iter_mut().filter(|finding| finding.support != Some(Support::Answered)) {
        finding.seen.extend(comment.map(|comment| format!("comment: {comment}")));
        // A name says that it is probable, never that it is so.
        finding.support = finding.support.map(|support| support.min(Support::Rows));
        if finding.support == Some(Support::Name) {
            "STATE".clone_into(&mut finding.form);
        }
        let is_proposed = |seen: &String| {
            states.iter().any(|state| state.meaning == Some(Meaning::InFlight) && state.text() == *seen)
        };
        if let Some(beat) = facts.beat.as_ref().filter(|beat| beat.states.iter().all(is_proposed)) {
            finding.support = finding.support.max(Some(beat.support));
            "a heartbeat changed on every row of it while it was watched".clone_into(&mut finding.why);
        }
    }
    findings
}

pub(super) fn waiting(facts: &Facts<'_>) -> Vec<Finding> {
    of_meaning(facts, Meaning::Waiting)
}

/// Where several states are called so, the one that the worker takes again is not the end.
pub(super) fn failed(facts: &Facts<'_>) -> Vec<Finding> {
    let named = |state: &&StateSeen| {
        state.meaning == Some(Meaning::Failed) || Meaning::of(&state.name()) == Some(Meaning::Failed)
    };
    let others = facts.shape.states().iter().filter(|state| state.meaning.is_none()).count();
    let mut findings = of_meaning(facts, Meaning::Failed);
    if facts.answers.get("states.failed").is_none() && facts.shape.states().iter().filter(named).count() > 1 {
        let end = facts.shape.states().iter().filter(named).find(|state| is_end(&state.name()));
        for finding in &mut findings {
            finding.support = Some(Support::Name);
            finding.form = end.map_or_else(|| "STATE".to_owned(), StateSeen::text);
        }
    }
    // A state without a known meaning may be it. Where attempts are counted, a state without a row may be it too.
    findings.retain(|finding| finding.value.is_some() || others > 0 || facts.attempts().is_some());
    findings
}

fn is_end(state: &str) -> bool {
    let words = words(state);
    words.iter().any(|word| is_among(word, "dead discarded buried exhausted abandoned gave final permanently"))
}

/// The states that no action concerns.
pub(super) fn ended(facts: &Facts<'_>) -> Vec<Finding> {
    let of = |meaning: Meaning| {
        of_meaning(facts, meaning).into_iter().map(move |found| found.of(format!("states.{}", meaning.key())))
    };
    [Meaning::Done, Meaning::Cancelled].into_iter().flat_map(of).filter(|found| found.value.is_some()).collect()
}

/// The states that no other question offers.
pub(super) fn rest(facts: &Facts<'_>) -> Vec<Finding> {
    let Shape::Column { name, states } = &facts.shape else { return Vec::new() };
    if facts.answers.get("states.ignored").is_some() {
        return of_meaning(facts, Meaning::Ignored);
    }
    let is_open = |(key, found): (&str, Vec<Finding>)| {
        let is_sure = |finding: &Finding| finding.support >= Some(Support::Both);
        facts.answers.get(key).is_none() && !found.iter().all(is_sure)
    };
    if [("states.failed", failed(facts)), ("states.waiting", waiting(facts))].into_iter().any(is_open) {
        return Vec::new();
    }
    let rest: Vec<&StateSeen> = states.iter().filter(|state| state.meaning.is_none()).collect();
    let form = rest.iter().map(|state| state.text()).collect::<Vec<_>>().join(",");
    let seen = rest.iter().map(|state| described(state)).collect();
    // What holds a claim, or has a name that means something, is not left out by Enter.
    let is_known = |state: &&StateSeen| state.held > 0 || Meaning::of(&state.name()).is_some();
    let support = if rest.iter().any(is_known) { Support::Name } else { Support::Rows };
    let form = if support == Support::Name { "STATE".to_owned() } else { form };
    let finding = Finding::new(list(rest.iter().copied()), support, "").asked(name, form, seen);
    if rest.is_empty() { Vec::new() } else { vec![finding] }
}

fn described(state: &StateSeen) -> String {
    let label = state.label.as_ref().map_or_else(String::new, |label| format!(" ({label})"));
    let rows = match state.rows.len() {
        500.. => "500 rows or more".to_owned(),
        rows => count(rows as u64, "row", "rows"),
    };
    let held = match (state.held, state.rows.len()) {
        (_, 0) => "",
        (0, _) => ", none with a claim",
        (held, rows) if held == rows => ", all with a claim",
        _ => ", some with a claim",
    };
    let over = if state.is_over { ", all ended" } else { "" };
    format!("{}{label}: {rows}{held}{over}", state.text())
}

/// States as a list, or as a table where a lookup table names them.
fn list<'s>(states: impl Iterator<Item = &'s StateSeen>) -> Value {
    let states: Vec<&StateSeen> = states.collect();
    if states.iter().any(|state| state.label.is_some()) {
        let named = states.iter().map(|state| (state.name(), state.value()));
        return named.collect::<InlineTable>().into();
    }
    states.iter().map(|state| state.value()).collect::<Array>().into()
}

/// The states of that meaning, by the names that the mapping gives them: the best supported first, then those that are
/// named for it.
pub(super) fn names(facts: &Facts<'_>, meaning: Meaning) -> Vec<String> {
    let mut of: Vec<&StateSeen> = facts.shape.states().iter().filter(|state| state.meaning == Some(meaning)).collect();
    of.sort_by_key(|state| {
        let is_named = Meaning::of(&state.name()) == Some(meaning);
        (std::cmp::Reverse(state.support), !is_named, std::cmp::Reverse(state.rows.len()))
    });
    of.into_iter().map(StateSeen::name).collect()
}
