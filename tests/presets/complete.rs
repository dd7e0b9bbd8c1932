//! Nothing is missing of any built-in preset: versions, a page, fixtures and scenes. The words are counted by a unit test,
//! `preset::catalog`.

use jobdoctor::model::Engine;
use jobdoctor::preset::{Catalog, Preset, Proof};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Presets of our own tables. They have no library, so no versions of one and no remedy of one; and the conformance suite
/// runs them on every store, so no scenes.
const OURS: [&str; 2] = ["lease", "simple"];

/// What every queue library does to somebody sooner or later.
const SCENES: [&str; 9] = [
    "plain-orphan",
    "living-claim",
    "exhausted",
    "unique-twin-waiting",
    "owner-row-missing",
    "owner-restarted",
    "cancelled-in-flight",
    "scheduled-retry",
    "late-finish",
];

#[test]
fn nothing_is_missing() {
    let catalog = Catalog::built_in();
    let mut missing = Vec::new();
    for preset in catalog.iter() {
        let mut lacks = words(preset);
        lacks.extend(files(preset));
        missing.extend(lacks.into_iter().map(|what| format!("{}: {what}", preset.name)));
    }
    assert!(missing.is_empty(), "{} missing:\n{}", missing.len(), missing.join("\n"));
}

#[test]
fn every_file_is_a_preset_of_its_name() {
    let catalog = Catalog::built_in();
    let known: BTreeSet<String> = catalog.iter().map(|preset| preset.name.clone()).collect();
    assert_eq!(known, stems(&root().join("src/preset/presets"), "toml"));
    assert!(OURS.iter().all(|name| known.contains(*name)));
}

fn is_ours(preset: &Preset) -> bool {
    OURS.contains(&preset.name.as_str())
}

/// What the document does not say.
fn words(preset: &Preset) -> BTreeSet<String> {
    let mut lacks = BTreeSet::new();
    if preset.checked.is_empty() && !is_ours(preset) {
        lacks.insert("`checked` names no version".to_owned());
    }
    if preset.home.is_none() && !is_ours(preset) {
        lacks.insert("`home`, the address of its project's page".to_owned());
    }
    if !preset.title.contains(": ") {
        lacks.insert("a colon in `title`, behind the queue's name and language".to_owned());
    }
    if preset.proof == Proof::Live && !is_ours(preset) && preset.live.is_empty() {
        lacks.insert("`live` names no version that the tests run".to_owned());
    }
    let unchecked = preset.live.iter().filter(|version| !preset.checked.contains(version));
    lacks.extend(unchecked.map(|version| format!("`live` names {version}, which `checked` does not")));
    lacks
}

/// What is not there beside the document.
fn files(preset: &Preset) -> Vec<String> {
    let mut lacks = Vec::new();
    if !root().join(format!("docs/presets/{}.md", preset.name)).exists() {
        lacks.push("its page in docs/presets (JOBDOCTOR_BLESS=1 writes it)".to_owned());
    }
    if is_ours(preset) {
        return lacks;
    }
    if !preset.is_detectable() {
        lacks.push("[detect]".to_owned());
    }
    for engine in Engine::ALL {
        let place = match engine {
            Engine::Postgres => format!("fixtures/schemas/{}", preset.name),
            Engine::Sqlite => format!("fixtures/schemas/{}/sqlite", preset.name),
        };
        let versions = stems(&root().join(&place), "sql");
        match (preset.engines.contains(&engine), versions.is_empty()) {
            (true, true) => lacks.push(format!("{place}/VERSION.sql")),
            (false, false) => lacks.push(format!("`engines` without {engine}, for which {place} has tables")),
            (true, false) => lacks.extend(scenes(&place, &versions)),
            (false, true) => {}
        }
    }
    lacks
}

/// What is not there beside an engine's tables. The scenes are played on them without naming the preset: it must be recognised there.
fn scenes(place: &str, versions: &BTreeSet<String>) -> Vec<String> {
    let folder = root().join(place);
    let (outcomes, played) = (stems(&folder, "outcome"), stems(&folder.join("scenes"), "sql"));
    let outcomes = versions.difference(&outcomes).map(|version| format!("{place}/{version}.outcome"));
    let scenes = SCENES.iter().filter(|scene| !played.contains(**scene)).map(|s| format!("{place}/scenes/{s}.sql"));
    outcomes.chain(scenes).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// The names of the files in a folder that end so; none where there is no folder.
fn stems(folder: &Path, extension: &str) -> BTreeSet<String> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeSet::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let paths = paths.filter(|path| path.is_file() && path.extension().is_some_and(|found| found == extension));
    paths.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect()
}
