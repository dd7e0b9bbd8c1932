//! Variants: how each is recognised, and what it changes, line by line.

use super::page::{Entry, keyed};
use super::sections::{Label, sections, word};
use super::{PresetQueue, PresetShape, PresetsShow};

/// What is said of a variant on each engine that has it.
type OnEngines<'d> = Vec<(&'d str, Vec<String>)>;

/// The variants of all engines, in the order of the document. One that is the same on several is told once.
pub(super) fn variants(document: &PresetsShow) -> Vec<Entry> {
    let mut told: Vec<(&str, OnEngines<'_>)> = Vec::new();
    for shape in &document.shapes {
        let Some(variant) = &shape.variant else { continue };
        let base = document.shapes.iter().find(|base| base.engine == shape.engine && base.variant.is_none());
        let words = words(shape, base.and_then(|base| base.queue.as_ref()));
        match told.iter_mut().find(|(name, _)| name == variant) {
            Some((_, engines)) => engines.push((&shape.engine, words)),
            None => told.push((variant, vec![(&shape.engine, words)])),
        }
    }
    let mut entries = Vec::new();
    if !document.exactly_one.is_empty() {
        let names = document.exactly_one.join("; ");
        entries.push(Entry::of(word("exactly one of", format!("{names}. A queue with none or several is refused"))));
    }
    for (name, engines) in told {
        let is_alike = engines.iter().all(|(_, words)| Some(words) == engines.first().map(|(_, first)| first));
        for (engine, words) in engines.iter().take(if is_alike { 1 } else { engines.len() }) {
            let only = (!is_alike).then(|| (*engine).to_owned());
            entries.extend(words.iter().map(|text| Entry {
                label: Label::Word(name.to_owned()),
                text: text.clone(),
                only: only.clone(),
            }));
        }
    }
    entries
}

fn words(shape: &PresetShape, base: Option<&PresetQueue>) -> Vec<String> {
    let mut words = vec![format!("recognised: {}", shape.recognised_by.join("; and "))];
    words.extend(shape.refused.as_ref().map(|why| format!("refused: {why}")));
    if let (Some(queue), Some(base)) = (&shape.queue, base) {
        let before = sections(base);
        for (section, was) in sections(queue).iter().zip(&before) {
            let (now, was) = (keyed(&section.lines), keyed(&was.lines));
            let place = |label: &Label| format!("{}, {}", section.title.to_lowercase(), label.text());
            for (key, line) in &now {
                if was.iter().all(|(other, old)| other != key || old.text != line.text) {
                    words.push(format!("{}: {}", place(&line.label), line.text));
                }
            }
            for (key, line) in &was {
                if now.iter().all(|(other, _)| other != key) {
                    words.push(format!("{}: not there", place(&line.label)));
                }
            }
        }
    }
    words
}
