//! The queues that are known, as a list and one by one: as JSON, for a screen, and as the pages in `docs/presets/`.

use super::columns::{Columns, column};
use super::format::{Facts, Screen, Table, inert};
use crate::model::Engine;
use crate::preset::{Catalog, Document, OptionKind, Preset, PresetOption, Proof, Shape, SpecError};
use schemars::JsonSchema;
use serde::Serialize;

/// `jobdoctor.presets/v1`: the queues that are known.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Presets {
    /// `jobdoctor.presets/v1`.
    pub schema: &'static str,
    /// The presets and mappings, by name.
    pub presets: Vec<PresetEntry>,
}

/// One of them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetEntry {
    /// Its name, for `--preset`.
    pub name: String,
    /// What it is.
    pub title: String,
    /// The address of its project's page; null for our own tables and for mappings.
    pub home: Option<String>,
    /// The engines it knows.
    pub engines: Vec<String>,
    /// The versions of the library it was checked against.
    pub checked: Vec<String>,
    /// How it was checked: `live`, `schema` or `facts`.
    pub proof: String,
    /// True if it came with the program; false for a mapping of the config file.
    pub built_in: bool,
    /// True if it is recognised without being named.
    pub detected: bool,
    /// What shows life, best source first: `lease`, `heartbeat`, `owner`, `lock`, `age`. Empty where nothing does.
    pub liveness: Vec<String>,
    /// Variants of the queue in which that differs.
    pub variant_liveness: Vec<PresetVariantLiveness>,
    /// What can be done: `list`, `requeue`, `fail`, `cancel`.
    pub can: Vec<String>,
}

/// What shows life in a variant.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetVariantLiveness {
    /// The variant.
    pub variant: String,
    /// Best source first, as in [`PresetEntry::liveness`].
    pub liveness: Vec<String>,
}

fn columns<'a>() -> Columns<'a, PresetEntry> {
    let or_dash = |words: &[String]| if words.is_empty() { "-".to_owned() } else { words.join(", ") };
    Columns::<PresetEntry>::new()
        .add(column("preset", 0, None), "name", |preset| preset.name.as_str().into())
        .add(column("queue", 2, Some(20)), "title", |preset| preset.title.as_str().into())
        .add(column("engines", 4, None), "engines", |preset| preset.engines.join(", ").into())
        .add(column("liveness", 0, Some(16)), "liveness", |preset| liveness(preset).into())
        .add(column("can", 3, Some(28)), "can", |preset| preset.can.join(", ").into())
        .add(column("proof", 3, None), "proof", |preset| preset.proof.as_str().into())
        .add(column("versions", 5, Some(10)), "checked", move |preset| or_dash(&preset.checked).into())
}

pub fn list(document: &Presets) -> Table {
    columns().table(document.presets.iter())
}

/// Best first; a semicolon before what some variants of the queue have instead.
fn liveness(preset: &PresetEntry) -> String {
    let words = |signs: &[String]| match signs {
        [] => "none".to_owned(),
        [only] if only == "age" => "age only".to_owned(),
        several => several.join(", "),
    };
    let variants = preset.variant_liveness.iter().map(|variant| variant.liveness.as_slice());
    [preset.liveness.as_slice()].into_iter().chain(variants).map(words).collect::<Vec<_>>().join("; ")
}

pub fn presets(catalog: &Catalog) -> Result<Presets, SpecError> {
    let mut presets: Vec<PresetEntry> = catalog.iter().map(entry).collect::<Result<_, _>>()?;
    presets.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Presets { schema: "jobdoctor.presets/v1", presets })
}

