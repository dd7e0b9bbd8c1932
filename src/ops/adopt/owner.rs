//! Who holds a job, and where its heartbeat may be that is not on the job's own row.

use super::condition::named_in;
use super::draft::{Answers, bare, of_job};
use super::facts::{Facts, OwnersTable, Support};
use super::keys::Finding;
use super::liveness::set_by_claims;
use super::roles::{Class, Role};
use super::rows::Rows;
use super::table::{Foreign, Sampler, Subject, SubjectColumn, written};
use crate::model::{Cell, Engine};
use crate::ops::OpsError;
use crate::preset::ident::{literal, qualified, quoted};
use crate::preset::{LiveTable, words};
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
pub(super) fn owner_id(subject: &Subject, answers: &Answers, waiting: &Rows, in_flight: &Rows) -> Option<OwnerId> {
    if let Some(answer) = answers.get("owner.id") {
        return (answer != "none").then(|| OwnerId::Column(answer.to_owned()));
    }
    let keys = |column: &SubjectColumn| {
        json_keys(in_flight, &column.name).map(|keys| OwnerId::Json(column.name.clone(), keys))
    };
    let mut named: Vec<&SubjectColumn> =
        subject.of_role(Role::Owner).filter(|column| !waiting.is_held(&column.name)).collect();
    let condition = answers.get("claim.where").unwrap_or_default();
    let is_told = |column: &SubjectColumn| named_in(subject, condition).any(|named| named.name == column.name);
    named.sort_by_key(|column| {
        let is_set_by_claims = waiting.is_free(&column.name) && in_flight.is_held(&column.name);
        (!is_told(column), !is_set_by_claims)
    });
    for column in named {
        let is_json = column.class == Class::Json;
        match keys(column) {
            Some(json) => return Some(json),
            None if !is_json => return Some(OwnerId::Column(column.name.clone())),
            None => {}
        }
    }
    let key = subject.key().unwrap_or_default();
    let follows_claims = |column: &&SubjectColumn| {
        !key.contains(&column.name) && waiting.is_free(&column.name) && in_flight.is_held(&column.name)
    };
    let json = subject.columns.iter().filter(follows_claims).find_map(keys);
    let by_rows = || {
        let plain = subject.columns.iter().filter(|column| {
            let is_foreign = subject.foreign.iter().any(|foreign| foreign.column == column.name);
            let is_name = is_foreign || matches!(column.class, Class::Text | Class::Other);
            column.role.is_none() && column.labels.is_none() && is_name
        });
        // Of an owner that holds two jobs the value comes twice; a note of its own for each job is no owner.
        let mut plain = plain.filter(follows_claims).filter(|column| {
            let values: Vec<&Cell> = in_flight.set(&column.name).collect();
            values.iter().enumerate().any(|(n, value)| values[..n].contains(value))
        });
        plain.next().map(|column| OwnerId::Column(column.name.clone()))
    };
    let host = || subject.of_role(Role::Host).next().map(|column| OwnerId::Column(column.name.clone()));
    json.or_else(by_rows).or_else(host)
}

/// The keys that name an owner, if the values are JSON objects that have some.
fn json_keys(rows: &Rows, column: &str) -> Option<Vec<String>> {
    let text = rows.values(column).find_map(|cell| cell.to_text().filter(|text| text.starts_with('{')))?;
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).ok()?;
    let found = JSON_KEYS.iter().find(|key| object.contains_key(**key))?;
    let process = (*found == "host" && object.contains_key("pid")).then_some("pid");
    Some([Some(*found), process].into_iter().flatten().map(str::to_owned).collect())
}

fn json_sql(engine: Engine, column: &SubjectColumn, keys: &[String]) -> String {
    parts::json_keys(engine, &of_job(&column.name), column.class == Class::Json, keys)
}

