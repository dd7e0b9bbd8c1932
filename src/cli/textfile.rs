//! The file that node_exporter's textfile collector reads: replaced whole or not at all, readable by everybody.

use super::error::CliError;
use super::former::Former;
use super::own_file::{Kind, OwnFile};
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
pub struct Textfile(OwnFile);

impl Textfile {
    /// Makes sure that it can be written, while nothing has been done yet.
    ///
    /// # Errors
    /// When it cannot, or something else is there.
    pub fn at(path: &Path) -> Result<Textfile, CliError> {
        OwnFile::at(path, &KIND).map(Textfile)
    }

    /// What it says now. A file that cannot be read says nothing.
    pub fn former(&self, command: &str) -> Former {
        self.0.text().map(|text| Former::read(&text, command)).unwrap_or_default()
    }

    /// Replaces it.
    ///
    /// # Errors
    /// When it cannot be written, or something else has come there; it is then as it was.
    pub fn write(&self, text: &str) -> Result<(), CliError> {
        self.0.write(text.as_bytes())
    }
}
