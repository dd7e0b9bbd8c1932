//! How a column spells time: the one spelling that fits all its values, and whether its zone is certain.

use super::actions;
use super::draft::sampled;
use super::facts::{Facts, OwnersTable, Support};
use super::keys::Finding;
use super::liveness::Source;
use super::owner::OwnerId;
use super::roles::Class;
use super::rows::is_unset;
use crate::model::{Cell, Reading, Timestamp};
use crate::preset::encoding::{Encoding, Encodings};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use toml_edit::{InlineTable, Value};

/// How far behind the database's now a worker's newest value may be to show that it writes UTC.
const NEAR: Duration = Duration::from_secs(300);
/// How far ahead of it: clocks differ.
const AHEAD: Duration = Duration::from_secs(60);

/// What the values of a time column say about their spelling.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Spelling {
    /// Certain, with the reason.
    Known(String, String),
    /// The unit or the pattern is, the zone is not: the spelling if it were UTC.
    NoZone(String),
    /// No value fits, or there is none.
    None,
}

/// How these values of a column are spelled.
pub(super) fn spelling<'c>(
    type_name: &str,
    class: Class,
    values: impl Iterator<Item = &'c Cell>,
    now: Timestamp,
) -> Spelling {
    if class == Class::Time && type_name.contains("with time zone") {
        return Spelling::Known("native".to_owned(), "the type knows its instants".to_owned());
    }
    let values: Vec<&Cell> = values.filter(|cell| !is_unset(cell)).collect();
    if values.is_empty() {
        return if class == Class::Time { Spelling::NoZone("native utc".to_owned()) } else { Spelling::None };
    }
    let fitting = candidates(&values).into_iter().find_map(|name| {
        let encodings = Encodings::new(Encoding::parse(&name).ok()?, Vec::new());
        Some((newest(&encodings, &values, now)?, name))
    });
    let Some(((at, raw), name)) = fitting else { return Spelling::None };
    let has_zone = name.starts_with("epoch")
        || name.starts_with("text") && ["Z", ":00", "+HH:MM"].iter().any(|end| name.ends_with(end));
    match has_zone {
        true => {
            let seen = format!("its newest value {raw} is {} the database's now", apart(at, now));
            Spelling::Known(name, format!("{seen}, and no other reading fits its values"))
        }
        false => Spelling::NoZone(name),
    }
}

/// Whether every worker in flight is shown to write a column in UTC: the newest value of each owner, or of each row
/// where no column tells owners, is near the database's now. A value that lies in the future, as one of a lease, shows
/// nothing. What was seen of each stands beside it.
fn is_in_utc(facts: &Facts<'_>, column: &str, how: &str) -> (Support, Vec<String>) {
    let Ok(encoding) = Encoding::parse(how) else { return (Support::Name, Vec::new()) };
    let encodings = Encodings::new(encoding, Vec::new());
    let owner = facts.owner.as_ref().map(OwnerId::column);
    let at = |name: &str| facts.in_flight.columns.iter().position(|column| column == name);
    let (Some(time), owner) = (at(column), owner.and_then(at)) else { return (Support::Name, Vec::new()) };
    let mut newest: BTreeMap<String, Option<Timestamp>> = BTreeMap::new();
    for (n, row) in facts.in_flight.rows.iter().enumerate() {
        let who = owner.and_then(|owner| row.get(owner)).filter(|owner| !is_unset(owner));
        let who = who.map_or_else(|| format!("row {}", n + 1), Cell::to_string);
        let Some(cell) = row.get(time).filter(|cell| !is_unset(cell)) else { continue };
        let read = match encodings.decode(cell) {
            Reading::At(at) => Some(at),
            _ => None,
        };
        let known = newest.entry(who).or_insert(read);
        if read.map(Timestamp::micros) > known.map(Timestamp::micros) {
            *known = read;
        }
    }
    let is_near =
        |at: &Option<Timestamp>| at.is_some_and(|at| facts.now.since(at) <= NEAR && at.since(facts.now) <= AHEAD);
    let is_lease =
        facts.source.as_ref().is_some_and(|source| source.by == "lease" && source.column.as_deref() == Some(column));
    let all_near = !is_lease && newest.values().all(is_near);
    let mut seen: Vec<(bool, String)> = newest
        .iter()
        .filter_map(|(who, at)| {
            Some((is_near(at), format!("{who}: newest {} now, if it is UTC", apart((*at)?, facts.now))))
        })
        .collect();
    seen.sort();
    let rows = facts.in_flight.set(column).count();
    (Support::by(all_near, rows, rows), seen.into_iter().take(6).map(|(_, says)| says).collect())
}

