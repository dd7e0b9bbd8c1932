//! What is known of a queue, cut into sections that every queue has in the same order.

use super::actions::{action_facts, claim_action};
use super::fact::{PresetFact, PresetSection, fact, name_fact, why};
use super::liveness::{attempts, fencing, liveness};
use super::words::{any_of, code, column, quoted, stored};
use crate::model::Action;
use crate::preset::{
    CheckDoc, ClaimFrom, Document, FinishedDoc, Fragment, SkipDoc, Template, Touch, WakeUpDoc, Written,
};

/// The heading of the section that variants come after.
pub(super) const TABLES: &str = "Tables";

pub(super) fn sections(document: &Document) -> Vec<PresetSection> {
    let section = |title: &str, facts: Vec<PresetFact>| PresetSection { title: title.to_owned(), facts };
    let mut sections = vec![
        section(TABLES, tables(document)),
        section("In flight", in_flight(document)),
        section("Times", times(document)),
        section("Alive or dead", liveness(document)),
        section("Attempts", attempts(document)),
        section("Finished jobs", finished_facts(document)),
    ];
    for kind in [Action::Requeue, Action::Fail, Action::Cancel, Action::TimeOut] {
        let found = document.actions.iter().find(|(action, _)| *action == kind);
        let facts = match found {
            Some((action, doc)) => claim_action(document, *action, doc),
            None => vec![fact("never", "this queue has no such thing")],
        };
        // Few tables have a state for it.
        if kind != Action::TimeOut || found.is_some() {
            sections.push(section(kind.name(), facts));
        }
    }
    for (action, doc) in &document.waiting {
        sections.push(section(&format!("{action} of a job that waits"), action_facts(document, doc)));
    }
    sections.push(section("Skipped", skips(document)));
    sections.push(section("Waking workers", wake_ups(document)));
    sections.push(section("Cautions", cautions(document)));
    if !document.checks.is_empty() {
        let facts = document.checks.iter().flat_map(|(name, doc)| check(document, name, doc)).collect();
        sections.push(section("Stuck though no worker holds them", facts));
    }
    let advice = document.advice.iter().flat_map(|advice| {
        let text = advice.text.as_deref().map(|text| fact("advice", text));
        text.into_iter().chain(advice.sql.as_deref().map(|sql| fact("SQL", code(&sql.trim().replace('\n', " ")))))
    });
    sections.push(section("The library's own remedy", advice.collect()));
    sections
}

fn tables(document: &Document) -> Vec<PresetFact> {
    let schema = document
        .schema
        .as_ref()
        .map(|schema| fact("schema", format!("{}, unless --schema names another", code(schema))));
    let tables = document.tables.iter().map(|(logical, name)| name_fact(name.as_str(), table(document, logical)));
    tables.chain(schema).collect()
}

/// What a table is for, by where the document names it.
fn table(document: &Document, logical: &str) -> String {
    let touches = |template: &Template, write: bool| {
        let whole = document.whole(template);
        whole.touches().iter().any(|(touch, table)| *table == logical && (!write || *touch != Touch::Select))
    };
    let names = |template: &Template| touches(template, false);
    let claim = &document.claim;
    let from = if let ClaimFrom::From(from) = &claim.from { Some(&from.sql) } else { None };
    let filter = claim.filter.as_ref().map(|filter| &filter.sql);
    let is_claims = logical == document.row().0;
    let is_written = document.statements().any(|sql| touches(sql, true));
    let is_read = from.into_iter().chain(filter).chain(document.owner.on.as_ref().map(|on| &on.sql)).any(names)
        || (document.statements().any(names) && !is_written);
    let roles = [
        (is_claims, "its rows are the claims"),
        (document.owner.table.as_ref().is_some_and(|table| table.text == logical), "its rows are the owners"),
        (document.skips.iter().any(|(_, skip)| names(&skip.condition.sql)), "asked before a step"),
        (!is_claims && is_read, "read with the claims"),
        (!is_claims && is_written, "written or locked by an action"),
        (
            document.notify.iter().any(|wake| matches!(&wake.wake_up, WakeUpDoc::Sql(sql) if names(&sql.sql))),
            "a row in it wakes workers",
        ),
    ];
    let roles: Vec<&str> = roles.into_iter().filter(|(is, _)| *is).map(|(_, role)| role).collect();
    if roles.is_empty() { "read to recognise the queue".to_owned() } else { roles.join("; ") }
}

fn in_flight(document: &Document) -> Vec<PresetFact> {
    let (claim, states) = (&document.claim, &document.states);
    let table = quoted(document.table_name(&document.row().0));
    let is_claim = match rows_of(document, &stored(&states.in_flight), &claim.filter) {
        Some(which) => format!("a row of {table} {which}"),
        None => format!("a row of {table}: its place is its state"),
    };
    let keys = claim.key.iter().map(|key| code(&document.column_text(key))).collect::<Vec<_>>().join(" and ");
    let mut facts = vec![fact("a claim is", is_claim), fact("a job is known by", keys)];
    let columns = [
        ("its queue", &claim.queue),
        ("its kind", &claim.kind),
        ("claimed at", &claim.claimed_at),
        ("its payload", &claim.payload),
        ("its last error", &claim.last_error),
    ];
    let shown =
        |(label, written): (&str, &Option<Written>)| Some(fact(label, code(&document.column_text(written.as_ref()?))));
    facts.extend(columns.into_iter().filter_map(shown));
    if !claim.progress.is_empty() {
        let progress: Vec<String> = claim.progress.iter().map(|written| document.column_text(written)).collect();
        facts.push(fact("progress", code(&progress.join(", "))));
    }
    if let ClaimFrom::From(from) = &claim.from {
        facts.push(fact("read from", code(&document.sql_text(&from.sql))));
    }
    for (label, states) in [
        ("waiting", &states.waiting),
        ("in flight", &states.in_flight),
        ("done", &states.done),
        ("failed", &states.failed),
        ("cancelled", &states.cancelled),
        ("ignored", &states.ignored),
    ] {
        if !states.is_empty() {
            facts.push(fact(label, stored(states).iter().map(|state| code(state)).collect::<Vec<_>>().join(", ")));
        }
    }
    facts.extend(why("why", &claim.why));
    facts
}

