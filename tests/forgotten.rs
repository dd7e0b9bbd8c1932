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

/// A page that sends a reader to a file that has moved is worse than none.
#[test]
fn every_path_that_a_page_for_contributors_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut missing = Vec::new();
    for page in ["CONTRIBUTING.md", "docs/architecture.md", "tests/README.md", "tests/mutants/run", "src/lib.rs"] {
        let text = fs::read_to_string(root.join(page)).unwrap();
        let is_of_a_path = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        let words = text.split(|c: char| !is_of_a_path(c)).map(|word| word.trim_end_matches('.'));
        let roots = ["src/", "tests/", "fixtures/", "docs/", "benches/", "fuzz/"];
        let paths = words.filter(|word| roots.iter().any(|root| word.starts_with(root)));
        // NAME and QUEUE stand for what the reader adds.
        for path in paths.filter(|path| !path.contains(|c: char| c.is_ascii_uppercase())) {
            if !root.join(path).exists() {
                missing.push(format!("{page}: {path}"));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
