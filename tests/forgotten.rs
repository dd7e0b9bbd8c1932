//! A test file that no `mod` names is never compiled, and so never fails.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_file_is_listed_in_a_mod() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut forgotten = Vec::new();
    for file in sources(&root) {
        let (parent, name) = match file.file_stem().and_then(|stem| stem.to_str()) {
            Some("main") if file.parent() == Some(&root) => continue,
            Some("mod") => (file.parent().and_then(Path::parent), file.parent().and_then(Path::file_name)),
            _ => (file.parent(), file.file_stem()),
        };
        let (parent, name) = (parent.unwrap(), name.and_then(|name| name.to_str()).unwrap());
        let list = if parent == root { root.join("main.rs") } else { parent.join("mod.rs") };
        let text = fs::read_to_string(&list).unwrap_or_default();
        let listed = text.lines().any(|line| {
            let line = line.trim().trim_start_matches("pub(crate) ").trim_start_matches("pub ");
            line == format!("mod {name};")
        });
        if !listed {
            forgotten.push(format!("{} is not listed in {}", file.display(), list.display()));
        }
    }
    assert!(forgotten.is_empty(), "{}", forgotten.join("\n"));
}

fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}
