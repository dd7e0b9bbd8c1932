//! Writes the lists of the built-in presets and of the schemas, and the version with commit and target that `--version` prints.

#![forbid(unsafe_code)]

use std::error::Error;
use std::fmt::Debug;
use std::path::Path;
use std::process::Command;
use std::{env, fs};
use toml::Value;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    write_list("schemas", &listed("docs/schemas", "json")?)?;
    write_list("presets", &presets()?)?;
    let version = format!("{} ({}, {})", variable("CARGO_PKG_VERSION")?, commit()?, variable("TARGET")?);
    println!("cargo:rustc-env=JOBDOCTOR_VERSION={version}");
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "cargo speaks to a build script through the environment")]
fn variable(name: &str) -> Result<String, env::VarError> {
    env::var(name)
}

fn write_list(list: &str, items: &impl Debug) -> Result<(), Box<dyn Error>> {
    let out = variable("OUT_DIR")?;
    fs::write(Path::new(&out).join(list).with_extension("rs"), format!("&{items:#?}\n"))?;
    Ok(())
}

/// Every file in the folder, by name and with its text. Indentation is left out of JSON: it would take a third of the room.
fn listed(folder: &str, extension: &str) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    println!("cargo:rerun-if-changed={folder}");
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match (path.file_stem().and_then(|stem| stem.to_str()), path.extension()) {
            (Some(name), Some(found)) if found == extension => {
                files.push((name.to_owned(), fs::read_to_string(&path)?));
            }
            _ => return Err(format!("{}: names in {folder} end in .{extension}", path.display()).into()),
        }
    }
    if extension == "json" {
        files.iter_mut().for_each(|(_, text)| *text = text.lines().map(str::trim_start).collect());
    }
    files.sort();
    Ok(files)
}

/// A preset's name, its text, the names of its tables on any engine and in any variant, a line each, and whether it is
/// detected.
type Listed = (String, String, String, bool);

/// The presets. A run of the program asks for the tables of all, and parses those alone whose tables are there.
fn presets() -> Result<Vec<Listed>, Box<dyn Error>> {
    let with_tables = |(name, text): (String, String)| {
        let document: toml::Table = toml::from_str(&text).map_err(|error| format!("preset {name}: {error}"))?;
        let mut tables = Vec::new();
        let variants = document.get("variant").and_then(Value::as_array).into_iter().flatten();
        let named = variants
            .filter_map(Value::as_table)
            .chain([&document])
            .flat_map(|of| [Some(of), of.get("waiting").and_then(Value::as_table)])
            .filter_map(|of| of?.get("tables"));
        named.for_each(|value| texts(value, &mut tables));
        // A table that [tables] does not name goes by its own name.
        let is_named = |own: &str| document.get("tables").is_some_and(|tables| tables.get(own).is_some());
        let own = ["claim", "owner"].into_iter().filter_map(|key| document.get(key)?.get("table")?.as_str());
        tables.extend(own.filter(|own| !is_named(own)).map(str::to_owned));
        for (option, of) in document.get("options").and_then(Value::as_table).into_iter().flatten() {
            let default = of.get("default").and_then(Value::as_str).unwrap_or_default();
            tables.iter_mut().for_each(|table| *table = table.replace(&format!("{{options.{option}}}"), default));
        }
        tables.sort();
        tables.dedup();
        Ok((name, text, tables.join("\n"), document.contains_key("detect")))
    };
    listed("src/preset/presets", "toml")?.into_iter().map(with_tables).collect()
}

/// Adds the texts in a value, whatever engine they are for.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Table(table) => table.values().for_each(|item| texts(item, found)),
        _ => {}
    }
}

/// What was compiled. Debug builds do not ask git: each commit would compile the crate again.
fn commit() -> Result<String, env::VarError> {
    if variable("PROFILE")? != "release" {
        return Ok("debug build".to_owned());
    }
    // `cargo package` writes this file into the crate. Without it, only a repository of this crate's own is asked.
    let packaged = fs::read_to_string(".cargo_vcs_info.json").ok();
    let commit = packaged.and_then(|info| info.split('"').find(|word| is_hash(word)).map(|hash| hash[..12].to_owned()));
    Ok(commit.or_else(described).unwrap_or_else(|| "unknown commit".to_owned()))
}

fn is_hash(word: &str) -> bool {
    word.len() == 40 && word.chars().all(|c| c.is_ascii_hexdigit())
}

/// The commit that is checked out, with `-dirty` where files differ from it.
fn described() -> Option<String> {
    if !Path::new(".git").exists() {
        return None;
    }
    for path in [".git/logs/HEAD", "Cargo.toml", "Cargo.lock", "src"] {
        println!("cargo:rerun-if-changed={path}");
    }
    let git =
        Command::new("git").args(["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]).output().ok()?;
    let text = String::from_utf8(git.stdout).ok()?;
    git.status.success().then(|| text.trim().to_owned())
}
