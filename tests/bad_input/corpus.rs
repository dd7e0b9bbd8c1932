//! The fuzzers' corpus, replayed: what was found once stays found. `fuzz/corpus/NAME/` holds the texts of one kind.

use super::TRIED;
use super::inputs::ALL;
use crate::support::figures;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

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