/// Looks for a table with the heartbeats of these owners: the one that a foreign key leads to, or one that has their
/// names.
pub(super) fn find_table(
    sampler: &mut Sampler<'_>,
    id: Option<&OwnerId>,
    in_flight: &Rows,
) -> Result<Option<OwnersTable>, OpsError> {
    let Some(OwnerId::Column(id)) = id else { return Ok(None) };
    let (engine, subject) = (sampler.engine, sampler.subject);
    if let Some(foreign) = subject.foreign.iter().find(|foreign| foreign.column == *id) {
        let live = sampler.reader.live_schema(std::slice::from_ref(&foreign.table))?;
        let Some(table) = live.table(Some(&foreign.schema), &foreign.table).cloned() else { return Ok(None) };
        return owners_table(sampler, &table, &foreign.to, Some(foreign));
    }
    let names: Vec<(String, String)> = sampler
        .reader
        .texts(&catalog::tables_like(engine, id, &OF_OWNERS))?
        .into_iter()
        .filter_map(|row| Some((row.first()?.clone(), row.get(1)?.clone())))
        .filter(|(schema, name)| *name != subject.live.name || *schema != subject.live.schema)
        .collect();
    let tables: Vec<String> = names.iter().map(|(_, name)| name.clone()).collect();
    let live = sampler.reader.live_schema(&tables)?;
    let held: Vec<String> = in_flight.set(id).take(20).map(|cell| literal(&cell.to_string())).collect();
    if held.is_empty() {
        return Ok(None);
    }
    for (schema, name) in &names {
        let Some(table) = live.table(Some(schema), name).cloned() else { continue };
        let sql = qualified(&table.schema, &table.name);
        for column in table
            .columns
            .iter()
            .filter(|column| column.readable && (column.name == *id || is_name_of_owner(&column.name)))
        {
            let ask = format!("SELECT 1 FROM {sql} WHERE {} IN ({}) LIMIT 1", quoted(&column.name), held.join(", "));
            // Types that cannot be compared are no match.
            let is_match = sampler.query(&ask).is_ok_and(|rows| !rows.is_empty());
            if let (true, Some(found)) = (is_match, owners_table(sampler, &table, &column.name, None)?) {
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
    table: &LiveTable,
    matched: &str,
    foreign: Option<&Foreign>,
) -> Result<Option<OwnersTable>, OpsError> {
    let readable = table.columns.iter().filter(|column| column.readable);
    let columns: Vec<SubjectColumn> = readable.map(|column| SubjectColumn::of(column, None)).collect();
    let of = |role: Role| columns.iter().find(|column| column.role == Some(role));
    let Some(heartbeat) = of(Role::Heartbeat).or_else(|| of(Role::Updated)).cloned() else { return Ok(None) };
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
        values,
        is_foreign: foreign.is_some(),
    }))
}

/// The owner, and the table with the owners' heartbeats. That an owner started after a claim is never drafted: a worker
/// that registers again keeps its jobs.
pub(super) fn keys(facts: &Facts<'_>) -> Vec<Finding> {
    let Some(id) = &facts.owner else { return Vec::new() };
    let column = id.column();
    let json = |keys: &[String]| facts.subject.column(column).map(|live| json_sql(facts.engine, live, keys));
    let value = match id {
        OwnerId::Json(_, keys) => json(keys),
        OwnerId::Column(_) => Some(column.to_owned()),
    };
    let support = facts.set_by_claims(column);
    let mut findings: Vec<Finding> = value
        .map(|value| Finding::new(value, support, set_by_claims(facts, column)).of("owner.id"))
        .into_iter()
        .collect();
    let owners = by_table(facts);
    let host = match (id, owners.and_then(|owners| owners.host.as_ref())) {
        (OwnerId::Json(_, keys), _) if keys.first().is_some_and(|key| key == "host") => {
            json(&keys[..1]).map(|host| (host, "by the key's name"))
        }
        (OwnerId::Json(..), _) => None,
        (_, Some(host)) => Some((format!("o.{}", bare(host)), "by its name in the owners' table")),
        (_, None) => host_in(facts.engine, column, &facts.in_flight)
            .map(|host| (host, "owners begin with the name of their host")),
    };
    findings.extend(host.map(|(host, why)| Finding::new(host, Support::Name, why).of("owner.host")));
    let Some(owners) = owners else { return findings };
    let (how, support) = match owners.is_foreign {
        true => ("a foreign key leads there", Support::Shown),
        false => ("it has the owners' names", Support::Rows),
    };
    let pairs: InlineTable = [(owners.matched.as_str(), column)].into_iter().collect();
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
fn by_table<'f>(facts: &'f Facts<'_>) -> Option<&'f OwnersTable> {
    let is_by_owner = facts.source.as_ref().is_some_and(|source| source.is_owner());
    facts.owners.as_ref().filter(|_| is_by_owner || facts.answers.get("claim.liveness").is_none())
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
