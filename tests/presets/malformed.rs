use jobdoctor::model::Engine;
use jobdoctor::preset::{Catalog, Preset};
use std::fs;
use std::path::Path;

/// Each file says in its first line what is to be said about it.
#[test]
fn malformed_presets_are_refused_with_place_and_advice() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/presets/invalid");
    let mut wrong = Vec::new();
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    files.sort();
    for path in &files {
        let text = fs::read_to_string(path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let expected = text.lines().next().and_then(|line| line.strip_prefix("# expect: ")).unwrap_or_default();
        let said = match Preset::parse(&format!("preset {name}"), &name, &text) {
            Ok(_) => "nothing".to_owned(),
            Err(error) => error.to_string(),
        };
        if said != expected {
            wrong.push(format!("{name}\n  expected: {expected}\n  said:     {said}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(files.len() >= 14);
}

#[test]
fn built_in_presets_are_sound_and_name_their_tables() {
    let catalog = Catalog::built_in();
    for preset in catalog.iter() {
        if let Err(error) = Preset::parse(&format!("preset {}", preset.name), &preset.name, preset.text) {
            panic!("{error}");
        }
        for engine in Engine::ALL.into_iter().filter(|engine| preset.engines.contains(engine)) {
            assert!(!preset.table_names(engine, &Default::default()).is_empty(), "{} on {engine}", preset.name);
        }
    }
}
