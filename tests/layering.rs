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

fn for_each_source(directory: &Path, each: &mut dyn FnMut(&Path, &str)) {
    for entry in fs::read_dir(directory).expect("a layer can be read").flatten() {
        let path = entry.path();
        if path.is_dir() {
            for_each_source(&path, each);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            each(&path, &fs::read_to_string(&path).expect("a source file can be read"));
        }
    }
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

/// Layers whose texts name no flag: they return kinds, and `cli` and `output` word them.
const WITHOUT_FLAGS: [&str; 5] = ["history", "model", "ops", "policy", "store"];

/// The flags that string literals of a source name outside of its unit tests.
fn named_flags(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let code = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut flags = Vec::new();
    let (mut is_literal, mut rest) = (false, code.as_str());
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '\\' if is_literal => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            // A quote as a character is no beginning of a text.
            '\'' if !is_literal && rest.starts_with("'\"'") => 3,
            c => c.len_utf8(),
        };
        is_literal ^= c == '"';
        if let Some(flag) =
            rest.strip_prefix("--").filter(|flag| is_literal && flag.starts_with(|c: char| c.is_ascii_lowercase()))
        {
            flags.push(flag.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect());
        }
        rest = &rest[length..];
    }
    flags
}

#[test]
fn lower_layers_name_no_flags() {
    let mut found = Vec::new();
    for layer in WITHOUT_FLAGS {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(layer);
        for_each_source(&directory, &mut |path, source| {
            found.extend(named_flags(source).into_iter().map(|flag| format!("{}: --{flag}", path.display())));
        });
    }
    assert!(found.is_empty(), "only cli and output name flags:\n{}", found.join("\n"));
}

/// The mutant: sources that name a flag, and sources that do not.
#[test]
fn a_flag_in_a_lower_layer_is_caught() {
    assert_eq!(named_flags(r#"fn f() { g("leave --delay out", "or\n--max-jobs 5") }"#), ["delay", "max-jobs"]);
    assert_eq!(named_flags("let hint = \"the first line\n    --apply on the next\";"), ["apply"]);
    assert_eq!(named_flags(r#"match c { '"' => f("x"), '\'' => g("say --older") }"#), ["older"]);
    let flagless = [r#"// see "--apply""#, r#"f("a", x --y, "b -- c")"#, "#[cfg(test)]\nmod tests { f(\"--apply\") }"];
    flagless.iter().for_each(|source| assert!(named_flags(source).is_empty(), "{source}"));
}

/// Where an engine may be named: among its facts and in its adapters.
const NAME_ENGINES: [&str; 2] = ["model", "store"];

/// The engines that a source names outside of its unit tests.
fn named_engines(source: &str) -> Vec<&str> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let names = ["Engine::Postgres", "Engine::Sqlite", "\"postgres\"", "\"sqlite\"", "Engine::*", "Engine::{"];
    code.flat_map(|line| names.into_iter().filter(|name| line.contains(name))).collect()
}

/// What differs between engines is a named fact of `Engine`, or lies in `store`.
#[test]
fn only_stores_name_engines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for_each_source(&root.join("src"), &mut |path, source| {
        let may = NAME_ENGINES.iter().any(|layer| path.starts_with(root.join("src").join(layer)));
        let names = if may { Vec::new() } else { named_engines(source) };
        found.extend(names.into_iter().map(|name| format!("{}: {name}", path.display())));
    });
    assert!(found.is_empty(), "say as a fact of Engine what is different there:\n{}", found.join("\n"));
}

/// The mutant: sources that name an engine, and sources that do not.
#[test]
fn an_engine_above_the_stores_is_caught() {
    assert_eq!(named_engines("if spec.queue.engine == Engine::Sqlite {"), ["Engine::Sqlite"]);
    assert_eq!(named_engines("match engine {\n    Engine::Postgres => 1,\n"), ["Engine::Postgres"]);
    assert_eq!(named_engines("use crate::model::Engine::{Postgres, Sqlite};"), ["Engine::{"]);
    assert_eq!(named_engines("target.engine == \"sqlite\""), ["\"sqlite\""]);
    let nameless = ["// Engine::Sqlite", "Engine::ALL", "engine.has_roles()", "#[cfg(test)]\nf(Engine::Sqlite)"];
    nameless.iter().for_each(|source| assert!(named_engines(source).is_empty(), "{source}"));
}

/// The mutant: the same check on sources that break the rule.
#[test]
fn an_upward_arrow_is_caught() {
    assert_eq!(violations("policy", "use crate::store::Reader;"), ["policy -> store"]);
    assert_eq!(violations("store", "use crate::policy::judge;"), ["store -> policy"]);
    assert_eq!(violations("model", "fn f(spec: &crate::preset::Jobs) {}"), ["model -> preset"]);
    assert_eq!(violations("output", "use crate::{\n    store::Reader,\n    cli::Ui,\n};").len(), 2);
    assert_eq!(violations("ops", "use crate::cli::Ui;"), ["ops -> cli"]);
    assert_eq!(violations("history", "use crate::store::Store;"), ["history -> store"]);
    assert_eq!(violations("store", "use crate::history::Head;"), ["store -> history"]);
    assert!(violations("ops", "// crate::cli is above\nuse crate::model::Cell;").is_empty());
    assert!(violations("report", "use crate::output::Job; use crate::model::Timestamp;").is_empty());
}

/// The most lines and files of each layer, unit tests included. What it has, rounded up to 50: a change that
/// needs more says in its commit why, and what it removed instead.
const BUDGETS: [(&str, usize, usize); 8] = [
    ("cli", 11_100, 70),
    ("history", 950, 5),
    ("model", 1_600, 12),
    ("ops", 12_150, 68),
    ("output", 7_850, 44),
    ("policy", 4_450, 23),
    ("preset", 8_100, 36),
    ("store", 13_100, 69),
];

/// How a layer of so many lines and files exceeds its budget.
fn excess((layer, most_lines, most_files): (&str, usize, usize), lines: usize, files: usize) -> Option<String> {
    let is_over = lines > most_lines || files > most_files;
    is_over.then(|| format!("{layer}: {lines} lines of {most_lines}, {files} files of {most_files}"))
}

#[test]
fn layers_keep_their_budgets() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let measured = BUDGETS.into_iter().filter_map(|budget| {
        let (mut lines, mut files) = (0, 0);
        for_each_source(&root.join(budget.0), &mut |_, source| {
            (lines, files) = (lines + source.lines().count(), files + 1);
        });
        excess(budget, lines, files)
    });
    let over: Vec<String> = measured.collect();
    assert!(over.is_empty(), "over budget:\n{}", over.join("\n"));
}

/// The mutant: one line or one file too many.
#[test]
fn a_layer_over_its_budget_is_caught() {
    let budget = ("model", 10, 2);
    assert_eq!(excess(budget, 10, 2), None);
    assert_eq!(excess(budget, 11, 2).as_deref(), Some("model: 11 lines of 10, 2 files of 2"));
    assert!(excess(budget, 10, 3).is_some());
}
