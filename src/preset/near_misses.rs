//! What a database resembles in which no queue was recognised: tables of a known queue under other names, products that
//! jobdoctor can do nothing for, tables whose columns are called like those of a queue.

use super::catalog::{Catalog, Detect, Preset};
use super::document::Document;
use super::field::Field;
use super::node::Node;
use super::queue::LEDGER;
use super::{SpecError, TableInError};
use crate::model::{Engine, Remedy};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Queues and products that are known by their tables and have no preset, because writing to them from outside helps
/// nothing or breaks something: each with its own remedy.
const PRODUCTS: &str = include_str!("known.toml");

/// The fewest columns that tell a queue whose tables have other names: three are in many tables.
const LEAST: usize = 4;

const SHOWN: usize = 5;

/// Words in the names of a queue's columns, by what such a column keeps. A table needs a column of the second or the
/// third kind: a status and an owner are in many.
pub const QUEUE_WORDS: [&[&str]; 4] = [
    &["state", "status"],
    &["locked", "started", "heartbeat", "claimed", "leased", "lease", "pinged", "reserved", "picked", "taken", "begun"],
    &["attempts", "attempt", "retries", "retry", "tries"],
    &["owner", "worker", "runner", "taker"],
];

/// Tables by schema (empty on SQLite) and name, with the names of their columns in the catalog's order.
type Tables<'c> = BTreeMap<(&'c str, &'c str), Vec<&'c str>>;

struct NearMiss {
    score: usize,
    says: String,
    remedy: Option<Remedy>,
}

/// Says more in the error that no queue was recognised: the queue or product that most columns tell; else, where no
/// preset comes near, the tables that look like a queue. `columns` are rows of schema, table and column.
pub fn near_miss(mut error: SpecError, catalog: &Catalog, engine: Engine, columns: &[Vec<String>]) -> SpecError {
    let tables = by_table(columns);
    let products = products().unwrap_or_default();
    let products = products.iter().filter_map(|product| product.near_miss(&tables, error.remedy));
    let presets = catalog.iter().filter_map(|preset| renamed(preset, engine, &tables));
    if let Some(nearest) = products.chain(presets).max_by_key(|near_miss| near_miss.score) {
        error.message = format!("no known queue was recognised; {}", nearest.says);
        error.remedy = nearest.remedy;
    } else if let Some(Remedy::NameOrMap { has_nearest: false }) = error.remedy {
        let described = |(table, columns): (String, Vec<String>)| format!("{table} ({})", columns.join(", "));
        let alike = alike(&tables);
        let likeliest = alike.first().map(|(table, _)| table.clone());
        let alike: Vec<String> = alike.into_iter().take(SHOWN).map(described).collect();
        let mappings: Vec<&str> =
            catalog.iter().filter(|preset| is_of(preset, engine, &tables)).map(|preset| preset.name.as_str()).collect();
        if !mappings.is_empty() {
            let several = if mappings.len() > 1 { "mappings of these tables" } else { "a mapping of this table" };
            let names = mappings.join(" or ");
            error.message.push_str(&format!(". The config file has {several}: name it with --preset {names}"));
            error.remedy = None;
        } else if !alike.is_empty() {
            error.message.push_str(&format!(". Tables that look like a queue: {}", alike.join(", ")));
            error.table = likeliest.map(|table| Box::new(TableInError::Lookalike(table)));
        }
    }
    error
}

/// The tables that look like a queue, the likeliest first, each as it is named and with the columns that say so; where
/// none does, all tables with all their columns, and `false`. `columns` are rows of schema, table and column.
pub fn lookalikes(columns: &[Vec<String>]) -> (bool, Vec<(String, Vec<String>)>) {
    let tables = by_table(columns);
    let alike = alike(&tables);
    if !alike.is_empty() {
        return (true, alike);
    }
    let all = tables.into_iter().filter(|((_, table), _)| *table != LEDGER);
    let words = |columns: Vec<&str>| columns.into_iter().map(str::to_owned).collect();
    (false, all.map(|((schema, table), columns)| (named(schema, table), words(columns))).collect())
}

