//! Variants: how each is recognised, and what it changes, line by line.

use super::page::{PresetFact, keyed, word};
use super::sections::sections;
use super::words;
use crate::preset::{Preset, Profile, Shape, VariantProfile};

/// What is said of a variant on each engine that has it.
type OnEngines = Vec<(String, Vec<String>)>;

/// The variants of all engines, in the order of the document. One that is the same on several is told once.
pub(super) fn variants(preset: &Preset, shapes: &[Shape]) -> Vec<PresetFact> {
    let mut told: Vec<(&str, OnEngines)> = Vec::new();
    for shape in shapes {
        let Some(variant) = &shape.variant else { continue };
        let base = shapes.iter().find(|base| base.engine == shape.engine && base.variant.is_none());
        let changes = changes(variant, shape.profile.as_ref(), base.and_then(|base| base.profile.as_ref()));
        match told.iter_mut().find(|(name, _)| *name == variant.name) {
            Some((_, engines)) => engines.push((shape.engine.to_string(), changes)),
            None => told.push((&variant.name, vec![(shape.engine.to_string(), changes)])),
        }
    }
    let mut facts = Vec::new();
    if !preset.exactly_one().is_empty() {
        let names = preset.exactly_one().join("; ");
        facts.push(word("exactly one of", format!("{names}. A queue with none or several is refused")));
    }
    for (name, engines) in told {
        let is_alike = engines.iter().all(|(_, words)| Some(words) == engines.first().map(|(_, first)| first));
        for (engine, words) in engines.iter().take(if is_alike { 1 } else { engines.len() }) {
            let engine = (!is_alike).then(|| engine.clone());
            facts.extend(words.iter().map(|text| PresetFact { engine: engine.clone(), ..word(name, text.as_str()) }));
        }
    }
    facts
}

/// How a variant is recognised, and what it changes, line by line.
fn changes(variant: &VariantProfile, profile: Option<&Profile>, base: Option<&Profile>) -> Vec<String> {
    let conditions: Vec<String> = variant.conditions.iter().map(words::condition).collect();
    let mut changes = vec![format!("recognised: {}", conditions.join("; and "))];
    changes.extend(variant.refused.as_ref().map(|why| format!("refused: {why}")));
    let (Some(profile), Some(base)) = (profile, base) else { return changes };
    for (section, was) in sections(profile).iter().zip(&sections(base)) {
        let (now, was) = (keyed(&section.facts), keyed(&was.facts));
        let place = |fact: &PresetFact| format!("{}, {}", section.title.to_lowercase(), fact.label);
        for (key, fact) in &now {
            if was.iter().all(|(other, old)| other != key || old.text != fact.text) {
                changes.push(format!("{}: {}", place(fact), fact.text));
            }
        }
        for (key, fact) in &was {
            if now.iter().all(|(other, _)| other != key) {
                changes.push(format!("{}: not there", place(fact)));
            }
        }
    }
    changes
}
