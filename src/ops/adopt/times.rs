//! How a column spells time: the one spelling that fits all its values, and whether its zone is certain.

use super::actions;
use super::draft::sampled;
use super::facts::{Facts, Support};
use super::keys::Finding;
use super::owner::by_table;
use super::roles::{Class, Role, is_among};
use super::rows::is_unset;
use super::table::SubjectColumn;
use crate::model::{Cell, Timestamp};
use crate::preset::encoding::{Encoding, Encodings};
use crate::preset::words;
use std::collections::BTreeMap;
use std::time::Duration;
use toml_edit::{InlineTable, Value};

/// How far behind the database's now a worker's newest value may be to show that it writes UTC.
const NEAR: Duration = Duration::from_secs(300);
/// How far ahead of it: clocks differ.
const AHEAD: Duration = Duration::from_secs(60);

/// Reads values that are spelled so.
pub(super) fn reader(how: &str) -> Option<Encodings> {
    Some(Encodings::new(Encoding::parse(how).ok()?, Vec::new()))
}

/// How these values of a column are spelled, with the reason where the zone is certain; where it is not, as if it were
/// UTC. `None` if no value fits, or there is none.
pub(super) fn spelling<'c>(
    column: &SubjectColumn,
    values: impl Iterator<Item = &'c Cell>,
    now: Timestamp,
) -> Option<(String, Option<String>)> {
    if column.class == Class::Time && column.type_name.contains("with time zone") {
        return Some(("native".to_owned(), Some("the type knows its instants".to_owned())));
    }
    let values: Vec<&Cell> = values.filter(|cell| !is_unset(cell)).collect();
    if values.is_empty() {
        return (column.class == Class::Time).then(|| ("native utc".to_owned(), None));
    }
    let read = |how: String| newest(&how, &values, now).map(|(at, raw)| (how, at, raw));
    let (how, at, raw) = candidates(&values).into_iter().find_map(read)?;
    let has_zone = how.starts_with("epoch") || ["Z", ":00", "+HH:MM"].iter().any(|end| how.ends_with(end));
    let why = || format!("its newest value {raw} is {} the database's now; no other reading fits", apart(at, now));
    let why = has_zone.then(why);
    Some((how, why))
}

/// Whether every worker in flight is shown to write a column in UTC: the newest value of each owner, or of each row
/// where no column tells owners, is near the database's now. A value that lies in the future, as one of a lease, shows
/// nothing. With what was seen of each.
fn is_in_utc(facts: &Facts<'_>, column: &str, how: &str) -> (Support, Vec<String>) {
    let Some(encodings) = reader(how) else { return (Support::Name, Vec::new()) };
    let rows = facts.in_flight.with(column);
    let mut owners = facts.owner.iter().flat_map(|owner| rows.values(owner.column()));
    let mut newest: BTreeMap<String, Option<Timestamp>> = BTreeMap::new();
    for (n, cell) in rows.values(column).enumerate() {
        let owner = owners.next().filter(|owner| !is_unset(owner));
        let read = encodings.decode(cell).at();
        let known = newest.entry(owner.map_or_else(|| format!("row {}", n + 1), Cell::to_string)).or_insert(read);
        if read.map(Timestamp::micros) > known.map(Timestamp::micros) {
            *known = read;
        }
    }
    let is_near =
        |at: &Option<Timestamp>| at.is_some_and(|at| facts.now.since(at) <= NEAR && at.since(facts.now) <= AHEAD);
    let is_lease =
        facts.source.as_ref().is_some_and(|source| source.by == "lease") && facts.source_column() == Some(column);
    let all_near = !is_lease && newest.values().all(is_near);
    let seen = |(who, at): (&String, &Option<Timestamp>)| {
        Some((is_near(at), format!("{who}: newest {} now, if it is UTC", apart((*at)?, facts.now))))
    };
    let mut seen: Vec<(bool, String)> = newest.iter().filter_map(seen).collect();
    seen.sort();
    (Support::by(all_near, rows.len(), rows.len()), seen.into_iter().take(6).map(|(_, says)| says).collect())
}

/// Words in the names of columns that say when a job may run, and when it was made.
const DUE: &str = "due available scheduled eta";
const MADE: &str = "created queued enqueued inserted added submitted";