/// A table's name with its schema, if it has one.
fn named(schema: &str, table: &str) -> String {
    if schema.is_empty() { table.to_owned() } else { format!("{schema}.{table}") }
}

fn by_table(columns: &[Vec<String>]) -> Tables<'_> {
    let mut tables = Tables::new();
    for row in columns {
        if let [schema, table, column] = row.as_slice() {
            tables.entry((schema, table)).or_default().push(column);
        }
    }
    tables
}

/// Whether this is a mapping of one of the tables.
fn is_of(preset: &Preset, engine: Engine, tables: &Tables<'_>) -> bool {
    let document = (!preset.built_in).then(|| preset.sketch(engine, &BTreeMap::new()).ok()).flatten();
    let named = document.iter().flat_map(|document| document.tables.iter().map(|(_, name)| name));
    named
        .into_iter()
        .any(|name| tables.keys().any(|(schema, table)| name == table || *name == qualified(schema, table)))
}

/// The names of the columns that tell products and the queues of the presets.
pub fn telling_columns(catalog: &Catalog) -> Vec<String> {
    let of_presets =
        catalog.iter().flat_map(|preset| &preset.detect.tables).flat_map(|wanted| &wanted.columns).flatten();
    let of_products = products().unwrap_or_default().into_iter().flat_map(|product| product.columns);
    of_presets.cloned().chain(of_products).collect()
}

#[derive(serde::Deserialize)]
struct Product {
    name: String,
    /// The name of one of its tables, in lower case; a `*` at one end stands for a prefix or a suffix of the
    /// operator's.
    table: String,
    /// Columns that this table has, in lower case.
    columns: Vec<String>,
    remedy: String,
}

/// A test reads them too: in a release there is no error.
fn products() -> Result<Vec<Product>, SpecError> {
    let node = Node::parse("known.toml", PRODUCTS)?;
    Field::of("known.toml", "", &node).need("queue")?.read()
}

impl Product {
    fn near_miss(&self, tables: &Tables<'_>, remedy: Option<Remedy>) -> Option<NearMiss> {
        let mut its = tables.iter().filter(|((_, name), columns)| {
            let has = |column: &String| columns.iter().any(|there| there.to_lowercase() == *column);
            self.is_called(&name.to_lowercase()) && self.columns.iter().all(has)
        });
        let ((_, table), _) = its.next()?;
        let (name, cure) = (&self.name, &self.remedy);
        let says = format!("found the tables of {name} ({table}); jobdoctor does not support it: {cure}");
        Some(NearMiss { score: self.columns.len(), says, remedy })
    }

    fn is_called(&self, name: &str) -> bool {
        match (self.table.strip_prefix('*'), self.table.strip_suffix('*')) {
            (Some(end), _) => name.ends_with(end),
            (_, Some(beginning)) => name.starts_with(beginning),
            _ => name == self.table,
        }
    }
}

/// One table: its schema (empty on SQLite), its name, and what the preset calls it.
type Renamed<'t> = (&'t str, &'t str, &'t str);

/// The preset all of whose columns are there, in tables of other names.
fn renamed(preset: &Preset, engine: Engine, tables: &Tables<'_>) -> Option<NearMiss> {
    let score = preset.detect.tables.iter().map(|wanted| wanted.columns.len()).sum();
    if score < LEAST {
        return None;
    }
    let document = preset.sketch(preset.engine_or_other(engine), &BTreeMap::new()).ok()?;
    let found = find(preset, &document, tables)?;
    let named: Vec<String> =
        found.iter().map(|(schema, name, usual)| format!("{} for {usual}", qualified(schema, name))).collect();
    let (name, named) = (&preset.name, named.join(", "));
    let cure = what_to_do(preset, &document, engine, &found);
    let says = format!("the tables of {name} are here under other names ({named}); {cure}");
    Some(NearMiss { score, says, remedy: None })
}

