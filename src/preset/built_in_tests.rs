//! What every built-in preset must hold to: what it does is said in plain words.

use super::catalog::{Catalog, Preset};
use super::document::{Document, StepDoc};
use super::fields::Fragment;
use super::template::{Marker, Piece, Template};
use std::collections::BTreeSet;

/// The presets of our own tables, which have no library: no remedy of one, and no late worker of one.
const OURS: [&str; 2] = ["lease", "simple"];

/// The document of a preset on each of its engines, with each of its variants.
fn documents(preset: &Preset) -> Vec<Document> {
    let shapes = preset.engines.iter().flat_map(|engine| preset.shapes(*engine).unwrap());
    shapes
        .filter(|shape| shape.variant.as_ref().is_none_or(|variant| variant.refuse.is_none()))
        .map(|s| s.document)
        .collect()
}

#[test]
fn every_action_is_described_in_words() {
    let mut lacks = BTreeSet::new();
    for preset in Catalog::built_in().unwrap().iter() {
        let mut lack = |what: String| lacks.insert(format!("{}: {what}", preset.name));
        let documents = documents(preset);
        let mut expressions = BTreeSet::new();
        for document in &documents {
            if !OURS.contains(&preset.name.as_str()) {
                if document.cautions.iter().all(|(name, _)| name != "late") {
                    lack("[caution] `late`".to_owned());
                }
                if document.advice.is_none() {
                    lack("[advice]".to_owned());
                }
            }
            for (action, doc) in &document.actions {
                let mut set: Vec<&(String, Fragment)> = Vec::new();
                set.extend(doc.delayed.iter().flat_map(|delayed| &delayed.set));
                for (n, step) in doc.steps.iter().enumerate() {
                    match step {
                        StepDoc::Sql { does: None, .. } => {
                            lack(format!("`does` of step {} of {action}", n + 1));
                        }
                        StepDoc::Sql { .. } => {}
                        StepDoc::Update { set: values, .. } => set.extend(values),
                    }
                }
                for (column, Fragment { sql: value, .. }) in set {
                    let words = document.words_for(column);
                    if is_plain(value) || (words.is_none() && value.constant().is_some()) {
                        continue;
                    }
                    expressions.insert(column.clone());
                    if words.is_none() {
                        lack(format!("[words] `{column}`, set by {action}"));
                    }
                }
            }
        }
        for (column, _) in documents.iter().flat_map(|document| &document.words) {
            if !expressions.contains(column) {
                lack(format!("[words] `{column}` is about no column that an action sets"));
            }
        }
    }
    assert!(lacks.is_empty(), "{} missing:\n{}", lacks.len(), lacks.into_iter().collect::<Vec<_>>().join("\n"));
}

#[test]
fn every_library_says_in_which_zone_it_writes_times_without_one() {
    for preset in Catalog::built_in().unwrap().iter() {
        for document in documents(preset) {
            let times = document.time.columns.values().chain(&document.time.default);
            let is_zoneless =
                times.map(super::encoding::Encodings::said).any(|said| said == super::encoding::Said::ByNobody);
            assert!(!is_zoneless || document.time_zone.is_some(), "{} lacks `time_zone`", preset.name);
        }
    }
}

/// Whether a page says by itself what such a value is.
fn is_plain(value: &Template) -> bool {
    use Marker::{Now, Reason, RunAt};
    matches!(value.0.as_slice(), [Piece::Marker(Now(None) | RunAt(None) | Reason)])
}
