//! Which queue lives in a database, told from its tables.

use super::SpecError;
use super::live::{LiveSchema, LiveTable};
use super::preset::{Catalog, Detect, Preset};
use super::probe::Tables;
use super::resolve::{Place, physical_tables};
use std::collections::BTreeSet;

/// The presets whose tables are there, by name.
///
/// # Errors
/// When none fits or two do: which one is meant must then be said. Nothing is ever guessed or asked.
pub fn detect<'a>(catalog: &'a Catalog, live: &LiveSchema, place: &Place) -> Result<&'a Preset, SpecError> {
    let fits: Vec<&Preset> =
        catalog.iter().filter(|preset| preset.is_detectable() && fits(preset, live, place)).collect();
    match fits.as_slice() {
        [preset] => Ok(preset),
        [] => {
            if let Some(why) = missing(catalog, live, place) {
                return Err(SpecError::whole("detection", why));
            }
            let mut seen: Vec<String> =
                live.tables.iter().map(|table| format!("{}.{}", table.schema, table.name)).collect();
            seen.sort();
            let seen = if seen.is_empty() {
                "none of the tables that the known presets use is here".to_owned()
            } else {
                format!("tables of interest here: {}", seen.join(", "))
            };
            let nearly: Vec<String> = catalog.iter().filter_map(|preset| nearly(preset, live, place)).collect();
            let nearly = if nearly.is_empty() { String::new() } else { format!("; {}", nearly.join("; ")) };
            Err(SpecError::whole(
                "detection",
                format!(
                    "no known queue was recognised; {seen}{nearly}. Name a preset or a mapping with --preset (`jobdoctor \
                     presets` lists them); it then says what it misses"
                ),
            ))
        }
        several => {
            let names: Vec<&str> = several.iter().map(|preset| preset.name.as_str()).collect();
            Err(SpecError::whole(
                "detection",
                format!("more than one queue lives here: {}. Say which one with --preset", names.join(", ")),
            ))
        }
    }
}

/// What the operator named and the database does not have, or has in another place.
fn missing(catalog: &Catalog, live: &LiveSchema, place: &Place) -> Option<String> {
    let schemas: BTreeSet<&str> = live.tables.iter().map(|table| table.schema.as_str()).collect();
    let known = || schemas.iter().copied().collect::<Vec<_>>().join(", ");
    // Tables of a known name are anybody's; --schema helps only where all of a queue's are.
    let has_queue = |schema: &&str| {
        let there = Place { schema: Some((*schema).to_owned()), ..place.clone() };
        catalog.iter().any(|preset| preset.is_detectable() && fits(preset, live, &there))
    };
    let queues = || schemas.iter().copied().filter(has_queue).collect::<Vec<_>>();
    match (&place.table, &place.schema) {
        (Some(table), _) if live.schemas_of(table).is_empty() => Some(format!("there is no table `{table}`")),
        (_, Some(schema)) if !schemas.contains(schema.as_str()) && !schemas.is_empty() => {
            Some(format!("there is no queue that is known in schema `{schema}`; tables of interest are in {}", known()))
        }
        (_, None) => match queues() {
            queues if queues.is_empty() => None,
            queues => Some(format!(
                "no queue is on the search path; there is one in {}: say which with --schema",
                queues.join(", ")
            )),
        },
        _ => None,
    }
}

fn fits(preset: &Preset, live: &LiveSchema, place: &Place) -> bool {
    found(preset, live, place).is_some_and(|tables| {
        preset.detect.tables.iter().all(|wanted| {
            let table = tables.get(&wanted.table).copied().flatten();
            table.is_some_and(|table| lacking(wanted, table).is_empty())
        })
    })
}

fn found<'a>(preset: &Preset, live: &'a LiveSchema, place: &Place) -> Option<Tables<'a>> {
    let (_, document) = preset.sketch(live.engine, &place.options).ok()?;
    physical_tables(&document, live, place).map(|(_, tables)| tables).ok()
}

/// The columns that a table would have if it were the preset's.
fn lacking(wanted: &Detect, table: &LiveTable) -> Vec<String> {
    let is_there = |either: &&Vec<String>| !either.iter().any(|name| table.column(name).is_some());
    wanted.columns.iter().filter(is_there).map(|either| either.join(" or ")).collect()
}

/// What keeps tables that have a preset's names from being its: another version, most likely.
fn nearly(preset: &Preset, live: &LiveSchema, place: &Place) -> Option<String> {
    let tables = found(preset, live, place)?;
    let here = |wanted: &&Detect| tables.get(&wanted.table).copied().flatten().is_some();
    preset.detect.tables.iter().find(here)?;
    let misses: Vec<String> = (preset.detect.tables.iter())
        .filter_map(|wanted| match tables.get(&wanted.table).copied().flatten() {
            None => Some(format!("there is no table for its `{}`", wanted.table)),
            Some(table) => match lacking(wanted, table) {
                lacking if lacking.is_empty() => None,
                lacking => Some(format!("table {} has no column {}", table.name, lacking.join(", "))),
            },
        })
        .collect();
    let checked = match preset.checked.as_slice() {
        [] => String::new(),
        versions => format!(" (checked against {})", versions.join(", ")),
    };
    Some(format!("it is not {}{checked}: {}", preset.name, misses.join(", ")))
}
