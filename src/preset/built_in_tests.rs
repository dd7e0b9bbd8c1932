//! What every built-in preset must say.

use super::catalog::{Catalog, Preset};
use super::document::Document;

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
fn every_library_has_its_remedy_and_says_what_a_late_worker_does() {
    for preset in Catalog::built_in().unwrap().iter().filter(|preset| !OURS.contains(&preset.name.as_str())) {
        for document in documents(preset) {
            let is_said = document.cautions.iter().any(|(name, _)| name == "late");
            assert!(is_said && document.advice.is_some(), "{} lacks [caution] `late` or [advice]", preset.name);
        }
    }
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
