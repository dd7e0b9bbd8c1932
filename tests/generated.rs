//! Completions, manual pages, schemas, the pages of the presets and the README's table of them are made by the program and committed; here
//! they are compared. Run the tests with JOBDOCTOR_BLESS=1 to write them anew.

use crate::readme::block::WRITING;
use clap_complete::Shell;
use jobdoctor::cli::{completions, man_pages, preset_pages};
use jobdoctor::output::presets::{PresetPage, Presets, presets};
use jobdoctor::output::*;
use jobdoctor::preset::Catalog;
use schemars::{Schema, schema_for};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[expect(clippy::disallowed_methods, reason = "a test is asked to bless through the environment")]
fn blesses() -> bool {
    std::env::var_os("JOBDOCTOR_BLESS").is_some()
}

fn compare(folder: &str, files: Vec<(String, Vec<u8>)>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    if blesses() {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("the folder can be made");
        for (name, text) in &files {
            fs::write(folder.join(name), text).expect("the file can be written");
        }
    }
    for (name, text) in &files {
        let path = folder.join(name);
        let committed = fs::read(&path).unwrap_or_default();
        assert!(committed == *text, "{} is out of date: run the tests with JOBDOCTOR_BLESS=1", path.display());
    }
    let expected: BTreeSet<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    for entry in fs::read_dir(&folder).expect("the folder can be read").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(expected.contains(name.as_str()), "{} belongs to nothing", entry.path().display());
    }
}

#[test]
fn completions_are_up_to_date() {
    let shells = [
        (Shell::Bash, "jobdoctor.bash"),
        (Shell::Elvish, "jobdoctor.elv"),
        (Shell::Fish, "jobdoctor.fish"),
        (Shell::PowerShell, "_jobdoctor.ps1"),
        (Shell::Zsh, "_jobdoctor"),
    ];
    compare("completions", shells.map(|(shell, name)| (name.to_owned(), completions(shell))).to_vec());
}

#[test]
fn manual_pages_are_up_to_date() {
    compare("man", man_pages().expect("pages are written to memory"));
}

#[test]
fn pages_of_the_presets_are_up_to_date() {
    compare("docs/presets", preset_pages().expect("every built-in preset is sound"));
}

/// The JSON Schema of each document as its type has it now.
fn derived_schemas() -> [(&'static str, Schema); 22] {
    let schemas = [
        ("adopt", schema_for!(Adopt)),
        ("adopt-tables", schema_for!(AdoptTables)),
        ("check", schema_for!(Check)),
        ("config-check", schema_for!(ConfigCheck)),
        ("env", schema_for!(Env)),
        ("error", schema_for!(ErrorDocument)),
        ("health", schema_for!(Health)),
        ("history", schema_for!(History)),
        ("history-run", schema_for!(HistoryOne)),
        ("init", schema_for!(Init)),
        ("log", schema_for!(LogLine)),
        ("owners", schema_for!(Owners)),
        ("plan", schema_for!(SavedPlan)),
        ("presets", schema_for!(Presets)),
        ("presets-show", schema_for!(PresetPage)),
        ("reclaim", schema_for!(Reclaim)),
        ("show", schema_for!(Show)),
        ("stale", schema_for!(Stale)),
        ("stats", schema_for!(Stats)),
        ("stats-runtimes", schema_for!(StatsRuntimes)),
        ("status", schema_for!(Status)),
        ("targets", schema_for!(Targets)),
    ];
    schemas.map(|(name, mut schema)| {
        schema.insert("title".to_owned(), format!("jobdoctor.{name}/v1").into());
        (name, schema)
    })
}

#[test]
fn schemas_are_up_to_date() {
    let files = derived_schemas().map(|(name, schema)| {
        let schema = serde_json::to_string_pretty(&schema).unwrap();
        (format!("{name}.json"), format!("{schema}\n").into_bytes())
    });
    compare("docs/schemas", files.into());
}

/// Scripts are written against the schemas, so every field says what it is.
#[test]
fn schemas_describe_every_field() {
    fn silent(schema: &Value, path: &str, found: &mut Vec<String>) {
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{name}");
            if field["description"].is_null() && field["const"].is_null() {
                found.push(path.clone());
            }
            silent(field, &path, found);
        }
        schema["$defs"].as_object().into_iter().flatten().for_each(|(name, def)| silent(def, name, found));
    }
    let mut found = Vec::new();
    for (name, schema) in derived_schemas() {
        silent(schema.as_value(), name, &mut found);
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// What stands around the names of the queues in README.md.
const NAMES: [&str; 2] = ["<!-- made from the presets: JOBDOCTOR_BLESS=1 -->\n", "<!-- end -->\n"];

#[test]
fn the_queues_in_the_readme_are_those_of_the_presets() {
    let _writing = WRITING.lock().unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let (before, rest) = readme.split_once(NAMES[0]).expect("the beginning of the names");
    let (names, after) = rest.split_once(NAMES[1]).expect("their end");
    let made = names_of_queues();
    if blesses() {
        fs::write(&path, [before, NAMES[0], &made, NAMES[1], after].concat()).unwrap();
    } else {
        assert!(names == made, "the queues of README.md are out of date: run the tests with JOBDOCTOR_BLESS=1");
    }
}

/// Each queue with its language, in lines of 128 columns.
fn names_of_queues() -> String {
    let known = presets(&Catalog::built_in()).unwrap();
    let titles = known.presets.iter().map(|preset| preset.title.split_once(": ").expect("a colon in the title").0);
    let text = titles.collect::<Vec<_>>().join(", ");
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= 128 && !line.is_empty() => line.push_str(&format!(" {word}")),
            Some(line) if line.is_empty() => line.push_str(word),
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n") + "\n"
}
