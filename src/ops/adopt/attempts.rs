//! The attempts of a job: their counter, their maximum, and when they are counted.

use super::actions;
use super::draft::sampled;
use super::facts::{ENOUGH, Facts, Support, attempts};
use super::keys::Finding;
use super::roles::{Class, Role, counts_down};
use super::rows::Rows;
use super::table::{Subject, SubjectColumn};
use super::{constraints, draft::Answers};
use crate::model::Cell;

/// The counter of a job that was never tried: its default, or none used, or all left.
pub(super) fn start(subject: &Subject, answers: &Answers, waiting: &Rows) -> Option<i64> {
    let column = attempts(subject, answers)?;
    let default = subject.begins_with(column).and_then(|default| default.parse().ok());
    default.or_else(|| if is_down(subject, answers, column) { numbers(waiting, column).max() } else { Some(0) })
}

/// Whether the counter holds what is left: by its name, or because it begins with several.
fn is_down(subject: &Subject, answers: &Answers, column: &str) -> bool {
    let begins_with = subject.begins_with(column).and_then(|default| default.parse::<i64>().ok());
    match answers.get("attempts.direction") {
        Some(answer) => answer == "down",
        None => counts_down(column) || begins_with.is_some_and(|default| default > 1),
    }
}

fn numbers<'r>(rows: &'r Rows, column: &str) -> impl Iterator<Item = i64> + use<'r> {
    rows.values(column).filter_map(Cell::as_integer).collect::<Vec<_>>().into_iter()
}

/// The counter by its name; or a number that every failed job has alike, other than the default with which jobs begin.
pub(super) fn column(facts: &Facts<'_>) -> Vec<Finding> {
    if let Some(column) = facts.attempts() {
        return vec![Finding::new(column, Support::Both, "by name and type")];
    }
    let open = facts.waiting.and(&facts.in_flight);
    let is_counter = |column: &&SubjectColumn| {
        let name = &column.name;
        let start = facts.subject.begins_with(name).and_then(|default| default.parse::<i64>().ok());
        let Some(start) = start.filter(|_| column.role.is_none()) else { return false };
        let all = |rows: &Rows, is: &dyn Fn(i64) -> bool| numbers(rows, name).all(is);
        let is_begun = !all(&facts.waiting, &|tries| tries != start);
        let is_checked = || {
            let mut checks = facts.subject.checks.iter().filter(|(of, _)| of == name);
            checks.any(|(_, check)| constraints::most(check).is_some())
        };
        match facts.failed.agreed(name).and_then(Cell::as_integer).filter(|end| *end != start) {
            Some(end) => is_begun && all(&open, &|tries| (start.min(end)..=start.max(end)).contains(&tries)),
            // What is left, if it begins with several and some have nothing left; or what every claim has counted, and
            // a CHECK bounds.
            None => {
                let is_left = start > 1 && all(&facts.all, &|tries| (0..=start).contains(&tries));
                let is_counted = is_begun && all(&facts.in_flight, &|tries| tries > start) && is_checked();
                (is_left && !all(&facts.all, &|tries| tries != 0)) || is_counted
            }
        }
    };
    let counter = facts.subject.columns.iter().find(is_counter);
    let counter = counter.filter(|_| facts.answers.get("attempts.max") != Some("none"));
    let asked = |column: &SubjectColumn| {
        let groups = [(&facts.waiting, "wait"), (&facts.in_flight, "in flight"), (&facts.failed, "failed")];
        let seen = groups.map(|(rows, what)| format!("{} ({what})", sampled(&column.name, rows)));
        Finding::new(&column.name, Support::Rows, "").asked(&column.name, &column.name, seen.into())
    };
    counter.map(asked).into_iter().collect()
}

pub(super) fn direction(facts: &Facts<'_>) -> Vec<Finding> {
    let column = facts.attempts().filter(|column| is_down(facts.subject, facts.answers, column));
    column
        .map(|_| Finding::new("down", Support::Name, "by its name or its default: what is left"))
        .into_iter()
        .collect()
}

