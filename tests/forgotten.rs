//! A test file that no `mod` names is never compiled, and so never fails; a page that names a file that has moved misleads.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn every_file_is_listed_in_a_mod() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut forgotten = sources(&root);
    forgotten.retain(|file| {
        let module = file.strip_prefix(&root).unwrap().with_extension("");
        let module = if module.ends_with("mod") { module.parent().unwrap() } else { &module };
        let list = match module.parent() {
            Some(parent) if parent != Path::new("") => root.join(parent).join("mod.rs"),
            _ => root.join("main.rs"),
        };
        let line = format!("mod {};", module.file_name().unwrap().display());
        let text = fs::read_to_string(list).unwrap_or_default();
        let is_it =
            |listed: &str| ["", "pub ", "pub(crate) "].iter().any(|how| listed.strip_prefix(how) == Some(&line));
        let is_listed = text.lines().any(is_it);
        file.extension().is_some_and(|extension| extension == "rs") && module != Path::new("main") && !is_listed
    });
    assert!(forgotten.is_empty(), "not listed: {forgotten:#?}");
}

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
        let paths = paths.filter(|path| !path.contains(|c: char| c.is_ascii_uppercase()));
        missing.extend(paths.filter(|path| !root.join(path).exists()).map(|path| format!("{page}: {path}")));
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
