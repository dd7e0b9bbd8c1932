//! The pages' tables against the program: nothing left out, nothing made up.

use super::block::{PAGES, pages, text, text_of};
use crate::help::topics::{EXIT_CODES, known_keys};
use crate::support::cli::Doctor;
use jobdoctor::cli::VARIABLES;
use std::collections::BTreeSet;
use std::path::Path;

fn section(title: &str) -> String {
    let pages = pages();
    let (_, rest) = pages.split_once(&format!("# {title}\n")).unwrap_or_else(|| panic!("no section {title}"));
    rest.split("\n## ").next().and_then(|rest| rest.split("\n# ").next()).expect("a section").to_owned()
}

/// What stands between backticks in the first column.
fn first_column(section: &str) -> BTreeSet<String> {
    let cells = section.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let quoted = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    quoted.map(str::to_owned).collect()
}

#[test]
fn every_variable_and_exit_code_is_there_and_no_other() {
    let read: BTreeSet<String> = VARIABLES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(first_column(&section("Environment variables")), read);
    let codes = section("Exit codes");
    let cells = codes.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let listed: BTreeSet<u8> = cells.flat_map(|cell| cell.split(", ")).filter_map(|code| code.parse().ok()).collect();
    assert_eq!(listed, BTreeSet::from(EXIT_CODES));
}

#[test]
fn every_key_of_the_config_file_is_there_and_no_other() {
    let doctor = Doctor::new();
    let known = [known_keys(&doctor, ""), known_keys(&doctor, "[target.a]")].concat();
    let mut keys: BTreeSet<String> = known.into_iter().collect();
    for tables in ["target", "mapping"] {
        assert!(keys.remove(tables), "{tables}");
        keys.insert(format!("[{tables}.NAME]"));
    }
    let tables = ["threshold", "too_long"].map(|key| {
        assert!(keys.remove(key), "{key}");
        format!("[[target.NAME.{key}]]")
    });
    assert_eq!(first_column(&section("Config file")), keys.iter().cloned().chain(tables).collect());
    // And each one of them is in the example, which is read for true.
    let example = text_of("toml config");
    assert!(example.contains(".threshold]]") && example.contains(".too_long]]"), "the example lacks an entry");
    for key in keys {
        let key = key.trim_end_matches("NAME]");
        assert!(example.lines().any(|line| line.starts_with(key)), "the example lacks {key}");
    }
}

/// Readers read little at three in the morning. All pages by hand are counted, that for contributors too.
#[test]
fn the_pages_are_short() {
    let bytes = |page: &str| text(page).len();
    assert!(bytes("README.md") <= 8_000, "README.md has {} bytes", bytes("README.md"));
    let all = PAGES.map(bytes).iter().sum::<usize>() + bytes("docs/architecture.md");
    assert!(all <= 181 * 1024, "the pages have {all} bytes");
    let docs = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")).expect("the pages");
    let names = docs.flatten().map(|file| format!("docs/{}", file.file_name().display()));
    let by_hand: BTreeSet<String> =
        names.filter(|name| name.ends_with(".md") && name != "docs/architecture.md").collect();
    assert_eq!(by_hand, PAGES.iter().skip(1).map(|page| (*page).to_owned()).collect());
}

#[test]
fn links_within_the_pages_lead_somewhere() {
    let anchor = |title: &str| -> String {
        let plain = title.to_lowercase().replace(' ', "-");
        plain.chars().filter(|c| c.is_alphanumeric() || *c == '-').collect()
    };
    let anchors = |page: &str| -> BTreeSet<String> {
        let page = text(page);
        let titles = page.lines().filter(|line| line.starts_with('#'));
        titles.map(|line| anchor(line.trim_start_matches(['#', ' ']))).collect()
    };
    for page in PAGES {
        for link in text(page).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, title) = link.split_once('#').map_or((link, None), |(file, title)| (file, Some(title)));
            let beside = Path::new(page).parent().expect("the page's directory").join(file);
            let named = if file.is_empty() { Path::new(page).to_owned() } else { beside };
            let is_there = || Path::new(env!("CARGO_MANIFEST_DIR")).join(&named).exists();
            let has = |title| anchors(&named.display().to_string()).contains(title);
            let is_good = link.starts_with("https://") || is_there() && title.is_none_or(has);
            assert!(is_good, "{page}: {link}");
        }
    }
}
