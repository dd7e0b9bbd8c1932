//! Writes the lists of the built-in presets and of the schemas, and the version with commit and target that `--version` prints.

#![forbid(unsafe_code)]

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    write_list("presets", "src/preset/presets", "toml")?;
    write_list("schemas", "docs/schemas", "json")?;
    let version = format!("{} ({}, {})", variable("CARGO_PKG_VERSION")?, commit()?, variable("TARGET")?);
    println!("cargo:rustc-env=JOBDOCTOR_VERSION={version}");
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "cargo speaks to a build script through the environment")]
fn variable(name: &str) -> Result<String, env::VarError> {
    env::var(name)
}

/// Every file in the folder, by name and with its text. Indentation is left out of JSON: it would take a third of the room.
fn write_list(list: &str, folder: &str, extension: &str) -> Result<(), Box<dyn Error>> {
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
    let out = variable("OUT_DIR")?;
    fs::write(Path::new(&out).join(list).with_extension("rs"), format!("&{files:#?}\n"))?;
    Ok(())
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
