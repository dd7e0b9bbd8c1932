//! The fenced blocks of the page.

use std::fs;
use std::path::{Path, PathBuf};

/// One of them.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// The line of its opening fence, from 1.
    pub(super) line: usize,
    pub(super) language: String,
    /// What stands behind the language.
    pub(super) words: Vec<String>,
    pub(super) text: String,
}

impl Block {
    /// How the fence begins: language and words.
    pub(super) fn title(&self) -> String {
        std::iter::once(&self.language).chain(&self.words).map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

pub(super) fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")
}

pub(super) fn page() -> String {
    fs::read_to_string(path()).expect("read README.md")
}

pub(super) fn blocks() -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (n, line) in page().lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(title), None) => {
                let mut words = title.split_whitespace().map(str::to_owned);
                let language = words.next().unwrap_or_default();
                open = Some(Block { line: n + 1, language, words: words.collect(), text: String::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.text.push_str(&format!("{line}\n")),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block of README.md is not closed: {open:?}");
    blocks
}

/// The text of the one block with that title.
pub(super) fn text_of(title: &str) -> String {
    let mut found = blocks().into_iter().filter(|block| block.title() == title);
    let text = found.next().unwrap_or_else(|| panic!("README.md has no block `{title}`")).text;
    assert!(found.next().is_none(), "README.md has two blocks `{title}`");
    text
}
