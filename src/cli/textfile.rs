//! The file that node_exporter's textfile collector reads: replaced whole or not at all, readable by everybody.

use super::atomic_file::{AtomicFile, Kind};
use super::error::CliError;
use super::previous_metrics::PreviousMetrics;
use std::path::Path;

/// The collector runs as another user, whatever our umask.
static KIND: Kind = Kind {
    flag: "--textfile",
    name: "the textfile",
    holds: "metrics",
    mode: 0o644,
    heeds_umask: false,
    is_one: |text| text.starts_with("# HELP jobdoctor_"),
};

/// See the module.
pub struct Textfile(AtomicFile);

impl Textfile {
    /// Makes sure that it can be written, while nothing has been done yet.
    ///
    /// # Errors
    /// When it cannot, or something else is there.
    pub fn at(path: &Path) -> Result<Textfile, CliError> {
        AtomicFile::at(path, &KIND).map(Textfile)
    }

    /// What it says now. A file that cannot be read says nothing.
    pub fn former(&self, command: &str) -> PreviousMetrics {
        self.0.text().map(|text| PreviousMetrics::read(&text, command)).unwrap_or_default()
    }

    /// Replaces it.
    ///
    /// # Errors
    /// When it cannot be written, or something else has come there; it is then as it was.
    pub fn write(&self, text: &str) -> Result<(), CliError> {
        self.0.write(text.as_bytes())
    }
}
