//! The page of one queue. What differs between engines stands once for each, everything else once.

use super::sections::{TABLES, sections};
use super::variants::variants;
use super::words::{self, code};
use crate::preset::{OptionKind, Preset, PresetOption, Shape, SpecError};
use schemars::JsonSchema;
use serde::Serialize;

/// `jobdoctor.presets-show/v1`: what is known of one queue, and what is done to its jobs.
#[derive(Serialize, JsonSchema)]
pub struct PresetPage {
    /// `jobdoctor.presets-show/v1`.
    pub schema: &'static str,
    /// What `--preset` calls it.
    pub name: String,
    /// What it is, in a few words.
    pub title: String,
    /// The engines it knows.
    pub engines: Vec<String>,
    /// The versions of the library it was checked with.
    pub checked: Vec<String>,
    /// How far it was checked: `live`, `schema` or `facts`.
    pub proof: String,
    /// The same in words.
    pub proof_detail: String,
    /// False for a mapping of the config file.
    pub built_in: bool,
    /// Whether it is recognised by its tables, so that `--preset` may be left out.
    pub detected: bool,
    /// What is known, in the order of the page.
    pub sections: Vec<PresetSection>,
}

/// A heading and the facts under it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PresetSection {
    /// The heading.
    pub title: String,
    /// The facts.
    pub facts: Vec<PresetFact>,
}

/// One fact. Names of columns and tables, values and SQL stand in backquotes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PresetFact {
    /// What it is about. Several facts in a row may share it.
    pub label: String,
    /// True if that is the name of a table, a column or an option.
    pub is_name: bool,
    /// What is said of it.
    pub text: String,
    /// The engine it is true on; null if it is true on all of them.
    pub engine: Option<String>,
}

/// A fact about a word of ours.
pub(super) fn word(label: impl Into<String>, text: impl Into<String>) -> PresetFact {
    PresetFact { label: label.into(), is_name: false, text: text.into(), engine: None }
}

/// A fact about a table, a column or an option.
pub(super) fn name(label: impl Into<String>, text: impl Into<String>) -> PresetFact {
    PresetFact { is_name: true, ..word(label, text) }
}

impl PresetFact {
    /// The text, after its engine.
    pub(super) fn with_engine(&self) -> String {
        match &self.engine {
            Some(engine) => format!("on {engine}: {}", self.text),
            None => self.text.clone(),
        }
    }
}

/// All that is known of one queue.
///
/// # Errors
/// Never for a preset that was read: see [`Preset::shapes`].
pub fn preset_page(preset: &Preset) -> Result<PresetPage, SpecError> {
    let shapes = preset.shapes()?;
    let mut parts = Vec::new();
    for section in merged(&shapes) {
        let is_tables = section.title == TABLES;
        parts.push(section);
        if is_tables {
            parts.push(PresetSection { title: "Variants".to_owned(), facts: variants(preset, &shapes) });
            parts.push(PresetSection { title: "Options".to_owned(), facts: options(preset) });
        }
    }
    parts.retain(|section| !section.facts.is_empty());
    Ok(PresetPage {
        schema: "jobdoctor.presets-show/v1",
        name: preset.name.clone(),
        title: preset.title.clone(),
        engines: preset.engines.iter().map(ToString::to_string).collect(),
        checked: preset.checked.clone(),
        proof: preset.proof.name().to_owned(),
        proof_detail: words::proof(preset),
        built_in: preset.built_in,
        detected: preset.is_detectable(),
        sections: parts,
    })
}

/// What stands above the sections.
pub(super) fn head(page: &PresetPage) -> Vec<PresetFact> {
    let versions = match page.checked.as_slice() {
        [] if page.built_in => "our own tables".to_owned(),
        [] => "-".to_owned(),
        versions => versions.join(", "),
    };
    let detected = if page.detected { "by its tables" } else { "never: name it with --preset" };
    vec![
        word("checked with", versions),
        word("proof", page.proof_detail.as_str()),
        word("engines", page.engines.join(", ")),
        word("recognised", detected),
    ]
}

fn options(preset: &Preset) -> Vec<PresetFact> {
    let line = |option: &PresetOption| {
        let values = match &option.kind {
            OptionKind::Integer => "integer".to_owned(),
            OptionKind::Duration => "duration".to_owned(),
            OptionKind::Text => "text".to_owned(),
            OptionKind::Word(words) => words.iter().map(|word| code(word)).collect::<Vec<_>>().join(" or "),
        };
        let default = match &option.default {
            Some(default) => format!("{} unless --option says otherwise", code(&default.to_string())),
            None => "must be said with --option".to_owned(),
        };
        name(option.name.as_str(), format!("{}; {values}; {default}", option.help))
    };
    preset.options.iter().map(line).collect()
}

/// The sections of all engines in one. They have the same titles in the same order.
fn merged(shapes: &[Shape]) -> Vec<PresetSection> {
    let bases = shapes.iter().filter(|shape| shape.variant.is_none());
    let engines: Vec<(String, Vec<PresetSection>)> =
        bases.filter_map(|shape| Some((shape.engine.to_string(), sections(shape.profile.as_ref()?)))).collect();
    let Some((_, first)) = engines.first() else { return Vec::new() };
    (0..first.len())
        .map(|n| {
            let of_engine = |(engine, sections): &(String, Vec<PresetSection>)| {
                Some((engine.clone(), sections.get(n)?.facts.clone()))
            };
            let facts: Vec<(String, Vec<PresetFact>)> = engines.iter().filter_map(of_engine).collect();
            PresetSection { title: first[n].title.clone(), facts: on_engines(&facts) }
        })
        .collect()
}

/// The facts of all engines: once where all say the same, else once for each engine that says it.
fn on_engines(engines: &[(String, Vec<PresetFact>)]) -> Vec<PresetFact> {
    let keyed: Vec<_> = engines.iter().map(|(engine, facts)| (engine, keyed(facts))).collect();
    let mut keys = Vec::new();
    for (key, _) in keyed.iter().flat_map(|(_, facts)| facts) {
        if !keys.contains(key) {
            keys.push(key.clone());
        }
    }
    let mut merged = Vec::new();
    for key in keys {
        let told = keyed.iter().filter_map(|(engine, facts)| {
            let (_, fact) = facts.iter().find(|(known, _)| *known == key)?;
            Some(((*engine).clone(), (*fact).clone()))
        });
        let told: Vec<(String, PresetFact)> = told.collect();
        let is_alike = told.len() == engines.len() && told.windows(2).all(|pair| pair[0].1 == pair[1].1);
        if is_alike {
            merged.extend(told.into_iter().take(1).map(|(_, fact)| fact));
        } else {
            merged.extend(told.into_iter().map(|(engine, fact)| PresetFact { engine: Some(engine), ..fact }));
        }
    }
    merged
}

/// Facts with what tells them apart: the label, and how often it came before.
pub(super) fn keyed(facts: &[PresetFact]) -> Vec<((String, usize), &PresetFact)> {
    let mut keyed: Vec<((String, usize), &PresetFact)> = Vec::new();
    for fact in facts {
        let before = keyed.iter().filter(|((label, _), _)| *label == fact.label).count();
        keyed.push(((fact.label.clone(), before), fact));
    }
    keyed
}
