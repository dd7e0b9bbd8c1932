//! Arrows point down only. This reads what each file of `src/` says of the rest of the crate and fails on an arrow that
//! points up or sideways.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What each layer may know. `cli` stands on top and may know everything.
const MAY_KNOW: [(&str, &[&str]); 7] = [
    ("model", &[]),
    ("preset", &["model"]),
    ("policy", &["model", "preset"]),
    ("store", &["model", "preset"]),
    ("history", &["model"]),
    ("output", &["model", "policy", "preset"]),
    ("ops", &["history", "model", "output", "policy", "preset", "store"]),
];

/// The layers that a source text names after `crate::`, inside braces too.
fn named_layers(source: &str) -> Vec<String> {
    let code: String =
        source.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut layers = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
        match rest.strip_prefix('{') {
            Some(list) => {
                let list = &list[..list.find("};").unwrap_or(list.len())];
                layers.extend(list.split(',').map(|part| name(part.trim())).filter(|layer| !layer.is_empty()));
            }
            None => layers.push(name(rest)),
        }
    }
    layers
}

/// The arrows of a file that must not be.
fn violations(layer: &str, source: &str) -> Vec<String> {
    let allowed: BTreeMap<&str, &[&str]> = MAY_KNOW.into_iter().collect();
    let Some(allowed) = allowed.get(layer) else { return Vec::new() };
    named_layers(source)
        .into_iter()
        .filter(|named| named != layer && MAY_KNOW.iter().map(|(l, _)| *l).chain(["cli"]).any(|known| known == named))
        .filter(|named| !allowed.contains(&named.as_str()))
        .map(|named| format!("{layer} -> {named}"))
        .collect()
}

fn check(directory: &Path, layer: Option<&str>, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).expect("src/ can be read").flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            check(&path, layer.or(Some(&name)), found);
        } else if name.ends_with(".rs")
            && let Some(layer) = layer
        {
            let source = fs::read_to_string(&path).expect("a source file can be read");
            let arrows = violations(layer, &source);
            found.extend(arrows.into_iter().map(|arrow| format!("{}: {arrow}", path.display())));
        }
    }
}

#[test]
fn arrows_point_down() {
    let mut found = Vec::new();
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), None, &mut found);
    assert!(found.is_empty(), "these arrows point up or sideways:\n{}", found.join("\n"));
}

#[test]
fn every_layer_is_held_to_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in fs::read_dir(src).expect("src/ can be read").flatten().filter(|entry| entry.path().is_dir()) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let known = name == "cli" || MAY_KNOW.iter().any(|(layer, _)| *layer == name);
        assert!(known, "say in MAY_KNOW what the new layer `{name}` may know");
    }
}

/// The mutant: the same check on sources that break the rule.
#[test]
fn an_upward_arrow_is_caught() {
    assert_eq!(violations("policy", "use crate::store::Reader;"), ["policy -> store"]);
    assert_eq!(violations("store", "use crate::policy::judge;"), ["store -> policy"]);
    assert_eq!(violations("model", "fn f(spec: &crate::preset::QueueSpec) {}"), ["model -> preset"]);
    assert_eq!(violations("output", "use crate::{\n    store::Reader,\n    cli::Ui,\n};").len(), 2);
    assert_eq!(violations("ops", "use crate::cli::Ui;"), ["ops -> cli"]);
    assert_eq!(violations("history", "use crate::store::Store;"), ["history -> store"]);
    assert_eq!(violations("store", "use crate::history::Head;"), ["store -> history"]);
    assert!(violations("ops", "// crate::cli is above\nuse crate::model::Cell;").is_empty());
    assert!(violations("report", "use crate::output::Job; use crate::model::Timestamp;").is_empty());
}
