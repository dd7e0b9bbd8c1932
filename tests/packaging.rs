//! What a release holds and says of itself. `packaging/try` tries the artefacts, with the commands of docs/install.md.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn text(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn files(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap().map(Result::unwrap);
    entries
        .flat_map(|entry| {
            let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            if entry.path().is_dir() { files(&path) } else { vec![path] }
        })
        .collect()
}

#[test]
fn the_crate_holds_what_it_needs_and_no_test() {
    let list = Command::new(env!("CARGO"))
        .args(["package", "--list", "--allow-dirty", "--offline", "--quiet"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    let held: BTreeSet<&str> = list.lines().collect();
    // docs/mapping.md is compiled in.
    let single = ["build.rs", "Cargo.lock", "Cargo.toml", "CHANGELOG.md", "LICENSE", "README.md", "docs/mapping.md"];
    let needed =
        ["src", "man", "completions", "docs/schemas"].into_iter().flat_map(files).chain(single.map(str::to_owned));
    let missing: Vec<String> = needed.filter(|path| !held.contains(path.as_str())).collect();
    assert!(missing.is_empty(), "the crate lacks {missing:?}");
    let folders: BTreeSet<&str> =
        held.iter().filter_map(|path| path.split_once('/')).map(|(folder, _)| folder).collect();
    assert_eq!(folders, BTreeSet::from(["completions", "docs", "man", "src"]));
}

#[test]
fn the_changelog_begins_with_this_version() {
    let changelog = text("CHANGELOG.md");
    let mut headings =
        changelog.lines().filter_map(|line| line.strip_prefix("## ")).filter(|title| *title != "Unreleased");
    assert_eq!(headings.next(), Some(VERSION));
}

#[test]
fn the_install_page_names_what_is_built_and_tried() {
    let page = text("docs/install.md");
    let (build, tried) = (text("packaging/build"), text("packaging/try"));
    let names = [
        format!("jobdoctor_{VERSION}-1_amd64.deb"),
        format!("jobdoctor-{VERSION}-x86_64-unknown-linux-gnu.tar.gz"),
        format!("jobdoctor-{VERSION}-x86_64-unknown-linux-gnu.cdx.json"),
        format!("jobdoctor:{VERSION}"),
    ];
    for name in &names {
        assert!(page.contains(name), "docs/install.md does not name {name}");
    }
    for at in page.match_indices("jobdoctor").map(|(at, word)| &page[at + word.len()..]) {
        let version = at.strip_prefix(['-', '_', ':']).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        assert!(version.is_none_or(|rest| rest.starts_with(VERSION)), "another version: {at:.20}");
    }
    // The workflow's archives are laid out as cargo-binstall expects.
    let workflow = text(".github/workflows/release.yml");
    for target in ["aarch64-apple-darwin", "x86_64-apple-darwin"] {
        assert!(page.contains(target) && workflow.contains(&format!("target: {target}")), "{target}");
    }
    assert!(workflow.contains("name=\"jobdoctor-${GITHUB_REF_NAME#v}-${{ matrix.target }}\""));
    let glibc = build.lines().find_map(|line| line.strip_prefix("glibc=")?.split(' ').next()).unwrap();
    assert!(page.contains(&format!("glibc {glibc} or later")), "packaging/build needs glibc {glibc}");
    let blocks: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("```sh install ")).collect();
    assert!(blocks.len() > 4, "{blocks:?}");
    for block in blocks {
        let is_run = ["within", "block"].iter().any(|verb| tried.contains(&format!("{verb} {block}")));
        assert!(is_run, "packaging/try does not run the block `{block}`");
    }
}