fn entry(preset: &Preset) -> Result<PresetEntry, SpecError> {
    let engines = shapes(preset)?;
    // Engines differ in how they spell things, not in what they show: the first one stands for all.
    let base = engines.first().and_then(|(_, shapes)| shapes.first()).map(|shape| &shape.document);
    let liveness: Vec<String> = base.map(life_signs).unwrap_or_default();
    let mut variants: Vec<PresetVariantLiveness> = Vec::new();
    for (engine, Shape { variant, document }) in
        engines.iter().flat_map(|(e, shapes)| shapes.iter().map(move |s| (e, s)))
    {
        let Some(variant) = variant.as_ref().filter(|v| v.refuse.is_none() && v.is_on(*engine)) else { continue };
        let own = life_signs(document);
        if own != liveness && variants.iter().all(|known| known.liveness != own) {
            variants.push(PresetVariantLiveness { variant: variant.name.clone(), liveness: own });
        }
    }
    let actions = base.map(|document| document.actions.as_slice()).unwrap_or_default();
    let can = actions.iter().filter(|(_, doc)| doc.refused.is_none()).map(|(action, _)| action.name());
    Ok(PresetEntry {
        name: preset.name.clone(),
        title: preset.title.clone(),
        home: preset.home.clone(),
        engines: preset.engines.iter().map(ToString::to_string).collect(),
        checked: preset.checked.clone(),
        proof: preset.proof.to_string(),
        built_in: preset.built_in,
        detected: preset.is_detectable(),
        liveness,
        variant_liveness: variants,
        can: ["list"].into_iter().chain(can).map(str::to_owned).collect(),
    })
}

/// What shows life, best source first.
fn life_signs(document: &Document) -> Vec<String> {
    document.claim.liveness.iter().map(|source| source.name().to_owned()).collect()
}

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
    pub remedies: Vec<PresetNote>,
    /// The text: a preset's file, or the mapping's part of the config file.
    pub toml: String,
}

/// A sentence about something that has a name.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PresetNote {
    /// The name: of an option, a caution or an action; `text` or `sql` for a remedy.
    pub name: String,
    /// The sentence.
    pub text: String,
    /// The variant of the queue that it is about; null for all of them.
    pub variant: Option<String>,
}

/// All that is known of one queue, whose text that is.
pub fn preset_page(preset: &Preset, toml: String) -> Result<PresetPage, SpecError> {
    let shapes = shapes(preset)?;
    Ok(PresetPage {
        schema: "jobdoctor.presets-show/v1",
        name: preset.name.clone(),
        title: preset.title.clone(),
        home: preset.home.clone(),
        engines: preset.engines.iter().map(ToString::to_string).collect(),
        checked: preset.checked.clone(),
        proof: preset.proof.to_string(),
        proof_detail: proof(preset),
        built_in: preset.built_in,
        detected: preset.is_detectable(),
        options: preset.options.iter().map(option).collect(),
        cautions: notes(&shapes, cautions),
        refused: notes(&shapes, refused),
        remedies: notes(&shapes, remedies),
        toml,
    })
}

fn shapes(preset: &Preset) -> Result<Vec<(Engine, Vec<Shape>)>, SpecError> {
    preset.engines.iter().map(|engine| Ok((*engine, preset.shapes(*engine)?))).collect()
}

/// The notes of all shapes: what the queue as it is says on any engine, then what its variants say otherwise.
fn notes(shapes: &[(Engine, Vec<Shape>)], of: fn(&Document) -> Vec<(&str, &str)>) -> Vec<PresetNote> {
    let mut notes: Vec<PresetNote> = Vec::new();
    for shape in shapes.iter().flat_map(|(_, shapes)| shapes) {
        if shape.variant.as_ref().is_some_and(|variant| variant.refuse.is_some()) {
            continue;
        }
        let variant = shape.variant.as_ref().filter(|variant| !variant.is_mapping);
        let variant = variant.map(|variant| variant.name.clone());
        for (name, text) in of(&shape.document) {
            if notes.iter().all(|known| (known.name.as_str(), known.text.as_str()) != (name, text)) {
                notes.push(PresetNote { name: name.to_owned(), text: text.to_owned(), variant: variant.clone() });
            }
        }
    }
    notes
}

fn cautions(document: &Document) -> Vec<(&str, &str)> {
    let all = document.cautions.iter().chain(&document.interrupted.cautions);
    all.map(|(name, text)| (name.as_str(), text.as_str())).collect()
}

