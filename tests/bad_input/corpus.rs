//! The fuzzers' corpus, replayed: what was found once stays found. `fuzz/corpus/NAME/` holds the texts of one kind.

use super::TRIED;
use super::inputs::{ALL, screen};
use crate::support::figures;
use jobdoctor::output::format::inert;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

/// The committed texts of a kind, by their names.
pub fn seeds(kind: &str) -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(folder().join("corpus").join(kind)).unwrap_or_else(|error| panic!("{kind}: {error}"));
    let mut seeds: Vec<(String, Vec<u8>)> = files
        .map(|file| file.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
        .collect();
    seeds.sort();
    seeds
}

#[test]
fn is_replayed() {
    let mut tried = 0;
    for (kind, holds) in ALL {
        let seeds = seeds(kind);
        assert!(seeds.len() >= 8, "{kind} has {} texts only", seeds.len());
        for (name, bytes) in seeds {
            // A panic says what is wrong, and this of which file.
            let failed = std::panic::catch_unwind(|| holds(&bytes)).is_err();
            assert!(!failed, "fuzz/corpus/{kind}/{name}");
            tried += 1;
        }
    }
    figures::add(tried, TRIED);
}

/// A fuzzer that is not built finds nothing, and a corpus without a fuzzer is never added to.
#[test]
fn has_a_fuzzer_for_each_kind() {
    let manifest: toml::Value = toml::from_str(&fs::read_to_string(folder().join("Cargo.toml")).unwrap()).unwrap();
    let kinds: BTreeSet<&str> = ALL.iter().map(|(kind, _)| *kind).collect();
    let built: BTreeSet<&str> =
        manifest["bin"].as_array().unwrap().iter().map(|bin| bin["name"].as_str().unwrap()).collect();
    assert_eq!(built, kinds);
    for kind in &kinds {
        let text = fs::read_to_string(folder().join(format!("fuzz_targets/{kind}.rs"))).unwrap();
        assert!(text.contains(&format!("inputs::{kind}::holds")), "{kind}: {text}");
    }
    let folders: Vec<String> = fs::read_dir(folder().join("corpus"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(folders.iter().map(String::as_str).collect::<BTreeSet<_>>(), kinds);
    let bytes: usize = kinds.iter().flat_map(|kind| seeds(kind)).map(|(_, bytes)| bytes.len()).sum();
    assert!(bytes < 100_000, "a corpus is for examples, not for all that was tried: {bytes} bytes");
}

/// What makes a text inert.
type Filter = fn(&str) -> Cow<'_, str>;

/// Filters that lack something each: the corpus must tell every one of them from the real one.
#[test]
fn catches_a_filter_that_lets_something_through() {
    fn with_c1(text: &str) -> Cow<'_, str> {
        let harmless = |c: char| matches!(c, '\u{80}'..='\u{9f}');
        kept(text, harmless)
    }
    fn with_marks_of_direction(text: &str) -> Cow<'_, str> {
        kept(text, |c| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
    }
    fn with_carriage_returns(text: &str) -> Cow<'_, str> {
        kept(text, |c| c == '\r')
    }
    fn with_line_breaks(text: &str) -> Cow<'_, str> {
        kept(text, |c| c == '\n')
    }
    fn with_escapes(text: &str) -> Cow<'_, str> {
        kept(text, |c| c == '\u{1b}')
    }
    let broken: [(&str, Filter); 5] = [
        ("C1", with_c1),
        ("marks of direction", with_marks_of_direction),
        ("carriage returns", with_carriage_returns),
        ("line breaks", with_line_breaks),
        ("escapes", with_escapes),
    ];
    let caught = |filter: Filter| {
        seeds("screen").iter().any(|(_, bytes)| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let cells: Vec<String> = text.split('\u{1e}').map(str::to_owned).collect();
            std::panic::catch_unwind(|| {
                screen::for_people(&filter, &cells.iter().map(String::as_str).collect::<Vec<_>>());
            })
            .is_err()
        })
    };
    assert!(!caught(inert));
    for (what, filter) in broken {
        assert!(caught(filter), "a filter that lets {what} through is not caught");
    }
    figures::add(broken.len() as u64, "mutants caught");
}

/// The filter, but for some characters.
fn kept(text: &str, keeps: fn(char) -> bool) -> Cow<'_, str> {
    Cow::Owned(
        text.chars().map(|c| if keeps(c) { c.to_string() } else { inert(&c.to_string()).into_owned() }).collect(),
    )
}
