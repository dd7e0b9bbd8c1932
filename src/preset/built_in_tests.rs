//! What every built-in preset must hold to: its functions are qualified, and what it does is said in plain words.

use super::catalog::{Catalog, Preset, Shape};
use super::document::{ClaimFrom, Document, FinishedDoc, StepDoc, WakeUpDoc};
use super::fields::Fragment;
use super::template::{Marker, Piece, Template};
use crate::model::Engine;
use std::collections::BTreeSet;

/// The presets of our own tables, which have no library: no remedy of one, and no late worker of one.
const OURS: [&str; 2] = ["lease", "simple"];

/// The document of a preset on each of its engines, with each of its variants.
fn documents(preset: &Preset) -> Vec<Document> {
    let shapes = preset.engines.iter().flat_map(|engine| preset.shapes(*engine).unwrap());
    shapes
        .filter(|shape| shape.variant.as_ref().is_none_or(|variant| variant.refuse.is_none()))
        .map(|s| s.document)
        .collect()
}

#[test]
fn every_action_is_described_in_words() {
    let mut lacks = BTreeSet::new();
    for preset in Catalog::built_in().unwrap().iter() {
        let mut lack = |what: String| lacks.insert(format!("{}: {what}", preset.name));
        let documents = documents(preset);
        let mut expressions = BTreeSet::new();
        for document in &documents {
            if !OURS.contains(&preset.name.as_str()) {
                if document.cautions.iter().all(|(name, _)| name != "late") {
                    lack("[caution] `late`".to_owned());
                }
                if document.advice.is_none() {
                    lack("[advice]".to_owned());
                }
            }
            for (action, doc) in &document.actions {
                let mut set: Vec<&(String, Fragment)> = Vec::new();
                set.extend(doc.delayed.iter().flat_map(|delayed| &delayed.set));
                for (n, step) in doc.steps.iter().enumerate() {
                    match step {
                        StepDoc::Sql { does: None, .. } => {
                            lack(format!("`does` of step {} of {action}", n + 1));
                        }
                        StepDoc::Sql { .. } => {}
                        StepDoc::Update { set: values, .. } => set.extend(values),
                    }
                }
                for (column, Fragment { sql: value, .. }) in set {
                    let words = document.words_for(column);
                    if is_plain(value) || (words.is_none() && value.constant().is_some()) {
                        continue;
                    }
                    expressions.insert(column.clone());
                    if words.is_none() {
                        lack(format!("[words] `{column}`, set by {action}"));
                    }
                }
            }
        }
        for (column, _) in documents.iter().flat_map(|document| &document.words) {
            if !expressions.contains(column) {
                lack(format!("[words] `{column}` is about no column that an action sets"));
            }
        }
    }
    assert!(lacks.is_empty(), "{} missing:\n{}", lacks.len(), lacks.into_iter().collect::<Vec<_>>().join("\n"));
}

/// Whether a page says by itself what such a value is.
fn is_plain(value: &Template) -> bool {
    use Marker::{Now, Reason, RunAt};
    matches!(value.0.as_slice(), [Piece::Marker(Now(None) | RunAt(None) | Reason)])
}

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

/// A function that is not qualified could be another one of that name: the search path of an action has the queue's own
/// schema too, and an exact match there beats a function of the system that takes any type.
#[test]
fn every_function_in_a_preset_is_qualified() {
    let mut bare = Vec::new();
    for preset in Catalog::built_in().unwrap().iter() {
        let Ok(shapes) = preset.shapes(Engine::Postgres) else { continue };
        let is_there = |shape: &&Shape| shape.variant.as_ref().is_none_or(|variant| variant.is_on(Engine::Postgres));
        for shape in shapes.iter().filter(is_there) {
            let found = templates(&shape.document).iter().flat_map(functions).collect::<Vec<_>>();
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
    if let ClaimFrom::From(from) = &document.claim.from {
        templates.push(from.sql.clone());
    }
    templates.extend(document.claim.filter.iter().map(|filter| filter.sql.clone()));
    if let Some(FinishedDoc::Kept(runs)) = &document.finished {
        templates.extend(runs.filter.iter().map(|filter| filter.sql.clone()));
    }
    templates.extend(document.owner.on.iter().map(|on| on.sql.clone()));
    let owner = [&document.owner.id, &document.owner.name, &document.owner.host];
    let written = owner.into_iter().flatten().chain(document.show.iter().map(|(_, written)| written));
    templates.extend(written.map(|written| Template::parse(&written.text).unwrap()));
    templates.extend(document.skips.iter().map(|(_, skip)| skip.condition.sql.clone()));
    for notify in &document.notify {
        match &notify.wake_up {
            WakeUpDoc::Channel { channel, payload } => templates.extend([channel.sql.clone(), payload.sql.clone()]),
            WakeUpDoc::Sql(sql) => templates.push(sql.sql.clone()),
        }
    }
    for step in document.actions.iter().flat_map(|(_, moved)| &moved.steps) {
        match step {
            StepDoc::Update { set, .. } => templates.extend(set.iter().map(|(_, value)| value.sql.clone())),
            StepDoc::Sql { sql, .. } => templates.push(sql.sql.clone()),
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
