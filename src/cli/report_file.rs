//! `--report-file`: what a run would print for machines, kept where the next program looks for it.

use super::atomic_file;
use super::error::CliError;
use super::exit::Exit;
use crate::render::json;
use serde::Serialize;
use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};

/// Ids and owners are for those who may read a queue's logs.
const MODE: u32 = 0o640;

/// The file of one run.
pub struct ReportFile {
    path: PathBuf,
    is_written: Cell<bool>,
}

impl ReportFile {
    /// Makes sure that it can be written, before anything else is done.
    ///
    /// # Errors
    /// When it cannot.
    pub fn at(path: &Path) -> Result<ReportFile, CliError> {
        atomic_file::check(path).map_err(|error| cannot(path, &error))?;
        Ok(ReportFile { path: path.to_owned(), is_written: Cell::new(false) })
    }

    /// Writes the run's document, once: what comes after it cannot take it back.
    ///
    /// # Errors
    /// When that is no longer possible.
    pub fn write(&self, document: &impl Serialize) -> Result<(), CliError> {
        if self.is_written.replace(true) {
            return Ok(());
        }
        let mut bytes = Vec::new();
        json(document, &mut bytes)
            .and_then(|()| atomic_file::write(&self.path, MODE, &bytes))
            .map_err(|error| cannot(&self.path, &error))
    }
}

fn cannot(path: &Path, error: &io::Error) -> CliError {
    let exit = if error.kind() == io::ErrorKind::PermissionDenied { Exit::NoPermission } else { Exit::Config };
    CliError::new(exit, format!("report file {} cannot be written: {error}", path.display()))
        .hint("it is made in its directory and then put in place, so that directory must be there and be writable")
}
