//! What shows the life of a claim, when it was claimed, and how those times are spelled.

use super::draft::{Draft, sampled, set_by_claims};
use super::facts::{Facts, OwnersTable};
use super::roles::{Class, Meaning, Role};
use super::table::SubjectColumn;
use super::times::{Spelling, newest_in, spelling};
use crate::model::parse_duration;
use crate::output::{DraftKey, Grade};
use toml_edit::{Array, InlineTable, Value};

/// A source of life, as it was answered or is proposed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Source {
    by: &'static str,
    pub(super) column: Option<String>,
    silent_after: Option<String>,
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

    fn text(&self) -> String {
        let parts = [Some(self.by.to_owned()), self.column.clone(), self.silent_after.clone()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// The column of the claim's time: NULL while a job waits and set in flight, or by its name.
pub(super) fn claimed_at(facts: &Facts<'_>) -> Option<(String, Grade, String)> {
    let (waiting, in_flight) = (facts.rows(Meaning::Waiting), facts.rows(Meaning::InFlight));
    let named = || facts.subject.of_role(Role::Claimed).filter(|column| column.class != Class::Boolean);
    let is_shown = |column: &SubjectColumn| waiting.is_null(&column.name) && in_flight.is_set(&column.name);
    if let Some(column) = named().find(|column| is_shown(column)) {
        return Some((column.name.clone(), Grade::Shown, set_by_claims(&waiting, &in_flight)));
    }
    let by_name = named().next().map(|column| (column.name.clone(), Grade::Likely, "by name and type".to_owned()));
    // Without a name for it, the earliest of the times that a claim sets; one that lies ahead is a lease.
    let nameless = facts.subject.columns.iter().filter(|column| column.role.is_none() && is_shown(column));
    let newest = nameless.filter_map(|column| Some((newest_in(in_flight.values(&column.name), facts.now)?, column)));
    let past = newest.filter(|(at, _)| at.micros() <= facts.now.micros());
    let earliest = past.min_by_key(|(at, _)| at.micros());
    let by_rows = earliest
        .map(|(_, column)| (column.name.clone(), Grade::Likely, "the earliest time that a claim sets".to_owned()));
    by_name.or(by_rows)
}

/// The source to propose, the best first: a heartbeat or a lease on the row, the owner's heartbeat, the age of the
/// claim.
fn proposal(facts: &Facts<'_>) -> Option<Source> {
    let of = |role| facts.subject.of_role(role).find(|column: &&SubjectColumn| column.class != Class::Boolean);
    let source = |by, column: Option<String>, silence: Option<&str>| Source {
        by,
        column,
        silent_after: silence.map(str::to_owned),
    };
    let heartbeat = of(Role::Heartbeat).map(|column| source("heartbeat", Some(column.name.clone()), Some("5m")));
    let lease = || of(Role::Lease).map(|column| source("lease", Some(column.name.clone()), None));
    let owner = || facts.owners.as_ref().map(|_| source("owner", None, Some("5m")));
    let age = || claimed_at(facts).map(|(column, ..)| source("age", Some(column), Some("1h")));
    heartbeat.or_else(lease).or_else(owner).or_else(age)
}

/// The source in force: as answered, as watched, or as proposed.
pub(super) fn source(facts: &Facts<'_>) -> Option<Source> {
    match facts.answers.get("claim.liveness") {
        Some(answer) => Source::parse(answer),
        None => watched(facts).map(|(source, _)| source).or_else(|| proposal(facts)),
    }
}

fn watched(facts: &Facts<'_>) -> Option<(Source, String)> {
    let (column, silence, reason) = facts.watched?.heartbeat(facts.subject, &facts.rows(Meaning::Waiting))?;
    Some((Source { by: "heartbeat", column: Some(column), silent_after: Some(silence) }, reason))
}

/// Drafts what shows life, and the claim's time.
pub(super) fn draft(facts: &Facts<'_>, draft: &mut Draft<'_>) {
    let answers = facts.answers;
    if let Some((column, grade, reason)) = claimed_at(facts) {
        draft.key("claim.claimed_at", column, grade, reason);
    }
    let key = "claim.liveness";
    match (answers.get(key), watched(facts)) {
        (Some("none"), _) => {}
        (Some(answer), _) => {
            if let Some(source) = Source::parse(answer) {
                draft.answered(key, source.value());
            }
        }
        (None, _) if answers.get("actions") == Some("none") => {}
        (None, Some((source, reason))) => draft.keys.push(DraftKey::new(key, source.value(), Grade::Shown, reason)),
        (None, None) => {
            let question = "what shows that a worker still works on a job, and after which silence is it dead? \
                            heartbeat COLUMN 2m, lease COLUMN, owner 2m, age COLUMN 30m (above the longest run), or none";
            let proposed = proposal(facts);
            let form = proposed.as_ref().map_or_else(|| "none".to_owned(), Source::text);
            draft.ask(key, question, seen(facts), form, true);
        }
    }
}

/// The columns that may be a sign of life, with some values of rows in flight.
fn seen(facts: &Facts<'_>) -> Vec<String> {
    let in_flight = facts.rows(Meaning::InFlight);
    let waiting = facts.rows(Meaning::Waiting);
    let signs = facts.subject.columns.iter().filter(|column| match column.role {
        Some(Role::Heartbeat | Role::Lease | Role::Claimed | Role::Updated) => column.class != Class::Boolean,
        None => waiting.is_null(&column.name) && newest_in(in_flight.values(&column.name), facts.now).is_some(),
        Some(_) => false,
    });
    let owners =
        facts.owners.as_ref().map(|owners| format!("owners' table {}: {}", owners.written, owners.heartbeat.name));
    let watched = facts.watched.into_iter().flat_map(|watched| watched.others());
    signs.map(|column| sampled(&column.name, &in_flight)).chain(owners).chain(watched).collect()
}

/// Drafts how the times in use are spelled, and asks for the zones that no value shows.
pub(super) fn times(facts: &Facts<'_>, draft: &mut Draft<'_>, stamped: &[String]) {
    let source = source(facts);
    let claimed = claimed_at(facts).map(|(column, ..)| column);
    let claimed =
        facts.answers.get("claim.claimed_at").map(str::to_owned).filter(|answer| answer != "none").or(claimed);
    let of_source = source.as_ref().and_then(|source| source.column.clone());
    let mut columns: Vec<String> = of_source.into_iter().chain(claimed).collect();
    columns.dedup();
    let mut known: Vec<(String, String, Grade, String)> = Vec::new();
    let mut open = false;
    let is_owner = source.is_none_or(|source| source.is_owner()) || facts.answers.get("claim.liveness").is_none();
    let of_owners = facts.owners.as_ref().filter(|_| is_owner).map(|owners| (owner_key(owners, &columns), owners));
    let spelled = columns.iter().filter_map(|name| {
        let column = facts.subject.column(name)?;
        let is_lease = column.role == Some(Role::Lease);
        Some((name.clone(), spelling(&column.type_name, column.class, facts.all.values(name), facts.now, is_lease)))
    });
    let of_owners = of_owners.map(|(key, owners)| {
        let beat = &owners.heartbeat;
        (key, spelling(&beat.type_name, beat.class, owners.values.iter(), facts.now, false))
    });
    for (name, spelling) in spelled.chain(of_owners).collect::<Vec<_>>() {
        let key = format!("time.{name}");
        match (facts.answers.get(&key).or(facts.answers.get("time.default")), spelling) {
            (Some(answer), _) => known.push((name, answer.to_owned(), Grade::Asked, "as answered".to_owned())),
            (None, Spelling::Known(how, why)) => known.push((name, how, Grade::Shown, why)),
            (None, Spelling::NoZone(how, seen)) => {
                open = true;
                let form = format!("{} ZONE", how.trim_end_matches(" utc"));
                let question = format!(
                    "in which zone does a worker write `{name}`? the column does not say; utc, or a name like Europe/Paris"
                );
                draft.ask(&key, question, seen, form, false);
            }
            (None, Spelling::None) => {
                open = true;
                let question = format!(
                    "how is the time in `{name}` spelled? no value of it shows: native, epoch s, epoch ms, text ..."
                );
                draft.ask(&key, question, Vec::new(), "epoch s", false);
            }
        }
    }
    let Some((_, first, ..)) = known.first().cloned() else { return };
    // What an action stamps is written by jobdoctor: no verdict rests on it.
    for name in stamped.iter().filter(|name| !columns.contains(name)) {
        let Some(column) = facts.subject.column(name) else { continue };
        match spelling(&column.type_name, column.class, facts.all.values(name), facts.now, false) {
            Spelling::Known(how, why) => known.push((name.clone(), how, Grade::Shown, why)),
            Spelling::NoZone(..) | Spelling::None => {
                known.push((name.clone(), first.clone(), Grade::Likely, "as the other times".to_owned()));
            }
        }
    }
    if !open && known.iter().all(|(_, how, ..)| *how == first) {
        let grade =
            known.iter().map(|(_, _, grade, _)| *grade).find(|grade| *grade != Grade::Likely).unwrap_or(Grade::Likely);
        let why: Vec<String> =
            known.iter().filter(|(_, _, of, _)| *of == grade).map(|(name, .., why)| format!("{name}: {why}")).collect();
        draft.keys.push(DraftKey::new("time.default", first, grade, why.join("; ")));
        return;
    }
    for (name, how, grade, why) in known {
        draft.keys.push(DraftKey::new(&format!("time.{name}"), how, grade, why));
    }
}

/// The key of the owners' heartbeat in `[time]`; a column of the same name in the jobs' table is another one.
fn owner_key(owners: &OwnersTable, columns: &[String]) -> String {
    let name = &owners.heartbeat.name;
    if columns.contains(name) { format!("o.{name}") } else { name.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_with_columns_of_several_words() {
        let column =
            |answer: &str| Source::parse(answer).map(|source| (source.column.unwrap_or_default(), source.silent_after));
        assert_eq!(column("lease Taken Until"), Some(("Taken Until".into(), None)));
        assert_eq!(column("heartbeat last beat 90s"), Some(("last beat".into(), Some("90s".into()))));
        assert_eq!(column("owner 2m"), Some((String::new(), Some("2m".into()))));
        for wrong in ["heartbeat pinged", "age 2m", "pulse x 2m", "lease", "owner soon"] {
            assert_eq!(column(wrong), None, "{wrong}");
        }
    }
}