/// The most: a column that no job exceeds; what a CHECK or the default of a counter of what is left says; else what the
/// failed jobs have in common.
pub(super) fn max(facts: &Facts<'_>) -> Vec<Finding> {
    let Some(column) = facts.attempts() else { return Vec::new() };
    let subject = facts.subject;
    let open = facts.waiting.and(&facts.in_flight);
    let seen = |name: &str, rows: &Rows, what: &str| format!("{} {what}", sampled(name, rows));
    let tries = [(&open, "(wait or in flight)"), (&facts.failed, "(failed)")];
    let tries = tries.into_iter().filter(|(rows, _)| !rows.is_empty()).map(|(rows, what)| seen(column, rows, what));
    let tries: Vec<String> = tries.collect();
    if let Some(most) = subject.of_role(Role::MaxAttempts).next() {
        let pairs: Vec<(i64, i64)> = numbers(&open, column).zip(numbers(&open, &most.name)).collect();
        let fits = !pairs.is_empty() && pairs.iter().all(|(tries, most)| tries <= most && *most > 0);
        let support = Support::by(fits, facts.waiting.len(), facts.in_flight.len());
        let why = format!("{column} exceeds it in none of the {} sampled rows that wait or are in flight", pairs.len());
        let seen = tries.into_iter().chain([sampled(&most.name, &open)]).collect();
        return vec![Finding::new(&most.name, support, why).asked(column, &most.name, seen)];
    }
    let check = subject.checks.iter().filter(|(of, _)| of == column).find_map(|(_, check)| constraints::most(check));
    if let Some(most) = check {
        return vec![Finding::new(most, Support::Shown, format!("a CHECK allows no more in {column}"))];
    }
    if is_down(facts.subject, facts.answers, column) {
        let default = subject.begins_with(column).and_then(|default| default.parse::<i64>().ok());
        if let Some(most) = default {
            return vec![Finding::new(most, Support::Shown, format!("{column} begins with it, by its default"))];
        }
        let most = numbers(&open, column).max();
        return vec![Finding::open(column, most.map_or_else(|| "NUMBER".to_owned(), |most| most.to_string()), tries)];
    }
    // A column of a job's own may hold it.
    let key = subject.key().unwrap_or_default();
    let holds = |most: &&SubjectColumn| {
        let mut pairs = numbers(&open, column).zip(numbers(&open, &most.name));
        let is_plain = most.role.is_none() && most.class == Class::Number && !key.contains(&most.name);
        is_plain && open.is_held(&most.name) && pairs.all(|(tries, most)| (tries.max(1)..=100).contains(&most))
    };
    let others = subject.columns.iter().filter(holds);
    let tries: Vec<String> = tries.into_iter().chain(others.map(|most| sampled(&most.name, &open))).collect();
    let agreed = facts.failed.agreed(column).and_then(Cell::as_integer);
    let is_less =
        |most: &i64| *most > 0 && numbers(&open, column).all(|tries| tries <= *most) && facts.failed.len() >= ENOUGH;
    match agreed.filter(is_less) {
        Some(most) => vec![Finding::new(most, Support::Rows, "").asked(column, most.to_string(), tries)],
        None => vec![Finding::open(column, "NUMBER", tries)],
    }
}

/// When a run is counted. At the claim, if each row in flight has a run more than a job that was never tried, and such
/// jobs wait; a row in flight that has none was not counted at its claim.
pub(super) fn counted(facts: &Facts<'_>) -> Vec<Finding> {
    let Some(column) = facts.attempts() else { return Vec::new() };
    let Some(start) = start(facts.subject, facts.answers, &facts.waiting) else {
        return vec![Finding::open(column, "WHEN", Vec::new())];
    };
    let tried = |rows: &Rows| numbers(rows, column).filter(|tries| *tries != start).count();
    let (waiting, in_flight) = (facts.waiting.len(), facts.in_flight.len());
    let untried = numbers(&facts.waiting, column).count() - tried(&facts.waiting);
    let first = numbers(&facts.in_flight, column).count() - tried(&facts.in_flight);
    let seen = vec![
        format!("{} (in flight)", sampled(column, &facts.in_flight)),
        format!("{} (wait)", sampled(column, &facts.waiting)),
    ];
    let (how, support, why) = match (first, untried) {
        (0, 1..) if in_flight > 0 => {
            let why =
                format!("none of {in_flight} rows in flight has {start}, as {untried} of {waiting} that wait have");
            ("at claim", Support::by(true, in_flight, waiting), why)
        }
        // Rows of both kinds: some jobs are tried again, or a worker counts after its claim.
        (1.., _) => {
            let why = format!("{first} of {in_flight} rows in flight have {start}: no claim counts");
            // When else a run is counted, no row in flight shows.
            ("on error", Support::by(true, 1, first), why)
        }
        _ => return vec![Finding::open(column, "WHEN", seen)],
    };
    vec![Finding::new(how, support, why).asked(column, how, seen)]
}

pub(super) fn exhausted(facts: &Facts<'_>) -> Vec<Finding> {
    let is_left = facts.attempts().is_some() && actions::fail_to(facts).is_empty();
    let why = "no state or column of failed jobs is known: action.fail.to=failed and action.fail.set=COLUMN=VALUE would name one";
    if is_left { vec![Finding::new("leave", Support::Name, why)] } else { Vec::new() }
}
