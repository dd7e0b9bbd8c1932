//! Recognises the queue in a database by its tables.

use super::SpecError;
use super::catalog::{Catalog, Detect, Preset};
use super::document::Document;
use super::live::{LiveSchema, LiveTable};
use super::resolve::{Place, Tables, physical_tables};
use crate::model::{Engine, Remedy};
use std::collections::BTreeSet;

/// The presets whose tables are there, by name.
///
/// # Errors
/// When none fits or several do: the operator must then name one. Nothing is ever guessed.
pub fn detect<'a>(catalog: &'a Catalog, live: &LiveSchema, place: &Place) -> Result<&'a Preset, SpecError> {
    let candidates = catalog.candidates(live, place);
    let fits: Vec<&Preset> =
        candidates.filter(|preset| preset.knows(live.engine) && fits(preset, live, place)).collect();
    match fits.as_slice() {
        [preset] => Ok(preset),
        [] => {
            if let Some(why) = missing(catalog, live, place).or_else(|| on_another_engine(catalog, live, place)) {
                return Err(SpecError::whole("detection", why));
            }
            let (why, has_nearest) = unrecognised(catalog, live, place);
            let mut error = SpecError::whole("detection", why);
            error.remedy = Some(Remedy::NameOrMap { has_nearest });
            Err(error)
        }
        several => {
            let names = several.iter().map(|preset| preset.name.as_str()).collect::<Vec<_>>().join(", ");
            let message = format!("this database holds more than one queue: {names}. Name one with --preset");
            Err(SpecError::whole("detection", message))
        }
    }
}

/// What the operator named and the database does not have, or has in another place.
fn missing(catalog: &Catalog, live: &LiveSchema, place: &Place) -> Option<String> {
    let schemas: BTreeSet<&str> = live.tables.iter().map(|table| table.schema.as_str()).collect();
    let known = || schemas.iter().copied().collect::<Vec<_>>().join(", ");
    // A table of a known name may belong to any program; --schema helps only where all tables of a queue are.
    let has_queue = |schema: &&str| {
        let there = Place { schema: Some((*schema).to_owned()), ..place.clone() };
        catalog.candidates(live, &there).any(|preset| preset.knows(live.engine) && fits(preset, live, &there))
    };
    let queues = || schemas.iter().copied().filter(has_queue).collect::<Vec<_>>();
    match (&place.table, &place.schema) {
        (Some(table), _) if live.schemas_of(table).is_empty() => Some(format!("there is no table `{table}`")),
        (_, Some(schema)) if !schemas.contains(schema.as_str()) && !schemas.is_empty() => {
            Some(format!("jobdoctor knows no queue in schema `{schema}`; tables of interest are in {}", known()))
        }
        (_, None) => match queues() {
            queues if queues.is_empty() => None,
            queues => Some(format!(
                "no queue is on the search path; there is one in {}: name it with --schema; for several, give each a target with its `schema`",
                queues.join(", ")
            )),
        },
        _ => None,
    }
}

/// The queue whose tables are here and whose preset does not know this engine.
fn on_another_engine(catalog: &Catalog, live: &LiveSchema, place: &Place) -> Option<String> {
    let strange = |preset: &&Preset| preset.is_detectable() && !preset.engines.contains(&live.engine);
    let preset = catalog.candidates(live, place).filter(strange).find(|preset| fits(preset, live, place))?;
    let (_, tables) = found(preset, live, place)?;
    let wanted = preset.detect.tables.iter();
    let names: Vec<&str> =
        wanted.filter_map(|wanted| Some(tables.get(&wanted.table)?.as_ref()?.name.as_str())).collect();
    Some(format!("the tables of {} are here ({}), but {}", preset.name, names.join(", "), preset.knows_no(live.engine)))
}

fn fits(preset: &Preset, live: &LiveSchema, place: &Place) -> bool {
    differences(preset, live, place).is_some_and(|(differences, _)| differences.is_empty())
}

/// The preset's document, and which of its tables this database has, on any engine.
fn found<'a>(preset: &Preset, live: &'a LiveSchema, place: &Place) -> Option<(Document, Tables<'a>)> {
    let document = preset.sketch(preset.engine_or_other(live.engine), &place.options).ok()?;
    let (_, tables) = physical_tables(&document, live, place).ok()?;
    Some((document, tables))
}

/// Why the state column of a table can hold no state in flight of the preset's.
fn out_of_reach(document: &Document, live: &LiveSchema, tables: &Tables<'_>) -> Option<String> {
    let (Some(table), Some(state)) = (&document.claim.table, &document.claim.state) else { return None };
    let table = tables.get(&table.text).copied().flatten()?;
    let column = table.column(&state.text)?;
    let type_name = live.type_without(column, &document.states.in_flight)?;
    Some(format!("{} of table {} is {type_name}", column.name, table.name))
}