/// How the times in use are spelled, column by column.
pub(super) fn times(facts: &Facts<'_>) -> Vec<Finding> {
    let source = facts.source.as_ref().filter(|_| facts.answers.get("actions") != Some("none"));
    let of_source = source.and_then(|source| source.column.clone());
    let mut columns: Vec<String> = of_source.into_iter().chain(facts.claimed.clone()).collect();
    columns.dedup();
    let mut findings: Vec<Finding> = columns.iter().map(|name| time(facts, name)).collect();
    let by_owner = source.is_some_and(Source::is_owner) || facts.answers.get("claim.liveness").is_none();
    if let Some(owners) = facts.owners.as_ref().filter(|_| by_owner) {
        let (beat, name) = (&owners.heartbeat, owner_key(owners, &columns));
        let spelled = spelling(&beat.type_name, beat.class, owners.values.iter(), facts.now);
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
    let findings = zones_together(findings);
    // One spelling for all is written once.
    let first = findings.first().and_then(|finding| finding.value.as_ref()?.as_str().map(str::to_owned));
    let is_sure = |finding: &Finding| {
        finding.support >= Some(Support::Both) && finding.value.as_ref().and_then(Value::as_str) == first.as_deref()
    };
    let mut found = match first {
        Some(first) if findings.iter().all(is_sure) => {
            let support = findings.iter().filter_map(|finding| finding.support).max().unwrap_or(Support::Both);
            let of =
                |finding: &Finding| Some(format!("{}: {}", finding.key.as_ref()?.strip_prefix("time.")?, finding.why));
            let why: Vec<String> =
                findings.iter().filter(|finding| finding.support == Some(support)).filter_map(of).collect();
            vec![Finding::new(first, support, why.join("; ")).of("time.default")]
        }
        _ => findings,
    };
    let stored: Vec<(&String, String)> =
        columns.iter().filter_map(|column| Some((column, sentinel(facts, column)?))).collect();
    if !stored.is_empty() {
        let none = |(column, stored): &(&String, String)| {
            ((*column).clone(), Value::from([(stored.as_str(), "none")].into_iter().collect::<InlineTable>()))
        };
        let sentinels: InlineTable = stored.iter().map(none).collect();
        found
            .push(Finding::new(sentinels, Support::Shown, "rows have it where a time is missing").of("time.sentinels"));
    }
    found
}

fn text(finding: &Finding) -> Option<String> {
    finding.value.as_ref()?.as_str().map(str::to_owned)
}

/// Columns that lack a zone in the same spelling are one question, which names each of them with what was seen.
fn zones_together(findings: Vec<Finding>) -> Vec<Finding> {
    let (open, mut findings): (Vec<Finding>, Vec<Finding>) =
        findings.into_iter().partition(|finding| finding.support < Some(Support::Both) && finding.value.is_some());
    let forms: BTreeSet<&str> = open.iter().map(|finding| finding.form.as_str()).collect();
    if open.len() < 2 || forms.len() > 1 {
        findings.extend(open);
        return findings;
    }
    let about = open.iter().map(|finding| finding.about.as_str()).collect::<Vec<_>>().join("`, `");
    let seen =
        open.iter().flat_map(|finding| finding.seen.iter().map(move |seen| format!("{}: {seen}", finding.about)));
    let together = Finding {
        value: open.first().and_then(|first| first.value.clone()),
        support: open.iter().filter_map(|finding| finding.support).min(),
        ..Finding::default()
    };
    let form = open.first().map(|first| first.form.clone()).unwrap_or_default();
    findings.push(together.asked(about, form, seen.collect()).of("time.default"));
    findings
}

/// The value other than NULL that stands for no time.
fn sentinel(facts: &Facts<'_>, column: &str) -> Option<String> {
    facts.all.values(column).find(|cell| facts.all.is_none(column, cell) && !cell.is_null()).map(Cell::to_string)
}

fn time(facts: &Facts<'_>, name: &str) -> Finding {
    let Some(column) = facts.subject.column(name) else { return Finding::default().of(format!("time.{name}")) };
    let spelled = spelling(&column.type_name, column.class, facts.all.set(name), facts.now);
    finding(facts, name, spelled, |how| is_in_utc(facts, name, how))
}

fn finding(
    facts: &Facts<'_>,
    name: &str,
    spelled: Spelling,
    in_utc: impl Fn(&str) -> (Support, Vec<String>),
) -> Finding {
    let key = format!("time.{name}");
    // An answer for all is one for those that show no spelling of their own.
    let for_all = facts.answers.get("time.default").filter(|_| !matches!(spelled, Spelling::Known(..)));
    let finding = match (facts.answers.get(&key).or(for_all), spelled) {
        (Some(answer), _) => Finding::new(answer, Support::Answered, "as answered"),
        (None, Spelling::Known(how, why)) => Finding::new(how, Support::Shown, why),
        (None, Spelling::NoZone(how)) => {
            let (support, seen) = in_utc(&how);
            let form =
                if support == Support::Name { format!("{} ZONE", how.trim_end_matches(" utc")) } else { how.clone() };
            Finding::new(how, support, "each worker in flight wrote it just now, in UTC").asked(name, form, seen)
        }
        (None, Spelling::None) => Finding::open(name, "SPELLING", vec![sampled(name, &facts.all)]),
    };
    finding.of(key)
}

/// The key of the owners' heartbeat in `[time]`; a column of the same name in the jobs' table is another one.
fn owner_key(owners: &OwnersTable, columns: &[String]) -> String {
    let name = &owners.heartbeat.name;
    if columns.contains(name) { format!("o.{name}") } else { name.clone() }
}

/// The newest instant in a column, if its values are times.
pub(super) fn newest_in<'c>(values: impl Iterator<Item = &'c Cell>, now: Timestamp) -> Option<Timestamp> {
    let values: Vec<&Cell> = values.filter(|cell| !is_unset(cell)).collect();
    let mut names = candidates(&values);
    names.push("native utc".to_owned());
    let read = |name: &String| newest(&Encodings::new(Encoding::parse(name).ok()?, Vec::new()), &values, now);
    names.iter().find_map(read).map(|(at, _)| at)
}

