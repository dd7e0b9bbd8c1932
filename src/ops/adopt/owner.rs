//! Who holds a job, and where its heartbeat may be that is not on the job's own row.

use super::draft::{Answers, bare, of_job};
use super::facts::{Facts, OwnersTable, Support};
use super::keys::Finding;
use super::liveness::set_by_claims;
use super::roles::{Class, Role};
use super::rows::Rows;
use super::table::{Sampler, Subject, SubjectColumn, written};
use crate::model::{Cell, Engine};
use crate::ops::OpsError;
use crate::preset::ident::{literal, qualified, quoted};
use crate::preset::{LiveColumn, LiveTable, words};
use crate::store::{catalog, parts};
use toml_edit::InlineTable;

/// How the owner is found.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum OwnerId {
    Column(String),
    /// Keys of the JSON in a column.
    Json(String, Vec<String>),
}

impl OwnerId {
    /// The column of the jobs' table.
    pub(super) fn column(&self) -> &str {
        match self {
            OwnerId::Column(column) | OwnerId::Json(column, _) => column,
        }
    }
}

/// Words in the names of tables that list workers.
const OF_OWNERS: [&str; 8] = ["worker", "runner", "heartbeat", "beat", "node", "process", "instance", "agent"];
/// Keys of a JSON object that name its owner, the best first.
const JSON_KEYS: [&str; 5] = ["worker", "owner", "worker_id", "id", "host"];

/// The column or the keys that tell the owner: as answered, by name, or by what the rows in flight hold. What every job
/// has that waits is no owner of a claim.
pub(super) fn owner_id(
    subject: &Subject,
    answers: &Answers,
    state: Option<&str>,
    waiting: &Rows,
    in_flight: &Rows,
) -> Option<OwnerId> {
    let plain = |column: &SubjectColumn| OwnerId::Column(column.name.clone());
    let keys = |column: &SubjectColumn| {
        json_keys(in_flight, &column.name).map(|keys| OwnerId::Json(column.name.clone(), keys))
    };
    if let Some(answer) = answers.get("owner.id") {
        return (answer != "none").then(|| OwnerId::Column(answer.to_owned()));
    }
    let is_set = |column: &&SubjectColumn| waiting.is_free(&column.name) && in_flight.is_held(&column.name);
    // What refers to a job that waits is no lock.
    let may_be = |column: &&SubjectColumn| match subject.live.column(&column.name) {
        Some(_) => !waiting.is_held(&column.name),
        None => waiting.is_free(&column.name),
    };
    let mut named: Vec<&SubjectColumn> = subject.of_role(Role::Owner).filter(may_be).collect();
    named.sort_by_key(|column| !is_set(column));
    let named = named.into_iter().find_map(|column| match keys(column) {
        None if column.class != Class::Json => Some(plain(column)),
        keys => keys,
    });
    let key = subject.key().unwrap_or_default();
    let is_free = |column: &&SubjectColumn| !key.contains(&column.name) && state != Some(column.name.as_str());
    let of_claims = || subject.columns.iter().filter(is_set).filter(is_free);
    let is_name = |column: &&SubjectColumn| {
        let is_foreign = subject.foreign.iter().any(|foreign| foreign.column == column.name);
        // Of an owner that holds two jobs the value comes twice; a note of its own for each job is no owner.
        let values: Vec<&Cell> = in_flight.set(&column.name).collect();
        let comes_twice = values.iter().enumerate().any(|(n, value)| values[..n].contains(value));
        let is_unknown = column.role.is_none() && column.labels.is_none();
        is_unknown && comes_twice && (is_foreign || matches!(column.class, Class::Text | Class::Other))
    };
    let host = || subject.of_role(Role::Host).next();
    named.or_else(|| of_claims().find_map(keys)).or_else(|| of_claims().find(is_name).or_else(host).map(plain))
}

/// The keys that name an owner, if the values are JSON objects that have some.
fn json_keys(rows: &Rows, column: &str) -> Option<Vec<String>> {
    let text = rows.values(column).find_map(|cell| cell.to_text().filter(|text| text.starts_with('{')))?;
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).ok()?;
    let found = JSON_KEYS.iter().find(|key| object.contains_key(**key))?;
    let process = (*found == "host" && object.contains_key("pid")).then_some("pid");
    Some([Some(*found), process].into_iter().flatten().map(str::to_owned).collect())
}