/// The columns that say not before when a job may run, and since when it waits where there is no such column: as
/// answered, or by a name where the values leave no doubt of their zone.
fn of_waiting(facts: &Facts<'_>) -> [Option<String>; 2] {
    let named = |key: &str, is_called: &dyn Fn(&[String]) -> bool| {
        if let Some(answer) = facts.answers.get(key) {
            return Some(answer.to_owned()).filter(|answer| answer != "none");
        }
        let is_free = |column: &&SubjectColumn| matches!(column.role, None | Some(Role::OtherTime));
        let mut columns = facts.subject.columns.iter().filter(is_free).filter(|column| is_called(&words(&column.name)));
        let is_certain = |column: &&SubjectColumn| {
            matches!(spelling(column, facts.all.set(&column.name), facts.now), Some((_, Some(_))))
        };
        columns.find(is_certain).map(|column| column.name.clone())
    };
    let has = |words: &[String], known: &str| words.iter().any(|word| is_among(word, known));
    let is_due =
        |words: &[String]| has(words, DUE) || has(words, "run") && has(words, "at after") && !has(words, "last");
    let due = named("waiting.due", &is_due);
    let since = named("waiting.since", &|words| due.is_none() && has(words, MADE));
    [due, since]
}

/// Since when a job waits.
pub(super) fn waiting(facts: &Facts<'_>) -> Vec<Finding> {
    let found = ["waiting.due", "waiting.since"].into_iter().zip(of_waiting(facts));
    let finding = |(key, column): (&str, Option<String>)| Some(Finding::new(column?, Support::Name, "by name").of(key));
    found.filter_map(finding).collect()
}

/// How the times in use are spelled, column by column.
pub(super) fn times(facts: &Facts<'_>) -> Vec<Finding> {
    let source = facts.source.as_ref();
    let mut columns: Vec<String> =
        source.and_then(|source| source.column.clone()).into_iter().chain(facts.claimed.clone()).collect();
    columns.dedup();
    columns
        .extend(of_waiting(facts).into_iter().flatten().filter(|column| !columns.contains(column)).collect::<Vec<_>>());
    let mut findings: Vec<Finding> = columns.iter().map(|name| time(facts, name)).collect();
    if let Some(owners) = by_table(facts) {
        let beat = &owners.heartbeat;
        // A column of the same name in the jobs' table is another one.
        let name = if columns.contains(&beat.name) { format!("o.{}", beat.name) } else { beat.name.clone() };
        let spelled = spelling(beat, owners.values.iter(), facts.now);
        findings.push(finding(facts, &name, spelled, |_| (Support::Name, Vec::new())));
    }
    // What an action stamps is written as the other times are, unless its own values say otherwise.
    for name in actions::stamped(facts).into_iter().filter(|name| !columns.contains(name)) {
        let mut stamped = time(facts, &name);
        let base = text(&stamped).map(|how| how.trim_end_matches(" utc").to_owned()).unwrap_or_default();
        let alike = findings.iter().find(|finding| text(finding).is_some_and(|how| how.starts_with(&base)));
        if let Some(alike) = alike.filter(|_| stamped.support < Some(Support::Both)) {
            (stamped.value, stamped.form) = (alike.value.clone(), alike.form.clone());
            stamped.support = alike.support.map(|support| support.min(Support::Both));
            "as the other times".clone_into(&mut stamped.why);
        }
        findings.push(stamped);
    }
    let (open, mut sure): (Vec<Finding>, Vec<Finding>) =
        findings.into_iter().partition(|finding| finding.support < Some(Support::Both));
    // One spelling for all is written once.
    let first = sure.first().and_then(text).filter(|_| open.is_empty());
    let mut found = match &first {
        Some(_) if sure.iter().all(|finding| text(finding) == first) => vec![sure.swap_remove(0).of("time.default")],
        _ => sure,
    };
    found.extend(together(open));
    let sentinel = |column: &String| {
        let stored = facts.all.values(column).find(|cell| facts.all.is_none(column, cell) && !cell.is_null())?;
        let none: InlineTable = [(stored.to_string(), "none")].into_iter().collect();
        Some((column.clone(), Value::from(none)))
    };
    let sentinels: InlineTable = columns.iter().filter_map(sentinel).collect();
    if !sentinels.is_empty() {
        found
            .push(Finding::new(sentinels, Support::Shown, "rows have it where a time is missing").of("time.sentinels"));
    }
    found
}

fn text(finding: &Finding) -> Option<String> {
    finding.value.as_ref()?.as_str().map(str::to_owned)
}

/// Columns that lack a zone in the same spelling are one question, which names each of them with what was seen.
fn together(open: Vec<Finding>) -> Vec<Finding> {
    let is_alike = |finding: &Finding| finding.value.is_some() && finding.form == open[0].form;
    if open.len() < 2 || !open.iter().all(is_alike) {
        return open;
    }
    let about = open.iter().map(|finding| finding.about.as_str()).collect::<Vec<_>>().join("`, `");
    let seen =
        open.iter().flat_map(|finding| finding.seen.iter().map(move |seen| format!("{}: {seen}", finding.about)));
    let (value, support) = (open[0].value.clone(), open.iter().filter_map(|finding| finding.support).min());
    let together = Finding { value, support, ..Finding::default() };
    vec![together.asked(about, &open[0].form, seen.collect()).of("time.default")]
}

