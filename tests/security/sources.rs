//! What the sources themselves show: no unsafe code, and no other program is ever run.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(directory).map(|entries| entries.flatten().map(|entry| entry.path()).collect::<Vec<_>>());
    let (folders, files): (Vec<_>, Vec<_>) = entries.unwrap_or_default().into_iter().partition(|path| path.is_dir());
    let files = files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    files.chain(folders.iter().flat_map(|folder| self::files(folder))).collect()
}

/// Where each target of Cargo's begins.
fn roots() -> Vec<PathBuf> {
    let named = ["src/lib.rs", "src/main.rs", "build.rs", "tests/main.rs"].map(|file| root().join(file));
    let found = ["benches", "examples", "fuzz/fuzz_targets"].into_iter().flat_map(|folder| files(&root().join(folder)));
    // A folder holds the modules of one target.
    let found = found.filter(|path| path.file_name().is_some_and(|name| name == "main.rs") || is_of_no_folder(path));
    named.into_iter().chain(found).collect()
}

/// Whether a target lies in the folder of targets itself.
fn is_of_no_folder(path: &Path) -> bool {
    let folders = ["benches", "examples", "fuzz_targets"];
    path.parent().and_then(Path::file_name).is_some_and(|folder| folders.iter().any(|known| folder == *known))
}

fn forbids(source: &str) -> bool {
    source.lines().any(|line| line == "#![forbid(unsafe_code)]")
}

/// Cargo's lints forbid it for the package as well; here a reader sees it, and a target outside of the package has it too.
#[test]
fn unsafe_code_is_forbidden_in_every_target() {
    let roots = roots();
    assert!(roots.len() >= 5, "{roots:?}");
    for path in roots {
        let source = fs::read_to_string(&path).unwrap();
        assert!(forbids(&source) || source.contains("#![no_main]"), "{} does not forbid unsafe code", path.display());
    }
    assert!(fs::read_to_string(root().join("Cargo.toml")).unwrap().contains("unsafe_code = \"forbid\""));
    assert!(!forbids("//! #![forbid(unsafe_code)]\n#![deny(unsafe_code)]"));
}

fn runs_programs(source: &str) -> bool {
    ["process::Command", "process::{", "CommandExt", "execv", "fork("].iter().any(|call| source.contains(call))
}

#[test]
fn no_program_is_run() {
    for path in files(&root().join("src")).into_iter().filter(|path| !path.ends_with("pass/on_run.rs")) {
        assert!(!runs_programs(&fs::read_to_string(&path).unwrap()), "{}", path.display());
    }
    assert!(runs_programs("use std::process::Command;"));
}
