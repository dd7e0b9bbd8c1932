//! Tables in the documentation of a module, which name the tests that prove what a row says.

use std::path::Path;

/// The rows of such a table, cell by cell, its head included.
pub fn rows(source: &str) -> impl Iterator<Item = Vec<&str>> {
    let rows = source.lines().filter_map(|line| line.strip_prefix("//! | "));
    rows.map(|row| row.trim_end().trim_end_matches('|').split('|').map(str::trim).collect())
}

/// The tests that a piece of it names.
pub fn named(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).filter(|name| name.contains("::")).collect()
}

/// Whether there is such a test, and it is not ignored.
pub fn is_there(name: &str) -> bool {
    let (place, function) = name.rsplit_once("::").expect("a place and a name");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(place.replace("::", "/"));
    let files = [tests.with_extension("rs"), tests.join("mod.rs")];
    let source = files.iter().find_map(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    lines.windows(2).any(|pair| pair[0] == "#[test]" && pair[1].starts_with(&format!("fn {function}(")))
}
