//! Recognises the tables of a known queue under other names, by their columns.

use super::catalog::{Catalog, Detect, Preset};
use super::document::Document;
use super::{SpecError, TableColumns};
use crate::model::Engine;
use std::collections::BTreeSet;

/// The fewest columns that tell a queue whose tables have other names: three are in many tables.
const LEAST: usize = 4;

/// One table: its schema (empty on SQLite), its name, and what the preset calls it.
type Renamed<'t> = (&'t str, &'t str, &'t str);

/// The error for a database without a known queue where tables have all columns of one, and what to do about it. Of
/// several such queues it names the one that most columns tell.
pub fn renamed(catalog: &Catalog, engine: Engine, tables: &TableColumns<'_>) -> Option<SpecError> {
    let documents = catalog.iter().filter(|preset| preset.is_detectable() && columns(preset) >= LEAST);
    let documents = documents
        .filter_map(|preset| Some((preset, preset.sketch(preset.engine_or_other(engine), &Default::default()).ok()?)));
    let documents: Vec<(&Preset, Document)> = documents.collect();
    let found =
        documents.iter().filter_map(|(preset, document)| Some((preset, document, find(preset, document, tables)?)));
    let (preset, document, found) = found.max_by_key(|(preset, ..)| columns(preset))?;
    let named: Vec<String> = found.iter().map(|table| format!("{} for {}", qualified(table), table.2)).collect();
    let message = format!(
        "the tables of {} are here under other names ({}); {}",
        preset.name,
        named.join(", "),
        what_to_do(preset, document, engine, &found)
    );
    Some(SpecError::whole("detection", message))
}

fn columns(preset: &Preset) -> usize {
    preset.detect.tables.iter().map(|wanted| wanted.columns.len()).sum()
}

/// For each table of the preset one with all its columns, in one schema; among several the one whose name ends most
/// alike.
fn find<'t>(preset: &'t Preset, document: &'t Document, tables: &TableColumns<'t>) -> Option<Vec<Renamed<'t>>> {
    let schemas: BTreeSet<&str> = tables.keys().map(|(schema, _)| *schema).collect();
    let mut found = schemas.into_iter().filter_map(|schema| {
        let like = |wanted: &'t Detect| {
            let usual = document.table_name(&wanted.table);
            let has_all = |there: &BTreeSet<&str>| {
                wanted.columns.iter().all(|either| either.iter().any(|column| there.contains(column.as_str())))
            };
            let fits = tables.iter().filter(|((of, _), there)| *of == schema && has_all(there));
            let (_, name) = fits.map(|((_, name), _)| (alike(name, usual), *name)).max()?;
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

/// How many characters at the end two names have in common.
fn alike(one: &str, other: &str) -> usize {
    one.chars().rev().zip(other.chars().rev()).take_while(|(a, b)| a == b).count()
}

fn qualified((schema, name, _): &Renamed<'_>) -> String {
    if ["", "public"].contains(schema) { (*name).to_owned() } else { format!("{schema}.{name}") }
}

fn what_to_do(preset: &Preset, document: &Document, engine: Engine, found: &[Renamed<'_>]) -> String {
    let name = &preset.name;
    match found {
        _ if !preset.engines.contains(&engine) => preset.knows_no(engine),
        [only] if document.tables.len() == 1 => format!("say so with --preset {name} --table {}", qualified(only)),
        [table, ..] => match preset.option_within(table.2, table.1) {
            Some((option, value)) => format!("say so with --preset {name} --option {option}={value}"),
            None => format!(
                "preset {name} knows their usual names, and --table renames one table only. Make a mapping from `jobdoctor presets \
                 show {name}`, with your names in its [tables]"
            ),
        },
        [] => String::new(),
    }
}

impl Preset {
    /// The option that is part of a table's usual name, and the value with which that becomes another name.
    fn option_within(&self, usual: &str, name: &str) -> Option<(String, String)> {
        let tables = self.node.get("tables")?;
        let defaults = self.options.iter().filter_map(|option| Some((option, option.default.as_ref()?.to_string())));
        let defaults: Vec<_> = defaults.collect();
        tables.texts().find_map(|(_, written)| {
            defaults.iter().find_map(|(option, default)| {
                let (before, after) = written.split_once(&format!("{{options.{}}}", option.name))?;
                let value = name.strip_prefix(before)?.strip_suffix(after)?;
                (format!("{before}{default}{after}") == usual).then(|| (option.name.clone(), value.to_owned()))
            })
        })
    }
}
