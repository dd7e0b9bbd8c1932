//! Variants: how each is recognised, and what it changes, fact by fact.

use super::fact::{PresetFact, fact, keyed};
use super::sections::sections;
use super::words::{any_of, quoted};
use crate::model::Engine;
use crate::preset::{Document, Piece, Preset, Probe, Shape, Variant};

/// The facts about a variant on each engine that has it.
type OnEngines = Vec<(Engine, Vec<String>)>;

/// The variants of all engines, in the order of the document. Facts on which the engines agree stand once.
pub(super) fn variants(preset: &Preset, engines: &[(Engine, Vec<Shape>)]) -> Vec<PresetFact> {
    let mut by_name: Vec<(&str, OnEngines)> = Vec::new();
    for (engine, shapes) in engines {
        let Some((base, others)) = shapes.split_first() else { continue };
        let named: Vec<(&Variant, &Document)> =
            others.iter().filter_map(|shape| Some((shape.variant.as_ref()?, &shape.document))).collect();
        // A probe may name a table that only some variant has.
        let mut tables = base.document.tables.clone();
        tables.extend(named.iter().flat_map(|(_, document)| document.tables.clone()));
        for (variant, document) in named.into_iter().filter(|(variant, _)| variant.is_on(*engine)) {
            let changes = changes(variant, document, &base.document, &tables);
            match by_name.iter_mut().find(|(name, _)| *name == variant.name) {
                Some((_, engines)) => engines.push((*engine, changes)),
                None => by_name.push((&variant.name, vec![(*engine, changes)])),
            }
        }
    }
    let mut facts = Vec::new();
    if !preset.exactly_one().is_empty() {
        let names = preset.exactly_one().join("; ");
        facts.push(fact("exactly one of", format!("{names}. A queue with none or several is refused")));
    }
    for (name, engines) in by_name {
        let is_alike = engines.iter().all(|(_, changes)| Some(changes) == engines.first().map(|(_, first)| first));
        for (engine, changes) in engines.iter().take(if is_alike { 1 } else { engines.len() }) {
            let engine = (!is_alike).then(|| engine.to_string());
            facts.extend(changes.iter().map(|text| PresetFact { engine: engine.clone(), ..fact(name, text.as_str()) }));
        }
    }
    facts
}

fn changes(variant: &Variant, document: &Document, base: &Document, tables: &[(String, String)]) -> Vec<String> {
    let conditions: Vec<String> = variant.when.iter().map(|probe| condition(probe, tables)).collect();
    let mut changes = vec![format!("recognised: {}", conditions.join("; and "))];
    changes.extend(variant.why.as_ref().map(|why| format!("why: {why}")));
    if let Some(why) = &variant.refuse {
        changes.push(format!("refused: {why}"));
        return changes;
    }
    for (section, was) in sections(document).iter().zip(&sections(base)) {
        let (now, was) = (keyed(&section.facts), keyed(&was.facts));
        let place = |fact: &PresetFact| format!("{}, {}", section.title.to_lowercase(), fact.label);
        for (key, fact) in &now {
            if was.iter().all(|(other, old)| other != key || old.text != fact.text) {
                changes.push(format!("{}: {}", place(fact), fact.text));
            }
        }
        for (key, fact) in &was {
            if now.iter().all(|(other, _)| other != key) {
                changes.push(format!("{}: not there", place(fact)));
            }
        }
    }
    changes
}

fn condition(probe: &Probe, tables: &[(String, String)]) -> String {
    let name = |logical: &str| {
        let found = tables.iter().find(|(known, _)| known == logical);
        found.map_or_else(|| logical.to_owned(), |(_, name)| name.clone())
    };
    let there = |is_there: bool| if is_there { "there is a" } else { "there is no" };
    match probe {
        Probe::Engine(engine) => format!("the database is {engine}"),
        Probe::Table(table, is_there) => format!("{} table `{}`", there(*is_there), name(table)),
        Probe::Column(table, column, is_there) => format!("{} column `{}.{column}`", there(*is_there), name(table)),
        Probe::Type(table, column, types) => format!("the type of `{}.{column}` is {}", name(table), any_of(types)),
        Probe::Label(type_name, label) => format!("the type `{type_name}` has the label `{label}`"),
        Probe::Function(function, is_there) => format!("{} function `{function}`", there(*is_there)),
        Probe::Option(option, value) => format!("the option `{option}` is `{value}`"),
        Probe::Sql(sql) => {
            let text = sql.0.iter().map(|piece| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Name(table) => name(table),
                _ => String::new(),
            });
            let words = text.collect::<String>();
            format!("{} is true", quoted(&words.split_whitespace().collect::<Vec<_>>().join(" ")))
        }
    }
}
