//! Which queue lives in a database, told from its tables.

use super::SpecError;
use super::document::Document;
use super::live::LiveSchema;
use super::preset::{Catalog, Preset};
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
            if let Some(why) = missing(live, place) {
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
            Err(SpecError::whole(
                "detection",
                format!(
                    "no known queue was recognised; {seen}. Name a preset or a mapping with --preset (`jobdoctor presets` \
                     lists them); it then says what it misses"
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
fn missing(live: &LiveSchema, place: &Place) -> Option<String> {
    let schemas: BTreeSet<&str> = live.tables.iter().map(|table| table.schema.as_str()).collect();
    let known = || schemas.iter().copied().collect::<Vec<_>>().join(", ");
    match (&place.table, &place.schema) {
        (Some(table), _) if live.schemas_of(table).is_empty() => Some(format!("there is no table `{table}`")),
        (_, Some(schema)) if !schemas.contains(schema.as_str()) && !schemas.is_empty() => {
            Some(format!("there is no queue that is known in schema `{schema}`; tables of interest are in {}", known()))
        }
        (_, None) if !schemas.is_empty() && live.tables.iter().all(|table| !table.visible) => Some(format!(
            "no queue is on the search path; tables of interest are in {}: say which with --schema",
            known()
        )),
        _ => None,
    }
}

fn fits(preset: &Preset, live: &LiveSchema, place: &Place) -> bool {
    let Ok(node) = preset.for_engine(live.engine) else { return false };
    let Ok(document) = Document::of(&preset.document, &preset.name, node) else { return false };
    let Ok((_, tables)) = physical_tables(&document, live, place) else { return false };
    preset.detect.iter().all(|wanted| {
        let table = tables.get(&wanted.table).copied().flatten();
        table.is_some_and(|table| {
            wanted.columns.iter().all(|either| either.iter().any(|name| table.column(name).is_some()))
        })
    })
}
