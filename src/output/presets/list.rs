use super::page::shapes;
use crate::output::columns::{Columns, column};
use crate::output::format::Table;
use crate::preset::{Catalog, Document, Preset, Shape, SpecError};
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

pub(super) fn columns<'a>() -> Columns<'a, PresetEntry> {
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

/// All of them, one a line.
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

/// Lists the queues that are known.
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
        proof: preset.proof.name().to_owned(),
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
