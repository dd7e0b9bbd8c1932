//! Writes the list of the built-in presets: every file in `src/preset/presets/`, by name.

#![forbid(unsafe_code)]

use std::error::Error;
use std::path::Path;
use std::{env, fs};

const FOLDER: &str = "src/preset/presets";

#[allow(clippy::disallowed_methods, reason = "cargo tells a build script in the environment where it may write")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={FOLDER}");
    let mut names = Vec::new();
    for entry in fs::read_dir(FOLDER)? {
        let path = entry?.path();
        match (path.file_stem().and_then(|stem| stem.to_str()), path.extension()) {
            (Some(name), Some(extension)) if extension == "toml" => names.push(name.to_owned()),
            _ => return Err(format!("{} is no preset: its name must end in .toml", path.display()).into()),
        }
    }
    names.sort();
    let line = |name: &String| {
        format!("    ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{FOLDER}/{name}.toml\"))),\n")
    };
    let list: String = names.iter().map(line).collect();
    let out = env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("presets.rs"), format!("&[\n{list}]\n"))?;
    Ok(())
}
