//! `--report-file`: the run's JSON document in a file, for other programs.

use crate::cli::atomic_file::{AtomicFile, FileKind};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::output::FileMode;
use crate::output::format::json;
use serde::Serialize;
use std::cell::Cell;
use std::path::Path;

/// The documents that a report file may hold.
const SCHEMAS: [&str; 2] = ["jobdoctor.sweep/v1", "jobdoctor.error/v1"];

/// The group may read it, as it may read logs: a report holds ids and owners.
static REPORT_FILE: FileKind = FileKind {
    flag: "--report-file",
    name: "report file",
    holds: "reports",
    mode: FileMode::UpTo(0o640),
    recognize: is_report,
};

pub struct ReportFile {
    file: AtomicFile,
    is_written: Cell<bool>,
}

impl ReportFile {
    /// Checks that the file can be written, before the run does anything.
    pub fn at(path: &Path) -> Result<ReportFile, CliError> {
        Ok(ReportFile { file: AtomicFile::at(path, &REPORT_FILE)?, is_written: Cell::new(false) })
    }

    /// Writes the document of a finished run; a failure is reported and does not change how the run ends.
    pub fn write_or_report(&self, context: &Context, document: &impl Serialize) {
        if let Err(error) = self.write(document) {
            context.ui.side_error(&format!("{}; the run itself is not affected", error.message));
        }
    }

    /// Writes the run's document. Only the first call writes: an error after the report must not replace it.
    pub fn write(&self, document: &impl Serialize) -> Result<(), CliError> {
        if self.is_written.replace(true) {
            return Ok(());
        }
        self.file.write(|out| json(document, out))
    }
}

/// True if a text begins like a report: every document begins with its schema.
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