/// Which rows are in one of these states and meet this condition; `None` where neither says anything.
fn rows_of(document: &Document, states: &[String], filter: &Option<Fragment>) -> Option<String> {
    // A literal says what the place is called; there is no column then.
    let state = document.claim.state.as_ref().filter(|state| !state.text.starts_with('\'') && !states.is_empty());
    let state = state.map(|state| format!("whose {} is {}", column(document, state), any_of(states)));
    let filter = filter.as_ref().map(|filter| document.sql_text(&filter.sql));
    let filter = filter.filter(|filter| !filter.eq_ignore_ascii_case("true"));
    let filter = filter.map(|filter| format!("where {}", quoted(&filter)));
    match (state, filter) {
        (Some(state), Some(filter)) => Some(format!("{state}, {filter}")),
        (state, filter) => state.or(filter),
    }
}

fn times(document: &Document) -> Vec<PresetFact> {
    let shown = |(column, encodings): &(String, Vec<String>)| {
        let encodings = encodings.iter().map(|encoding| code(encoding)).collect::<Vec<_>>().join(" or ");
        if column == "default" { fact("stored as", encodings) } else { name_fact(column.as_str(), encodings) }
    };
    let zone = document.time_zone.as_ref().map(|zone| fact("zone", code(&zone.to_string())));
    document.time.as_written.iter().map(shown).chain(zone).collect()
}

fn finished_facts(document: &Document) -> Vec<PresetFact> {
    let kept = if let Some(FinishedDoc::Kept(doc)) = &document.finished { why("run times", &doc.why) } else { None };
    [fact("run times", finished(document))].into_iter().chain(kept).collect()
}

/// Whether run times are known, and from what.
fn finished(document: &Document) -> String {
    let unknown = |why: &str| format!("not known: {why}");
    let doc = match &document.finished {
        None => return unknown("the preset does not say where the end of a run is kept"),
        Some(FinishedDoc::Untold(why)) => return unknown(why),
        Some(FinishedDoc::Kept(doc)) => doc,
    };
    let Some(started) = doc.started.as_ref().or(document.claim.claimed_at.as_ref()) else {
        return unknown("the preset does not say when a run began");
    };
    let states: Vec<String> = doc.states.iter().map(|state| state.stored.to_string()).collect();
    let which = rows_of(document, &states, &doc.filter);
    let rows = which.map_or_else(|| "finished rows".to_owned(), |which| format!("rows {which}"));
    format!("from {} to {}, of {rows}", column(document, started), column(document, &doc.at))
}

/// The preset's own words about a late worker say more than the bare fact.
fn cautions(document: &Document) -> Vec<PresetFact> {
    let (late, others): (Vec<_>, Vec<_>) = document.cautions.iter().partition(|(name, _)| name == "late");
    let late = late.first().map_or_else(|| fencing(document.fencing), |(_, text)| text.as_str());
    let others = others.into_iter().map(|(name, text)| fact(name.replace('_', " "), text.as_str()));
    [fact("a worker that comes back late", late)].into_iter().chain(others).collect()
}

fn skips(document: &Document) -> Vec<PresetFact> {
    let skip = |(name, skip): &(String, SkipDoc)| {
        let is_every = skip.actions.len() == Action::ALL.len();
        let actions = if is_every {
            "every action".to_owned()
        } else {
            skip.actions.iter().map(|action| action.name()).collect::<Vec<_>>().join(", ")
        };
        let (label, condition) = (name.replace('_', " "), code(&document.sql_text(&skip.condition.sql)));
        let reason = why(&label, &skip.why);
        [fact(label, format!("{actions}: {}; where {condition}", skip.reason))].into_iter().chain(reason)
    };
    let guard = document.claim.guard.as_ref().map(|guard| {
        let guard = code(&document.sql_text(&guard.sql));
        fact("guard", format!("every action: asked once the row is locked; the job is skipped unless {guard}"))
    });
    document.skips.iter().flat_map(skip).chain(guard).collect()
}

/// What `check` warns of.
fn check(document: &Document, name: &str, check: &CheckDoc) -> Vec<PresetFact> {
    let sql = code(&document.sql_text(&check.sql.sql));
    let text = format!("`check` warns of {}. Remedy: {}. Counted by {sql}", check.finds, check.remedy);
    let label = name.replace('_', " ");
    [fact(label.as_str(), text)].into_iter().chain(why(&label, &check.why)).collect()
}

fn wake_ups(document: &Document) -> Vec<PresetFact> {
    let sql = |fragment: &Fragment| code(&document.sql_text(&fragment.sql));
    let mut facts = Vec::new();
    for notify in &document.notify {
        let (label, text) = match &notify.wake_up {
            WakeUpDoc::Channel { channel, payload } => {
                ("notify", format!("channel {}, payload {}", sql(channel), sql(payload)))
            }
            WakeUpDoc::Sql(statement) => ("statement", sql(statement)),
        };
        facts.push(fact(label, text));
        facts.extend(why(label, &notify.why));
    }
    if facts.is_empty() && document.is_acted_on() {
        facts.push(fact("none", "workers find the job at their next poll"));
    }
    facts
}
