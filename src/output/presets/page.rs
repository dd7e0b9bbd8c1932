//! The page of one queue. What differs between engines is told once for each, everything else once.

use super::sections::{Label, Line, Section, TABLES, code, name, sections, word};
use super::variants::variants;
use super::{PresetOption, PresetsShow};

/// A page: facts at its head, then parts.
pub(super) struct Page {
    pub(super) head: Vec<Line>,
    pub(super) parts: Vec<Part>,
}

/// A heading and what stands under it.
pub(super) struct Part {
    pub(super) title: String,
    pub(super) entries: Vec<Entry>,
}

/// A line, and the engine it is true on where it is not true on all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) label: Label,
    pub(super) text: String,
    pub(super) only: Option<String>,
}

impl Entry {
    /// A line that is true on all engines.
    pub(super) fn of(line: Line) -> Entry {
        Entry { label: line.label, text: line.text, only: None }
    }

    /// The text with its engine.
    pub(super) fn said(&self) -> String {
        match &self.only {
            Some(engine) => format!("on {engine}: {}", self.text),
            None => self.text.clone(),
        }
    }
}

pub(super) fn page(document: &PresetsShow) -> Page {
    let mut parts = Vec::new();
    for part in merged(document) {
        let is_tables = part.title == TABLES;
        parts.push(part);
        if is_tables {
            parts.push(Part { title: "Variants".to_owned(), entries: variants(document) });
            parts.push(Part { title: "Options".to_owned(), entries: options(document) });
        }
    }
    parts.retain(|part| !part.entries.is_empty());
    Page { head: head(document), parts }
}

fn head(document: &PresetsShow) -> Vec<Line> {
    let versions = match document.checked.as_slice() {
        [] if document.built_in => "our own tables".to_owned(),
        [] => "-".to_owned(),
        versions => versions.join(", "),
    };
    let detected = if document.detected { "by its tables" } else { "never: name it with --preset" };
    vec![
        word("checked with", versions),
        word("proof", document.proof_detail.as_str()),
        word("engines", document.engines.join(", ")),
        word("recognised", detected),
    ]
}

fn options(document: &PresetsShow) -> Vec<Entry> {
    let line = |option: &PresetOption| {
        let values = option.values.iter().map(|value| code(value)).collect::<Vec<_>>().join(" or ");
        let default = match &option.default {
            Some(default) => format!("{} unless --option says otherwise", code(default)),
            None => "must be said with --option".to_owned(),
        };
        let kind = if values.is_empty() { &option.kind } else { &values };
        Entry::of(name(option.name.as_str(), format!("{}; {kind}; {default}", option.help)))
    };
    document.options.iter().map(line).collect()
}

/// The sections of all engines in one. They have the same titles in the same order.
fn merged(document: &PresetsShow) -> Vec<Part> {
    let bases = document.shapes.iter().filter(|shape| shape.variant.is_none());
    let engines: Vec<(&str, Vec<Section>)> =
        bases.filter_map(|shape| Some((shape.engine.as_str(), sections(shape.queue.as_ref()?)))).collect();
    let Some((_, first)) = engines.first() else { return Vec::new() };
    (0..first.len())
        .map(|n| {
            let lines: Vec<(&str, &[Line])> = engines
                .iter()
                .filter_map(|(engine, sections)| Some((*engine, sections.get(n)?.lines.as_slice())))
                .collect();
            Part { title: first[n].title.clone(), entries: entries(&lines) }
        })
        .collect()
}

fn entries(engines: &[(&str, &[Line])]) -> Vec<Entry> {
    let keyed: Vec<_> = engines.iter().map(|(engine, lines)| (*engine, keyed(lines))).collect();
    let mut keys = Vec::new();
    for (key, _) in keyed.iter().flat_map(|(_, lines)| lines) {
        if !keys.contains(key) {
            keys.push(key.clone());
        }
    }
    let mut entries = Vec::new();
    for key in keys {
        let told: Vec<(&str, &Line)> = keyed
            .iter()
            .filter_map(|(engine, lines)| Some((*engine, lines.iter().find(|(known, _)| *known == key)?.1)))
            .collect();
        let is_alike = told.len() == engines.len() && told.windows(2).all(|pair| pair[0].1 == pair[1].1);
        for (engine, line) in told.iter().take(if is_alike { 1 } else { told.len() }) {
            let only = (!is_alike).then(|| (*engine).to_owned());
            entries.push(Entry { label: line.label.clone(), text: line.text.clone(), only });
        }
    }
    entries
}

/// Lines with what tells them apart: the label, and how often it came before.
pub(super) fn keyed(lines: &[Line]) -> Vec<((String, usize), &Line)> {
    let mut seen: Vec<&str> = Vec::new();
    let mut keyed = Vec::new();
    for line in lines {
        let label = line.label.text();
        let before = seen.iter().filter(|known| **known == label).count();
        seen.push(label);
        keyed.push(((label.to_owned(), before), line));
    }
    keyed
}
