//! What shows the life of a claim, and when it was claimed.

use super::draft::{counted, sampled};
use super::facts::{Facts, Support};
use super::keys::Finding;
use super::roles::{Class, Role, is_among};
use super::table::SubjectColumn;
use super::times::newest_in;
use crate::model::{Timestamp, parse_duration};
use crate::preset::words;
use toml_edit::{Array, InlineTable, Value};

/// A source of life, as it was answered or is proposed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Source {
    pub(super) by: &'static str,
    pub(super) column: Option<String>,
    pub(super) silent_after: Option<String>,
}

impl Source {
    /// Reads `heartbeat COLUMN 2m`, `lease COLUMN`, `age COLUMN 30m` or `owner 2m`. A column's name may have blanks.
    pub(super) fn parse(answer: &str) -> Option<Source> {
        let (kind, rest) = answer.trim().split_once(' ').unwrap_or((answer.trim(), ""));
        let by = ["heartbeat", "lease", "age", "owner"].into_iter().find(|by| *by == kind)?;
        let rest = rest.trim();
        let (column, silence) = match rest.rsplit_once(' ') {
            _ if by == "owner" => ("", rest),
            _ if by == "lease" => (rest, ""),
            Some((column, silence)) => (column.trim(), silence),
            None => return None,
        };
        if (by != "lease" && parse_duration(silence).is_err()) || (by != "owner" && column.is_empty()) {
            return None;
        }
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Some(Source { by, column: some(column), silent_after: some(silence) })
    }

    /// True if it judges by the owner's row.
    pub(super) fn is_owner(&self) -> bool {
        self.by == "owner"
    }

    fn value(&self) -> Value {
        let mut table = InlineTable::new();
        table.insert("by", self.by.into());
        let column = self.column.iter().map(|column| ("column", column));
        for (key, text) in column.chain(self.silent_after.iter().map(|silence| ("silent_after", silence))) {
            table.insert(key, text.as_str().into());
        }
        Array::from_iter([Value::InlineTable(table)]).into()
    }

