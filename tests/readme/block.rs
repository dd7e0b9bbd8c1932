//! The fenced blocks of the pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Held by a test that writes pages: README.md is written by two.
pub(crate) static WRITING: Mutex<()> = Mutex::new(());

/// The pages that are written by hand for whoever runs the program.
pub(super) const PAGES: [&str; 27] = [
    "README.md",
    "docs/application-rows.md",
    "docs/compared.md",
    "docs/config.md",
    "docs/connecting.md",
    "docs/cron.md",
    "docs/deploy.md",
    "docs/exit-codes.md",
    "docs/glossary.md",
    "docs/history.md",
    "docs/incident.md",
    "docs/install.md",
    "docs/judging.md",
    "docs/kubernetes.md",
    "docs/listing.md",
    "docs/mapping.md",
    "docs/monitoring.md",
    "docs/on-run.md",
    "docs/output.md",
    "docs/plans.md",
    "docs/proof.md",
    "docs/reference-schema.md",
    "docs/rights.md",
    "docs/security.md",
    "docs/sweep.md",
    "docs/thresholds.md",
    "docs/troubleshooting.md",
];

#[derive(Debug, Clone)]
pub(crate) struct Block {
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

    /// It happens where the block before it ended.
    pub(super) fn goes_on(&self) -> bool {
        self.words.last().is_some_and(|word| word == "then")
    }
}

pub(super) fn path(page: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(page)
}

pub(super) fn text(page: &str) -> String {
    fs::read_to_string(path(page)).unwrap_or_else(|error| panic!("read {page}: {error}"))
}

pub(super) fn pages() -> String {
    PAGES.map(text).join("\n")
}

pub(super) fn blocks_of(page: &'static str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (n, line) in text(page).lines().enumerate() {
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
    assert!(open.is_none(), "a block of {page} is not closed: {open:?}");
    blocks
}

pub(crate) fn text_of(title: &str) -> String {
    let mut found = PAGES.into_iter().flat_map(blocks_of).filter(|block| block.title() == title);
    let text = found.next().unwrap_or_else(|| panic!("no page has a block `{title}`")).text;
    assert!(found.next().is_none(), "there are two blocks `{title}`");
    text
}