impl Preset {
    /// That it does not know an engine, and what there is instead.
    pub(super) fn knows_no(&self, engine: Engine) -> String {
        let known: Vec<&str> = self.engines.iter().map(|engine| engine.name()).collect();
        format!(
            "preset {name} knows {} only, and this database is {engine}. jobdoctor can do nothing for them here; `jobdoctor \
             presets show {name}` names the library's own remedy",
            known.join(" and "),
            name = self.name
        )
    }

    /// Refuses tables that lack a column which [detect] asks for and the document does not call optional: the preset
    /// fits none of them when it is named either.
    pub(super) fn require_columns(&self, document: &Document, tables: &Tables<'_>) -> Result<(), SpecError> {
        let is_optional = |either: &Vec<String>| either.iter().any(|name| document.claim.optional.contains(name));
        for wanted in &self.detect.tables {
            let Some(table) = tables.get(&wanted.table).copied().flatten() else { continue };
            let needed = wanted.columns.iter().filter(|either| !is_optional(either)).cloned().collect();
            let needed = Detect { table: wanted.table.clone(), columns: needed };
            let lacking = lacking(&needed, table);
            if !lacking.is_empty() {
                let (name, lacking) = (&table.name, lacking.join(", "));
                let message = format!("table {name} has no column {lacking}{}", self.checked_against());
                return Err(SpecError::whole(&self.document, message));
            }
        }
        Ok(())
    }

    /// True if it can be found by looking at the tables of that engine.
    fn knows(&self, engine: Engine) -> bool {
        self.is_detectable() && self.engines.contains(&engine)
    }

    /// The versions it was checked against, in brackets.
    fn checked_against(&self) -> String {
        match self.checked.as_slice() {
            [] => String::new(),
            versions => format!(" (checked against {})", versions.join(", ")),
        }
    }
}

/// The columns that a table would have if it were the preset's.
fn lacking(wanted: &Detect, table: &LiveTable) -> Vec<String> {
    let is_there = |either: &&Vec<String>| !either.iter().any(|name| table.column(name).is_some());
    wanted.columns.iter().filter(is_there).map(|either| either.join(" or ")).collect()
}

/// The most differences that are named.
const DIFFERENCES: usize = 2;

/// How the tables differ from those of the preset that they resemble most.
fn unrecognised(catalog: &Catalog, live: &LiveSchema, place: &Place) -> (String, bool) {
    let known = catalog.iter().filter(|preset| preset.knows(live.engine));
    let nearest = known.filter_map(|preset| Some((preset, differences(preset, live, place)?)));
    let nearest = nearest.min_by_key(|(_, (_, distance))| *distance);
    let has_nearest = nearest.is_some();
    let why = match nearest {
        Some((preset, (differences, _))) => {
            let named = differences.iter().take(DIFFERENCES).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = match differences.len().saturating_sub(DIFFERENCES) {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            format!("preset {} is the nearest{}, but {named}{more}", preset.name, preset.checked_against())
        }
        None if live.tables.is_empty() => "found no table that a known preset uses".to_owned(),
        None => {
            let seen: BTreeSet<String> =
                live.tables.iter().map(|table| format!("{}.{}", table.schema, table.name)).collect();
            format!("tables of interest here: {}", seen.into_iter().collect::<Vec<_>>().join(", "))
        }
    };
    (format!("no known queue was recognised; {why}"), has_nearest)
}

/// What keeps tables that have a preset's names from being its, such as another version: what differs, each missing column
/// by itself; and how far away they are, in columns.
fn differences(preset: &Preset, live: &LiveSchema, place: &Place) -> Option<(Vec<String>, usize)> {
    let (document, tables) = found(preset, live, place)?;
    let here = |wanted: &&Detect| tables.get(&wanted.table).copied().flatten().is_some();
    preset.detect.tables.iter().find(here)?;
    let (mut differences, mut distance) = (Vec::new(), 0);
    for wanted in &preset.detect.tables {
        match tables.get(&wanted.table).copied().flatten() {
            None => {
                distance += wanted.columns.len();
                differences.push(format!("there is no table for its `{}`", wanted.table));
            }
            Some(table) => {
                let mut lacking = lacking(wanted, table);
                if let Some(first) = lacking.first_mut() {
                    *first = format!("table {} has no column {first}", table.name);
                }
                differences.append(&mut lacking);
            }
        }
    }
    differences.extend(out_of_reach(&document, live, &tables));
    distance += differences.len();
    Some((differences, distance))
}
