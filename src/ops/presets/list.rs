use crate::report::{PresetEntry, PresetVariantLiveness, Presets};
use crate::spec::{Catalog, Preset, Profile, Shape, SpecError};

/// Lists the queues that are known.
///
/// # Errors
/// Never for presets that were read: see [`Preset::shapes`].
pub fn presets(catalog: &Catalog) -> Result<Presets, SpecError> {
    let mut presets: Vec<PresetEntry> = catalog.iter().map(entry).collect::<Result<_, _>>()?;
    presets.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Presets { schema: "jobdoctor.presets/v1", presets })
}

fn entry(preset: &Preset) -> Result<PresetEntry, SpecError> {
    let shapes = preset.shapes()?;
    // Engines differ in how they spell things, not in what they show: the first one stands for all.
    let base = shapes.first().and_then(|shape| shape.profile.as_ref());
    let liveness: Vec<String> = base.map(life_signs).unwrap_or_default();
    let mut variants: Vec<PresetVariantLiveness> = Vec::new();
    for Shape { variant, profile, .. } in &shapes {
        if let (Some(variant), Some(profile)) = (variant, profile) {
            let own = life_signs(profile);
            if own != liveness && variants.iter().all(|known| known.liveness != own) {
                variants.push(PresetVariantLiveness { variant: variant.name.clone(), liveness: own });
            }
        }
    }
    let actions = base.map(|profile| profile.actions.as_slice()).unwrap_or_default();
    let can = actions.iter().filter(|action| action.refused.is_none()).map(|action| action.action.name());
    Ok(PresetEntry {
        name: preset.name.clone(),
        title: preset.title.clone(),
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

fn life_signs(profile: &Profile) -> Vec<String> {
    profile.life_signs().into_iter().map(str::to_owned).collect()
}
