//! The page of one queue. What differs between engines stands once for each, everything else once.

use super::fact::{FactKey, PresetFact, PresetSection, fact, keyed, name_fact};
use super::sections::{TABLES, sections};
use super::variants::variants;
use super::words::code;
use crate::model::Engine;
use crate::preset::{OptionKind, Preset, PresetOption, Proof, Shape, SpecError};
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
    /// The address of its project's page; null for our own tables and for mappings.
    pub home: Option<String>,
    /// The engines it knows.
    pub engines: Vec<String>,
    /// The versions of the library it was checked with.
    pub checked: Vec<String>,
    /// How far it was checked: `live`, `schema` or `facts`.
    pub proof: String,
    /// `proof` in words.
    pub proof_detail: String,
    /// False for a mapping of the config file.
    pub built_in: bool,
    /// Whether it is recognised by its tables, so that `--preset` may be left out.
    pub detected: bool,
    /// What is known, in the order of the page.
    pub sections: Vec<PresetSection>,
}

/// All that is known of one queue.
///
/// # Errors
/// Never for a preset that was read: its documents were typed then.
pub fn preset_page(preset: &Preset) -> Result<PresetPage, SpecError> {
    let shapes = shapes(preset)?;
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
        home: preset.home.clone(),
        engines: preset.engines.iter().map(ToString::to_string).collect(),
        checked: preset.checked.clone(),
        proof: preset.proof.name().to_owned(),
        proof_detail: proof(preset),
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
    let home = page.home.iter().map(|home| fact("home", home.as_str()));
    let rest = [
        fact("checked with", versions),
        fact("proof", page.proof_detail.as_str()),
        fact("engines", page.engines.join(", ")),
        fact("recognised", detected),
    ];
    home.chain(rest).collect()
}

/// The preset on each of its engines.
pub(super) fn shapes(preset: &Preset) -> Result<Vec<(Engine, Vec<Shape>)>, SpecError> {
    preset.engines.iter().map(|engine| Ok((*engine, preset.shapes(*engine)?))).collect()
}

fn proof(preset: &Preset) -> String {
    let is_ours = preset.built_in && preset.checked.is_empty();
    match preset.proof {
        _ if !preset.built_in => "as good as its description; `jobdoctor check` compares it with the table".to_owned(),
        Proof::Live if is_ours => "live: the schema is our own, and our tests run it on every engine".to_owned(),
        Proof::Schema if is_ours => "schema: the table is our own, and our tests run it on every engine".to_owned(),
        Proof::Live if preset.live.len() < preset.checked.len() => {
            let live = preset.live.join(", ");
            format!(
                "live: the real library is run in our tests ({live}); of the others, our own copies of their tables"
            )
        }
        Proof::Live => "live: the real library is run in our tests".to_owned(),
        Proof::Schema => "schema: our own copy of its tables, after its source".to_owned(),
        Proof::Facts => "facts: its source was read, and nothing was run".to_owned(),
    }
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
            None => "required: give it with --option".to_owned(),
        };
        name_fact(option.name.as_str(), format!("{}; {values}; {default}", option.help))
    };
    preset.options.iter().map(line).collect()
}

/// The sections of all engines in one. They have the same titles in the same order.
fn merged(engines: &[(Engine, Vec<Shape>)]) -> Vec<PresetSection> {
    let bases = engines.iter().filter_map(|(engine, shapes)| Some((*engine, sections(&shapes.first()?.document))));
    let engines: Vec<(Engine, Vec<PresetSection>)> = bases.collect();
    let Some((_, first)) = engines.first() else { return Vec::new() };
    let merged = first.iter().enumerate().map(|(n, section)| {
        let facts = engines.iter().filter_map(|(engine, sections)| Some((*engine, sections.get(n)?.facts.as_slice())));
        PresetSection { title: section.title.clone(), facts: on_engines(&facts.collect::<Vec<_>>()) }
    });
    merged.collect()
}

/// The facts of all engines: once where they agree, else once for each engine.
fn on_engines(engines: &[(Engine, &[PresetFact])]) -> Vec<PresetFact> {
    let keyed: Vec<_> = engines.iter().map(|(engine, facts)| (engine, keyed(facts))).collect();
    let mut keys = Vec::new();
    for (key, _) in keyed.iter().flat_map(|(_, facts)| facts) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let mut merged = Vec::new();
    for key in keys {
        let of_engine = |(engine, facts): &(&Engine, Vec<(FactKey, &PresetFact)>)| {
            let (_, fact) = facts.iter().find(|(known, _)| known == key)?;
            Some(PresetFact { engine: Some(engine.to_string()), ..(*fact).clone() })
        };
        let mut found: Vec<PresetFact> = keyed.iter().filter_map(of_engine).collect();
        if found.len() == engines.len() && found.windows(2).all(|pair| pair[0].text == pair[1].text) {
            found.truncate(1);
            found.iter_mut().for_each(|fact| fact.engine = None);
        }
        merged.append(&mut found);
    }
    merged
}