fn refused(document: &Document) -> Vec<(&str, &str)> {
    let refused = document.actions.iter().filter_map(|(action, doc)| Some((action.name(), doc.refused.as_deref()?)));
    let interrupted = &document.interrupted;
    let retry = interrupted.retry.iter().filter_map(|retry| Some(("retry", retry.refused.as_deref()?)));
    refused.chain(interrupted.never.iter().map(|why| ("interrupted", why.as_str()))).chain(retry).collect()
}

fn remedies(document: &Document) -> Vec<(&str, &str)> {
    let advice = document.advice.iter().flat_map(|advice| [("text", &advice.text), ("sql", &advice.sql)]);
    advice.filter_map(|(name, text)| Some((name, text.as_deref()?))).collect()
}

fn proof(preset: &Preset) -> String {
    let is_ours = preset.built_in && preset.checked.is_empty();
    if let Some((base, overridden)) = preset.extends.as_ref().filter(|(_, overridden)| !overridden.is_empty()) {
        let mut keys: Vec<&str> = overridden.iter().map(|(key, _)| key.as_str()).collect();
        keys.dedup();
        return format!("that of preset {base}; unproven is what it overrides: {}", keys.join(", "));
    }
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
    let values = match option.kind {
        OptionKind::Integer => "integer".to_owned(),
        OptionKind::Duration => "duration".to_owned(),
        OptionKind::Text => "text".to_owned(),
        OptionKind::Word => option.words.join(" or "),
    };
    let default = match &option.default {
        Some(default) => format!("{default} unless --option says otherwise"),
        None => "required: give it with --option".to_owned(),
    };
    let text = format!("{}; {values}; {default}", option.help);
    PresetNote { name: option.name.clone(), text, variant: None }
}

/// What stands above the TOML, by labels.
fn head(page: &PresetPage) -> Vec<(String, String)> {
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
    let label = |kind: &str, note: &PresetNote| match &note.variant {
        Some(variant) => (format!("{kind} {}", note.name), format!("{variant}: {}", note.text)),
        None => (format!("{kind} {}", note.name), note.text.clone()),
    };
    let notes = named.into_iter().flat_map(|(kind, notes)| notes.iter().map(move |note| label(kind, note)));
    let remedies = page.remedies.iter().map(|note| ("instead".to_owned(), label("", note).1));
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
    // A tab moves a terminal's cursor forward only, and is TOML.
    let toml = page.toml.lines().map(|line| line.split('\t').map(inert).collect::<Vec<_>>().join("\t"));
    lines.chain(toml).map(|line| line + "\n").collect()
}

const MADE: &str = "<!-- Made by the program from the presets: JOBDOCTOR_BLESS=1 cargo test writes it anew. -->";

pub fn markdown(page: &PresetPage) -> String {
    let fact = |(label, text): (String, String)| format!("- **{}**: {}\n", plain(&label), plain(&text));
    let head: String = head(page).into_iter().map(fact).collect();
    format!("{MADE}\n\n# {}\n\n{}.\n\n{head}\n```toml\n{}```\n", page.name, plain(&page.title), page.toml)
}

/// The table of all queues, with links to their pages.
pub fn index(document: &Presets) -> String {
    let mut text = format!(
        "{MADE}\n\n# The queues that jobdoctor knows\n\n\
         **Liveness** is what shows life, best first; after a semicolon, what some versions of the queue have\n\
         instead. **Proof**: `live`, the real library is run in our tests; `schema`, our own copy of its tables, after its\n\
         source.\n\n\
         | preset | queue | engines | liveness | can | proof | checked with |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n"
    );
    let columns = columns();
    for preset in &document.presets {
        let rest = columns.row(preset).into_iter().skip(1).map(|cell| plain(&cell.text).replace('|', "\\|"));
        let rest = rest.collect::<Vec<_>>().join(" | ");
        text.push_str(&format!("| [{0}]({0}.md) | {rest} |\n", preset.name));
    }
    text
}

/// Text that Markdown shows as it is. What stands in backquotes is that already.
fn plain(text: &str) -> String {
    let backslash = |c| matches!(c, '*' | '<' | '[' | '\\').then_some('\\');
    let escaped = |part: &str| part.chars().flat_map(|c| backslash(c).into_iter().chain([c])).collect();
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(n, part)| if n % 2 == 0 { escaped(part) } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}