fn time(facts: &Facts<'_>, name: &str) -> Finding {
    let Some(column) = facts.subject.column(name) else { return Finding::default().of(format!("time.{name}")) };
    finding(facts, name, spelling(column, facts.all.set(name), facts.now), |how| is_in_utc(facts, name, how))
}

fn finding(
    facts: &Facts<'_>,
    name: &str,
    spelled: Option<(String, Option<String>)>,
    in_utc: impl Fn(&str) -> (Support, Vec<String>),
) -> Finding {
    let key = format!("time.{name}");
    // An answer for all is one for those that show no spelling of their own.
    let for_all = facts.answers.get("time.default").filter(|_| !matches!(spelled, Some((_, Some(_)))));
    let finding = match (facts.answers.get(&key).or(for_all), spelled) {
        (Some(answer), _) => Finding::new(answer, Support::Answered, "as answered"),
        (None, Some((how, Some(why)))) => Finding::new(how, Support::Shown, why),
        (None, Some((how, None))) => {
            let (support, seen) = in_utc(&how);
            let without = format!("{} ZONE", how.trim_end_matches(" utc"));
            let form = if support == Support::Name { without } else { how.clone() };
            Finding::new(how, support, "each worker in flight wrote it just now, in UTC").asked(name, form, seen)
        }
        (None, None) => Finding::open(name, "SPELLING", vec![sampled(name, &facts.all)]),
    };
    finding.of(key)
}

/// The newest instant in a column, if its values are times.
pub(super) fn newest_in<'c>(values: impl Iterator<Item = &'c Cell>, now: Timestamp) -> Option<Timestamp> {
    let values: Vec<&Cell> = values.filter(|cell| !is_unset(cell)).collect();
    candidates(&values).iter().find_map(|how| newest(how, &values, now)).map(|(at, _)| at)
}

/// The spellings to try, the strictest first: of those that read all values the first one counts.
fn candidates(values: &[&Cell]) -> Vec<String> {
    let all = |is: fn(&Cell) -> bool| values.iter().all(|cell| is(cell));
    if all(|cell| matches!(cell, Cell::WallClock(_) | Cell::Instant(_))) {
        return vec!["native utc".to_owned()];
    }
    if all(|cell| matches!(cell, Cell::Integer(_))) {
        return ["s", "ms", "us", "ns"].iter().map(|unit| format!("epoch {unit}")).collect();
    }
    if all(|cell| matches!(cell, Cell::Integer(_) | Cell::Real(_))) {
        return vec!["epoch s float".to_owned()];
    }
    let ends = [" utc", "Z", "+00:00", "+HH:MM"].into_iter();
    let fractions = ["", ".fff", ".ffffff", "[.ffffff]", "[.f-fff]", "[.fff-fffffffff]"];
    let texts = ends.flat_map(|end| fractions.map(|fraction| [" ", "T"].map(|between| (between, fraction, end))));
    texts.flatten().map(|(between, fraction, end)| format!("text YYYY-MM-DD{between}HH:MM:SS{fraction}{end}")).collect()
}

/// The newest instant and its stored text, if every value is one that is near enough to be of this life: seconds read as
/// milliseconds lie in 1970, milliseconds read as seconds beyond the calendar.
fn newest(how: &str, values: &[&Cell], now: Timestamp) -> Option<(Timestamp, String)> {
    const YEARS: Duration = Duration::from_secs(20 * 365 * 86_400);
    let encodings = reader(how)?;
    let read: Vec<Timestamp> = values.iter().map(|cell| encodings.decode(cell).at()).collect::<Option<_>>()?;
    let (at, cell) = read.iter().zip(values).max_by_key(|(at, _)| at.micros())?;
    let is_of_this_life = |at: &Timestamp| at.since(now) <= YEARS && now.since(*at) <= YEARS;
    read.iter().all(is_of_this_life).then(|| (*at, cell.to_string()))
}

fn apart(at: Timestamp, now: Timestamp) -> String {
    let span = |span: Duration| crate::model::age(Duration::from_secs(span.as_secs()));
    if at.micros() > now.micros() {
        format!("{} ahead of", span(at.since(now)))
    } else {
        format!("{} before", span(now.since(at)))
    }
}
