//! A function of a preset that is not qualified could be somebody else's: on the search path of an action stands the queue's own
//! schema too, and an exact match there beats a function of the system that takes any type.

use super::catalog::Catalog;
use super::document::{ClaimFrom, Document, FinishedDoc, NotifyDoc, StepDoc};
use super::template::{Piece, Template};
use super::variant::variants;
use crate::model::Engine;

/// Words before a bracket that are the parser's own.
const WORDS: [&str; 27] = [
    "and",
    "any",
    "array",
    "as",
    "by",
    "case",
    "coalesce",
    "conflict",
    "else",
    "exists",
    "filter",
    "from",
    "greatest",
    "in",
    "interval",
    "lateral",
    "least",
    "not",
    "nullif",
    "on",
    "or",
    "over",
    "returning",
    "select",
    "substring",
    "values",
    "when",
];

#[test]
fn every_function_in_a_preset_is_qualified() {
    let mut bare = Vec::new();
    for preset in Catalog::built_in().unwrap().iter() {
        let Ok(base) = preset.for_engine(Engine::Postgres) else { continue };
        let mut nodes = vec![base.clone()];
        for variant in variants(&preset.document, &base).unwrap() {
            let mut node = base.clone();
            node.overlay(variant.overlay);
            nodes.push(node);
        }
        for node in nodes {
            let document = Document::of(&preset.document, &preset.name, preset.filled(node).unwrap()).unwrap();
            let found = templates(&document).iter().flat_map(functions).collect::<Vec<_>>();
            bare.extend(found.into_iter().map(|function| format!("{}: {function}", preset.name)));
        }
    }
    bare.sort();
    bare.dedup();
    assert!(bare.is_empty(), "not qualified:\n{}", bare.join("\n"));
}

#[test]
fn a_function_without_a_schema_is_seen() {
    let found = |sql: &str| functions(&Template::parse(sql).unwrap());
    assert_eq!(found("now() - interval '1 min'"), ["now"]);
    assert_eq!(found("pg_catalog.now() + {own_function}(1) + coalesce(a, 1) || 'md5(' "), Vec::<String>::new());
    assert_eq!(found("INSERT INTO {log} (id) VALUES (1)"), Vec::<String>::new());
    assert_eq!(found("(SELECT lower(a))"), ["lower"]);
}

fn templates(document: &Document) -> Vec<Template> {
    let mut templates: Vec<Template> = document.sql.values().cloned().collect();
    if let ClaimFrom::From(_, from) = &document.claim.from {
        templates.push(from.clone());
    }
    templates.extend(document.claim.filter.iter().map(|(_, filter)| filter.clone()));
    if let Some(FinishedDoc::Kept(runs)) = &document.finished {
        templates.extend(runs.filter.iter().map(|(_, filter)| filter.clone()));
    }
    templates.extend(document.owner.on.clone());
    let owner = [&document.owner.id, &document.owner.name, &document.owner.host];
    let written = owner.into_iter().flatten().chain(document.show.iter().map(|(_, written)| written));
    templates.extend(written.map(|written| Template::parse(&written.text).unwrap()));
    templates.extend(document.skips.iter().map(|skip| skip.condition.1.clone()));
    for notify in &document.notify {
        match notify {
            NotifyDoc::Channel { channel, payload } => templates.extend([channel.1.clone(), payload.1.clone()]),
            NotifyDoc::Sql((_, sql)) => templates.push(sql.clone()),
        }
    }
    for step in document.actions.iter().flat_map(|(_, moved)| &moved.steps) {
        match step {
            StepDoc::Update { set, .. } => templates.extend(set.iter().map(|(_, _, value)| value.clone())),
            StepDoc::Sql { sql, .. } => templates.push(sql.clone()),
        }
    }
    templates
}

/// The names that stand right before a bracket, without a schema, and are no words of the language.
fn functions(template: &Template) -> Vec<String> {
    let mut found = Vec::new();
    for piece in &template.0 {
        let Piece::Text(text) = piece else { continue };
        let plain = without_quoted(text);
        for (at, _) in plain.match_indices('(') {
            let before = plain.get(..at).unwrap_or_default();
            let name_at = before.rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |end| end + 1);
            let name = before.get(name_at..).unwrap_or_default().to_lowercase();
            // A type after a cast may have brackets too.
            let is_qualified = before.get(..name_at).is_some_and(|rest| rest.ends_with(['.', ':']));
            if !name.is_empty() && !is_qualified && !WORDS.contains(&name.as_str()) {
                found.push(name);
            }
        }
    }
    found
}

fn without_quoted(text: &str) -> String {
    text.split('\'').step_by(2).collect::<Vec<_>>().join(" ")
}