/// Looks for a table with the heartbeats of these owners: the one that a foreign key leads to, or one that has their
/// names.
pub(super) fn find_table(
    sampler: &mut Sampler<'_>,
    answers: &Answers,
    id: Option<&OwnerId>,
    in_flight: &Rows,
) -> Result<Option<OwnersTable>, OpsError> {
    let Some(OwnerId::Column(id)) = id else { return Ok(None) };
    let subject = sampler.subject;
    let lock = subject.lock.as_ref().filter(|_| subject.live.column(id).is_none());
    if let Some(foreign) = lock.or(subject.foreign.iter().find(|foreign| foreign.column == *id)) {
        let live = sampler.reader.live_schema(std::slice::from_ref(&foreign.table))?;
        let table = live.table(Some(&foreign.schema), &foreign.table);
        let matched = if lock.is_some() { &foreign.column } else { &foreign.to };
        return table.map_or(Ok(None), |table| owners_table(sampler, answers, table, matched, true));
    }
    let held: Vec<String> = in_flight.set(id).take(20).map(|cell| literal(&cell.to_string())).collect();
    if held.is_empty() {
        return Ok(None);
    }
    let found = sampler.reader.texts(&catalog::tables_like(sampler.engine, id, &OF_OWNERS))?;
    let names: Vec<String> = found.iter().filter_map(|row| row.get(1).cloned()).collect();
    let live = sampler.reader.live_schema(&names)?;
    for table in found.iter().filter_map(|row| live.table(row.first().map(String::as_str), row.get(1)?)) {
        let sql = qualified(&table.schema, &table.name);
        let is_name = |column: &&LiveColumn| column.readable && (column.name == *id || is_name_of_owner(&column.name));
        for column in table.columns.iter().filter(is_name).filter(|_| sql != subject.sql) {
            let ask = format!("SELECT 1 FROM {sql} WHERE {} IN ({}) LIMIT 1", quoted(&column.name), held.join(", "));
            // Types that cannot be compared are no match.
            let is_match = sampler.query(&ask).is_ok_and(|rows| !rows.is_empty());
            if let (true, Some(found)) = (is_match, owners_table(sampler, answers, table, &column.name, false)?) {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

fn is_name_of_owner(name: &str) -> bool {
    let words = words(name);
    words.iter().any(|word| ["id", "name", "worker", "runner", "owner", "host", "hostname"].contains(&word.as_str()))
}

fn owners_table(
    sampler: &mut Sampler<'_>,
    answers: &Answers,
    table: &LiveTable,
    matched: &str,
    is_foreign: bool,
) -> Result<Option<OwnersTable>, OpsError> {
    let columns = SubjectColumn::all_of(table);
    let of = |role: Role| columns.iter().find(|column| column.role == Some(role));
    let claimed = || of(Role::Claimed).filter(|_| sampler.subject.lock.is_some());
    // Of owners to which a key leads, any time that no name says to be another.
    let any = || columns.iter().find(|column| is_foreign && column.role.is_none() && column.class == Class::Time);
    let said = columns.iter().find(|column| answers.get("owner.heartbeat") == Some(&column.name));
    let heartbeat = said.or_else(|| of(Role::Heartbeat)).or_else(|| of(Role::Updated)).or_else(claimed).or_else(any);
    let Some(heartbeat) = heartbeat.cloned() else { return Ok(None) };
    let is_time = |column: &&SubjectColumn| column.class == Class::Time && column.name != heartbeat.name;
    let others = columns.iter().filter(is_time).map(|column| column.name.clone()).collect();
    let sql = qualified(&table.schema, &table.name);
    let read = format!(
        "SELECT b FROM (SELECT {0} AS b FROM {sql} LIMIT 100000) AS sampled WHERE b IS NOT NULL ORDER BY b DESC LIMIT 50",
        quoted(&heartbeat.name)
    );
    let values = sampler.query(&read)?.into_iter().flatten().collect();
    let is_beside = table.schema == sampler.subject.live.schema;
    Ok(Some(OwnersTable {
        written: if is_beside { table.name.clone() } else { written(table) },
        matched: matched.to_owned(),
        is_unique: table.is_unique(&[matched]),
        host: of(Role::Host).map(|column| column.name.clone()),
        heartbeat,
        others,
        values,
        is_foreign,
    }))
}

/// The owner, and the table with the owners' heartbeats. That an owner started after a claim is never drafted: a worker
/// that registers again keeps its jobs.
pub(super) fn keys(facts: &Facts<'_>) -> Vec<Finding> {
    let Some(id) = &facts.owner else { return Vec::new() };
    let column = id.column();
    let is_json = facts.subject.column(column).is_some_and(|column| column.class == Class::Json);
    let json = |keys: &[String]| parts::json_keys(facts.engine, &of_job(column), is_json, keys);
    let value = match id {
        OwnerId::Json(_, keys) => json(keys),
        OwnerId::Column(_) => column.to_owned(),
    };
    let why = set_by_claims(facts, column);
    let mut findings = vec![Finding::new(value, facts.set_by_claims(column), why).of("owner.id")];
    let owners = by_table(facts);
    let host = match (id, owners.and_then(|owners| owners.host.as_ref())) {
        (OwnerId::Json(_, keys), _) if keys.first().is_some_and(|key| key == "host") => {
            Some((json(&keys[..1]), "by the key's name"))
        }
        (OwnerId::Json(..), _) => None,
        (_, Some(host)) => Some((format!("o.{}", bare(host)), "by its name in the owners' table")),
        (_, None) if facts.lock().is_some() => None,
        (_, None) => host_in(facts.engine, column, &facts.in_flight)
            .map(|host| (host, "owners begin with the name of their host")),
    };
    findings.extend(host.map(|(host, why)| Finding::new(host, Support::Name, why).of("owner.host")));
    let Some(owners) = owners else { return findings };
    let (how, support) = match owners.is_foreign {
        true => ("a foreign key leads there", Support::Shown),
        false => ("it has the owners' names", Support::Rows),
    };
    let ours = facts.lock().map_or(column, |lock| &lock.to);
    let pairs: InlineTable = [(owners.matched.as_str(), ours)].into_iter().collect();
    findings.push(Finding::new(&owners.written, support, how).of("owner.table"));
    findings.push(Finding::new(pairs, support, how).of("owner.match"));
    findings.push(Finding::new(&owners.heartbeat.name, Support::Name, "by name and type").of("owner.heartbeat"));
    if !owners.is_unique {
        let why = "no unique index: an owner may have many rows";
        findings.push(Finding::new("newest", Support::Name, why).of("owner.rows"));
    }
    findings
}

/// The owners' table, unless the operator judges by something else.
pub(super) fn by_table<'f>(facts: &'f Facts<'_>) -> Option<&'f OwnersTable> {
    let is_by_owner = facts.source.as_ref().is_some_and(|source| source.is_owner());
    facts
        .owners
        .as_ref()
        .filter(|_| is_by_owner || facts.lock().is_some() || facts.answers.get("claim.liveness").is_none())
}

/// What a missing row means. A foreign key says that none is; where it is not kept, such a claim is unknown.
pub(super) fn missing(facts: &Facts<'_>) -> Vec<Finding> {
    let is_source = facts.source.as_ref().is_some_and(|source| source.is_owner());
    let Some(owners) = by_table(facts).filter(|owners| is_source && !owners.is_foreign) else { return Vec::new() };
    vec![Finding::open(&owners.written, "MEANING", Vec::new())]
}

/// The host in owners such as `web1:4211`, if all have one of these separators.
fn host_in(engine: Engine, column: &str, rows: &Rows) -> Option<String> {
    let texts: Vec<String> = rows.set(column).filter_map(Cell::to_text).collect();
    let is_host =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '.');
    let by = [":", "#", "@", "/"].into_iter().find(|by| {
        !texts.is_empty()
            && texts.iter().all(|text| {
                text.split_once(by).is_some_and(|(host, rest)| {
                    is_host(host) && !rest.is_empty() && !rest.contains(char::is_whitespace)
                })
            })
    })?;
    Some(parts::before(engine, &of_job(column), by))
}
