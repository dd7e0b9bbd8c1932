//! `--report-file`: what a run would print for machines, kept where the next program looks for it.

use super::atomic_file::{AtomicFile, Kind};
use super::context::Context;
use super::error::CliError;
use super::exit::Exit;
use crate::output::format::json;
use serde::Serialize;
use std::cell::Cell;
use std::path::Path;

/// The documents that such a file may hold.
const SCHEMAS: [&str; 2] = ["jobdoctor.sweep/v1", "jobdoctor.error/v1"];

/// Ids and owners are for those who may read a queue's logs.
static KIND: Kind = Kind {
    flag: "--report-file",
    name: "report file",
    holds: "reports",
    mode: 0o640,
    heeds_umask: true,
    is_one: is_report,
};

/// The file of one run.
pub struct ReportFile {
    file: AtomicFile,
    is_written: Cell<bool>,
}

impl ReportFile {
    /// Makes sure that it can be written, before anything else is done.
    ///
    /// # Errors
    /// When it cannot, or something else than a report is there.
    pub fn at(path: &Path) -> Result<ReportFile, CliError> {
        Ok(ReportFile { file: AtomicFile::at(path, &KIND)?, is_written: Cell::new(false) })
    }

    /// Writes the document of a run that has ended. If that is no longer possible, the run still ends as it would have ended.
    pub fn keep(&self, context: &Context, document: &impl Serialize) {
        if let Err(error) = self.write(document) {
            context.ui.complain(&format!("{}; what the run did is not changed by that", error.message));
        }
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
        json(document, &mut bytes).map_err(|error| CliError::new(Exit::Internal, error.to_string()))?;
        self.file.write(&bytes)
    }
}

/// Every document begins with its schema.
fn is_report(text: &str) -> bool {
    let after = |text: &str, word: &str| text.trim_start().strip_prefix(word).map(str::to_owned);
    let value = after(text, "{").and_then(|rest| after(&rest, "\"schema\"")).and_then(|rest| after(&rest, ":"));
    value.is_some_and(|rest| SCHEMAS.iter().any(|schema| rest.trim_start().starts_with(&format!("\"{schema}\""))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_known_by_how_they_begin() {
        for text in ["{\n  \"schema\": \"jobdoctor.sweep/v1\",\n", "{\"schema\":\"jobdoctor.error/v1\"}"] {
            assert!(is_report(text), "{text}");
        }
        for text in [
            "",
            "{}",
            "{\"a\": 1, \"schema\": \"jobdoctor.sweep/v1\"}",
            "{\"schema\": \"jobdoctor.sweep/v10\"}",
            "{\"schema\": \"jobdoctor.plan/v1\"}",
            "SQLite format 3\0",
            "jobdoctor.sweep/v1",
        ] {
            assert!(!is_report(text), "{text}");
        }
    }
}