    /// Spells the source as an answer. DURATION stands for a silence that no row shows, and is refused as an answer.
    fn text(&self) -> String {
        let silence = self.silent_after.clone().or_else(|| (self.by != "lease").then(|| "DURATION".to_owned()));
        let parts = [Some(self.by.to_owned()), self.column.clone(), silence];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// The column of the claim's time: as answered; or called so and empty while a job that was never tried waits; or
/// the earliest of the times that every claim has and no such job.
pub(super) fn claim_time(facts: &Facts<'_>) -> Option<String> {
    if let Some(answer) = facts.answers.get("claim.claimed_at") {
        return (answer != "none").then(|| answer.to_owned());
    }
    let source = facts.answers.get("claim.liveness").and_then(Source::parse);
    if let Some(age) = source.filter(|source| source.by == "age") {
        return age.column;
    }
    let is_possible = |column: &&SubjectColumn| {
        column.class != Class::Boolean && (facts.fresh.is_empty() || !facts.fresh.is_held(&column.name))
    };
    let is_set = |column: &&SubjectColumn| facts.fresh.is_free(&column.name) && facts.in_flight.is_held(&column.name);
    let mut named: Vec<&SubjectColumn> = facts.subject.of_role(Role::Claimed).filter(is_possible).collect();
    named.sort_by_key(|column| !is_set(column));
    // One that lies ahead is a lease.
    let nameless = facts.subject.columns.iter().filter(|column| column.role.is_none() && is_set(column));
    let newest = nameless.filter_map(|column| Some((newest_in(facts.in_flight.set(&column.name), facts.now)?, column)));
    let past = newest.filter(|(at, _)| at.micros() <= facts.now.micros());
    let by_rows = || past.min_by_key(|(at, _)| at.micros()).map(|(_, column)| column);
    named.first().copied().or_else(by_rows).map(|column| column.name.clone())
}

/// The source in force: as answered, as watched, or the likeliest: a heartbeat or a lease on the row, the owner's
/// heartbeat, the age of the claim.
pub(super) fn source(facts: &Facts<'_>) -> Option<Source> {
    if let Some(answer) = facts.answers.get("claim.liveness") {
        return Source::parse(answer);
    }
    if let Some(beat) = &facts.beat {
        let (column, silent_after) = (Some(beat.column.clone()), beat.silence.clone());
        return Some(Source { by: "heartbeat", column, silent_after });
    }
    let of = |role| {
        let mut columns = facts.subject.of_role(role).filter(|column| column.class != Class::Boolean);
        columns
            .find(|column| facts.waiting.is_empty() || facts.waiting.is_free(&column.name))
            .map(|column| column.name.clone())
    };
    let source = |by, column| Source { by, column, silent_after: None };
    let heartbeat = of(Role::Heartbeat).map(|column| source("heartbeat", Some(column)));
    let lease = || of(Role::Lease).map(|column| source("lease", Some(column)));
    let newest = |column: &str| newest_in(facts.in_flight.set(column), facts.now).map(Timestamp::micros);
    // A time of claims that no name tells, and that is newer than their begin.
    let nameless = || {
        let begun = newest(facts.claimed.as_deref()?)?;
        let is_newer = |column: &&SubjectColumn| {
            let is_of_claims = column.role.is_none() && facts.set_by_claims(&column.name) >= Support::Rows;
            is_of_claims && newest(&column.name).is_some_and(|at| at > begun)
        };
        let column = facts.subject.columns.iter().find(is_newer)?;
        Some(source("heartbeat", Some(column.name.clone())))
    };
    let owner = || facts.owners.as_ref().map(|_| source("owner", None));
    let age = || facts.claimed.clone().map(|column| source("age", Some(column)));
    heartbeat.or_else(lease).or_else(owner).or_else(nameless).or_else(age)
}

pub(super) fn claimed_at(facts: &Facts<'_>) -> Vec<Finding> {
    let Some(column) = &facts.claimed else { return Vec::new() };
    let support = facts.set_by_claims(column);
    vec![Finding::new(column, support, set_by_claims(facts, column))]
}

/// The reason that a column belongs to claims.
pub(super) fn set_by_claims(facts: &Facts<'_>, column: &str) -> String {
    match facts.set_by_claims(column) {
        Support::Shown => format!(
            "empty in {}, set in {}",
            counted(&facts.waiting, "waiting"),
            counted(&facts.in_flight, "in flight")
        ),
        Support::Rows => {
            format!(
                "empty in {}, set in {}",
                counted(&facts.fresh, "never tried"),
                counted(&facts.in_flight, "in flight")
            )
        }
        _ => "by name and type".to_owned(),
    }
}

/// How a claim shows life. A silence is drafted only where every row in flight was seen to beat.
pub(super) fn sources(facts: &Facts<'_>) -> Vec<Finding> {
    let seen = seen(facts);
    let Some(source) = &facts.source else { return vec![Finding::open("", "SOURCE", seen)] };
    let column = source.column.as_deref().unwrap_or_default();
    let support = match &facts.beat {
        _ if facts.answers.get("claim.liveness").is_some() => Support::Answered,
        Some(beat) => beat.support,
        // A lease of its own says how long it lasts: ahead for a claim, and no job that waits has one.
        None if source.by == "lease" => {
            let is_ahead =
                newest_in(facts.in_flight.set(column), facts.now).is_some_and(|at| at.micros() > facts.now.micros());
            let is_called = !words(column).iter().any(|word| word.starts_with("expir"))
                || words(column).iter().any(|word| is_among(word, "lease lock locked claim"));
            Support::by(is_ahead && is_called && facts.set_by_claims(column) >= Support::Rows, 1, 1)
        }
        None => Support::Name,
    };
    let why = match support {
        Support::Answered => "as answered",
        _ => {
            "it advanced on every row in flight while it was watched; ten times its longest step, and 2 minutes at least"
        }
    };
    let form = if source.by == "lease" && support == Support::Name { "lease COLUMN".to_owned() } else { source.text() };
    vec![Finding::new(source.value(), support, why).asked("", form, seen)]
}

/// The columns that may be a sign of life, with some values of rows in flight.
fn seen(facts: &Facts<'_>) -> Vec<String> {
    let is_life = |column: &&SubjectColumn| match column.role {
        Some(Role::Heartbeat | Role::Lease | Role::Claimed | Role::Updated) => column.class != Class::Boolean,
        None => {
            facts.waiting.is_free(&column.name) && newest_in(facts.in_flight.set(&column.name), facts.now).is_some()
        }
        Some(_) => false,
    };
    let described = |column: &SubjectColumn| {
        let sampled = sampled(&column.name, &facts.in_flight);
        match (facts.waiting.set(&column.name).next(), facts.subject.defaults.contains_key(&column.name)) {
            (Some(_), true) => format!("{sampled} (jobs that wait have it too, by its default)"),
            (Some(_), false) => format!("{sampled} (jobs that wait have it too: no sign of life)"),
            (None, _) => sampled,
        }
    };
    let owners = facts.owners.iter().map(|owners| {
        let others = owners.others.join(", ");
        let others = if others.is_empty() { others } else { format!(" (owner.heartbeat names another: {others})") };
        format!("table {}: {}{others}", owners.written, owners.heartbeat.name)
    });
    let watched = facts.watched.into_iter().flat_map(|watched| watched.seen(facts.beat.as_ref()));
    facts.subject.columns.iter().filter(is_life).map(described).chain(owners).chain(watched).collect()
}