/// For each table of the preset one with all its columns, in one schema; among several the one whose name ends most
/// alike.
fn find<'t>(preset: &'t Preset, document: &'t Document, tables: &Tables<'t>) -> Option<Vec<Renamed<'t>>> {
    let schemas: BTreeSet<&str> = tables.keys().map(|(schema, _)| *schema).collect();
    let mut found = schemas.into_iter().filter_map(|schema| {
        let like = |wanted: &'t Detect| {
            let usual = document.table_name(&wanted.table);
            let has_all = |there: &Vec<&str>| {
                wanted.columns.iter().all(|either| either.iter().any(|column| there.contains(&column.as_str())))
            };
            let fits = tables.iter().filter(|((of, _), there)| *of == schema && has_all(there));
            let in_common =
                |name: &str| name.chars().rev().zip(usual.chars().rev()).take_while(|(a, b)| a == b).count();
            let (_, name) = fits.map(|((_, name), _)| (in_common(name), *name)).max()?;
            Some((schema, name, usual))
        };
        preset.detect.tables.iter().map(like).collect::<Option<Vec<Renamed<'t>>>>()
    });
    found.find(|tables| {
        let names: BTreeSet<&str> = tables.iter().map(|(_, name, _)| *name).collect();
        // Under their usual names something else is wrong with them.
        names.len() == tables.len() && tables.iter().any(|(_, name, usual)| name != usual)
    })
}

fn qualified(schema: &str, name: &str) -> String {
    if ["", "public"].contains(&schema) { name.to_owned() } else { format!("{schema}.{name}") }
}

fn what_to_do(preset: &Preset, document: &Document, engine: Engine, found: &[Renamed<'_>]) -> String {
    let name = &preset.name;
    match found {
        _ if !preset.engines.contains(&engine) => preset.knows_no(engine),
        [(schema, table, _)] if document.tables.len() == 1 => {
            format!("name it with --preset {name} --table {}", qualified(schema, table))
        }
        [(_, table, usual), ..] => match option_within(preset, usual, table) {
            Some((option, value)) => format!("name it with --preset {name} --option {option}={value}"),
            None => format!(
                "preset {name} knows their usual names, and --table renames one table only. Make a mapping from `jobdoctor presets \
                 show {name}`, with your names in its [tables]"
            ),
        },
        [] => String::new(),
    }
}

/// The option that is part of a table's usual name, and the value with which that becomes another name.
fn option_within(preset: &Preset, usual: &str, name: &str) -> Option<(String, String)> {
    let tables = preset.node.get("tables")?;
    tables.texts().find_map(|(_, written)| {
        preset.options.iter().find_map(|option| {
            let (before, after) = written.split_once(&format!("{{options.{}}}", option.name))?;
            let value = name.strip_prefix(before)?.strip_suffix(after)?;
            let is_usual = format!("{before}{}{after}", option.default.as_ref()?) == usual;
            is_usual.then(|| (option.name.clone(), value.to_owned()))
        })
    })
}

/// The tables that look most like a queue by the words in the names of their columns, each with these columns.
fn alike(tables: &Tables<'_>) -> Vec<(String, Vec<String>)> {
    let mut alike = Vec::new();
    for ((schema, table), columns) in tables.iter().filter(|((_, table), _)| *table != LEDGER) {
        let first = |known: &&[&str]| {
            columns.iter().find(|column| words(column).iter().any(|word| known.contains(&word.as_str()))).copied()
        };
        let seen = QUEUE_WORDS.each_ref().map(first);
        let name = named(schema, table);
        if let [_, Some(_), ..] | [_, _, Some(_), _] = seen {
            alike.push((name, seen.into_iter().flatten().map(str::to_owned).collect::<Vec<_>>()));
        }
    }
    // Where one has three of the four, two are no resemblance.
    let least = alike.iter().map(|(_, seen)| seen.len()).max().unwrap_or_default().clamp(2, 3);
    alike.retain(|(_, seen)| seen.len() >= least);
    alike.sort_by_key(|(_, seen)| Reverse(seen.len()));
    alike
}

/// The words of a name, in lower case: `lockedAt` and `locked_at` have two.
pub fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (was_lower && c.is_uppercase()) {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_product_is_told_by_columns_in_lower_case() {
        for product in products().unwrap() {
            let texts = product.columns.iter().chain([&product.table]);
            assert!(texts.into_iter().all(|text| *text == text.to_lowercase()), "{}", product.name);
            assert!(product.columns.len() >= 3, "{}", product.name);
        }
    }
}