/// The spellings to try, the strictest first: of those that read all values the first one counts.
fn candidates(values: &[&Cell]) -> Vec<String> {
    let all = |is: fn(&Cell) -> bool| values.iter().all(|cell| is(cell));
    if all(|cell| matches!(cell, Cell::WallClock(_))) {
        return vec!["native utc".to_owned()];
    }
    if all(|cell| matches!(cell, Cell::Integer(_))) {
        return ["s", "ms", "us", "ns"].iter().map(|unit| format!("epoch {unit}")).collect();
    }
    if all(|cell| matches!(cell, Cell::Integer(_) | Cell::Real(_))) {
        return vec!["epoch s float".to_owned()];
    }
    let mut patterns = Vec::new();
    for end in [" utc", "Z", "+00:00", "+HH:MM"] {
        for fraction in ["", ".fff", ".ffffff", "[.ffffff]", "[.f-fff]", "[.fff-fffffffff]"] {
            for separator in [" ", "T"] {
                patterns.push(format!("text YYYY-MM-DD{separator}HH:MM:SS{fraction}{end}"));
            }
        }
    }
    patterns
}

/// The newest instant and its stored text, if every value is one that is near enough to be of this life.
fn newest(encodings: &Encodings, values: &[&Cell], now: Timestamp) -> Option<(Timestamp, String)> {
    // Seconds read as milliseconds lie in 1970, milliseconds read as seconds beyond the calendar.
    const YEARS: Duration = Duration::from_secs(20 * 365 * 86_400);
    let mut newest: Option<(Timestamp, String)> = None;
    for cell in values {
        let Reading::At(at) = encodings.decode(cell) else { return None };
        if at.since(now) > YEARS || now.since(at) > YEARS {
            return None;
        }
        if newest.as_ref().is_none_or(|(known, _)| at.micros() > known.micros()) {
            newest = Some((at, cell.to_string()));
        }
    }
    newest
}

fn apart(at: Timestamp, now: Timestamp) -> String {
    let span = |span: Duration| crate::model::age(Duration::from_secs(span.as_secs()));
    if at.micros() > now.micros() {
        format!("{} ahead of", span(at.since(now)))
    } else {
        format!("{} before", span(now.since(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(values: &[Cell]) -> Spelling {
        let now = Timestamp::parse("2026-11-25T12:00:00Z").unwrap();
        spelling("text", Class::Text, values.iter(), now)
    }

    #[test]
    fn a_unit_is_certain_and_a_zone_is_not() {
        let known = |cell: Cell| match spelled(&[cell]) {
            Spelling::Known(name, _) => name,
            other => format!("{other:?}"),
        };
        assert_eq!(known(Cell::Integer(1_795_000_000)), "epoch s");
        assert_eq!(known(Cell::Integer(1_795_000_000_000)), "epoch ms");
        assert_eq!(known(Cell::Text("2026-11-25T03:00:00.123Z".into())), "text YYYY-MM-DDTHH:MM:SS.fffZ");
        // Two minutes ago in UTC or in any zone; an hour ahead is Paris, six hours behind Chicago or an idle queue.
        for text in ["2026-11-25 11:58:00", "2026-11-25 13:00:00", "2026-11-25 06:00:00"] {
            assert!(matches!(spelled(&[Cell::Text(text.into())]), Spelling::NoZone(..)), "{text}");
        }
        assert_eq!(spelled(&[Cell::Text("soon".into())]), Spelling::None);
    }
}
