use crate::report::{PresetEntry, Presets};
use crate::spec::Catalog;

/// Lists the queues that are known.
pub fn presets(catalog: &Catalog) -> Presets {
    let mut presets: Vec<PresetEntry> = catalog
        .iter()
        .map(|preset| PresetEntry {
            name: preset.name.clone(),
            title: preset.title.clone(),
            engines: preset.engines.iter().map(ToString::to_string).collect(),
            checked: preset.checked.clone(),
            proof: preset.proof.name().to_owned(),
            built_in: preset.built_in,
            detected: preset.is_detectable(),
        })
        .collect();
    presets.sort_by(|a, b| a.name.cmp(&b.name));
    Presets { schema: "jobdoctor.presets/v1", presets }
}
