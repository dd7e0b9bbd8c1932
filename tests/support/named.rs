//! Tests that a table names, and whether they are there: what a page says is shown must be shown by something.

use std::path::Path;

/// The tests that the rows of a table name, in a page or in the comment at the head of a module.
pub fn named(table: &str) -> Vec<&str> {
    let rows =
        table.lines().map(|line| line.strip_prefix("//! ").unwrap_or(line)).filter(|line| line.starts_with("| "));
    rows.flat_map(|row| row.split('`').skip(1).step_by(2)).filter(|name| name.contains("::")).collect()
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
