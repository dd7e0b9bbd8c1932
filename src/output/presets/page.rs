//! The page of one queue: what to know before its TOML is read, and the TOML.

use crate::model::Engine;
use crate::output::format::{Facts, Screen, inert};
use crate::preset::{Document, OptionKind, Preset, PresetOption, Proof, Shape, SpecError};
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
    /// What `--option` may or must say, by name.
    pub options: Vec<PresetNote>,
    /// What to know before acting, by name.
    pub cautions: Vec<PresetNote>,
    /// The actions that are refused, and why.
    pub refused: Vec<PresetNote>,
    /// The library's own remedy: in words, in SQL, or both.
    pub remedies: Vec<String>,
    /// The text: a preset's file, or the mapping's part of the config file.
    pub toml: String,
}

/// A sentence about something that has a name.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PresetNote {
    /// The name.
    pub name: String,
    /// The sentence.
    pub text: String,
}

/// All that is known of one queue, whose text that is.
pub fn preset_page(preset: &Preset, toml: String) -> Result<PresetPage, SpecError> {
    let shapes = shapes(preset)?;
    // Engines differ in how they spell things, not in what they warn of: what they have in common stands once.
    let bases = || shapes.iter().filter_map(|(_, shapes)| shapes.first().map(|shape| &shape.document));
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
        options: preset.options.iter().map(option).collect(),
        cautions: once(bases().flat_map(cautions)),
        refused: once(bases().flat_map(refused)),
        remedies: once(bases().flat_map(remedies)),
        toml,
    })
}

/// The preset on each of its engines.
pub(super) fn shapes(preset: &Preset) -> Result<Vec<(Engine, Vec<Shape>)>, SpecError> {
    preset.engines.iter().map(|engine| Ok((*engine, preset.shapes(*engine)?))).collect()
}

fn once<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut found, one| {
        if !found.contains(&one) {
            found.push(one);
        }
        found
    })
}

fn cautions(document: &Document) -> impl Iterator<Item = PresetNote> {
    document.cautions.iter().map(|(name, text)| PresetNote { name: name.clone(), text: text.clone() })
}

fn refused(document: &Document) -> impl Iterator<Item = PresetNote> {
    let note = |name: &str, why: &String| PresetNote { name: name.to_owned(), text: why.clone() };
    document.actions.iter().filter_map(move |(action, doc)| Some(note(action.name(), doc.refused.as_ref()?)))
}

fn remedies(document: &Document) -> impl Iterator<Item = String> {
    document.advice.iter().flat_map(|advice| advice.text.iter().chain(&advice.sql).cloned())
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

fn option(option: &PresetOption) -> PresetNote {
    let values = match &option.kind {
        OptionKind::Integer => "integer".to_owned(),
        OptionKind::Duration => "duration".to_owned(),
        OptionKind::Text => "text".to_owned(),
        OptionKind::Word(words) => words.join(" or "),
    };
    let default = match &option.default {
        Some(default) => format!("{default} unless --option says otherwise"),
        None => "required: give it with --option".to_owned(),
    };
    PresetNote { name: option.name.clone(), text: format!("{}; {values}; {default}", option.help) }
}

/// What stands above the TOML, by labels.
pub(super) fn head(page: &PresetPage) -> Vec<(String, String)> {
    let versions = match page.checked.as_slice() {
        [] if page.built_in => "our own tables".to_owned(),
        [] => "-".to_owned(),
        versions => versions.join(", "),
    };
    let detected = if page.detected { "by its tables" } else { "never: name it with --preset" };
    let facts = [
        ("checked with", versions),
        ("proof", page.proof_detail.clone()),
        ("engines", page.engines.join(", ")),
        ("recognised", detected.to_owned()),
    ];
    let home = page.home.iter().map(|home| ("home", home.clone()));
    let plain = home.chain(facts).map(|(label, text)| (label.to_owned(), text));
    let named = [("option", &page.options), ("caution", &page.cautions), ("never", &page.refused)];
    let notes = named
        .into_iter()
        .flat_map(|(kind, notes)| notes.iter().map(move |note| (format!("{kind} {}", note.name), note.text.clone())));
    let remedies = page.remedies.iter().map(|remedy| ("instead".to_owned(), remedy.clone()));
    plain.chain(notes).chain(remedies).collect()
}

/// The page for people: one TOML document, whose head is comments.
pub fn people(page: &PresetPage, screen: &Screen) -> String {
    let mut facts = Facts::new();
    facts.add(page.name.as_str(), page.title.as_str());
    for (label, text) in head(page) {
        facts.add(label, text);
    }
    let width = screen.width.map(|width| width.saturating_sub(2));
    let head = facts.render(&Screen { width, color: false, ..screen.clone() });
    let lines = head.lines().map(|line| format!("# {line}")).chain([String::new()]);
    let toml = page.toml.lines().map(|line| inert(line).into_owned());
    lines.chain(toml).map(|line| line + "\n").collect()
}
