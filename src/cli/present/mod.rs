//! How documents look: the same document as a table for people or in the format that was asked for.

mod bars;
mod diagnoses;
mod history;
mod jobs;
mod metrics;
mod owners;
pub mod presets;
mod reclaim;
mod runtimes;
mod show;
mod stale;
mod stats;
mod undo;

pub use diagnoses::diagnoses;
pub use metrics::{FOUND, LAST_SUCCESS, RECLAIMED, Reclaimed, Run, metrics};
pub use show::show;
pub use stale::marked;

use super::error::CliError;
use super::ui::Ui;
use crate::render::{Format, Screen, csv, inert, json};
use crate::report::Lines;
use serde::Serialize;
use std::io::{self, Write};

/// Rows of a table for people, unless they ask for another number.
pub const ROWS: usize = 50;

/// A document that is a list.
pub trait Present: Serialize + Lines {
    /// For people.
    ///
    /// # Errors
    /// When the temporary file of a long list cannot be read.
    fn table(&self, screen: &Screen, format: Format) -> io::Result<String>;

    /// Comma-separated values.
    ///
    /// # Errors
    /// When the writer, or the temporary file of a long list, fails.
    fn csv(&self, out: &mut dyn Write) -> io::Result<()>;

    /// One name a line.
    ///
    /// # Errors
    /// When the writer, or the temporary file of a long list, fails.
    fn names(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// Writes a document to stdout.
///
/// # Errors
/// When stdout fails for another reason than that nobody reads it.
pub fn present<D: Present>(ui: &Ui, format: Format, document: &D) -> Result<(), CliError> {
    ui.report(|out| match format {
        Format::Table | Format::Wide => out.write_all(document.table(&ui.screen(), format)?.as_bytes()),
        Format::Json => json(document, out),
        Format::Jsonl => document.lines(out),
        Format::Csv => document.csv(out),
        Format::Name if ui.is_terminal() => {
            // For programs an id is exact; a terminal must not be moved by one.
            let mut names = Vec::new();
            document.names(&mut names)?;
            String::from_utf8_lossy(&names).lines().try_for_each(|name| writeln!(out, "{}", inert(name)))
        }
        Format::Name => document.names(out),
        // The commands that offer it have metrics, and print those.
        Format::Prometheus => Err(io::Error::other("a list has no samples")),
        Format::None => Ok(()),
    })
}

/// Comma-separated values of items that may fail to come back from their temporary file.
fn csv_of<T>(
    columns: &[&str],
    items: impl Iterator<Item = io::Result<T>>,
    values: impl Fn(&T) -> Vec<String>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut failed = None;
    let rows = items.map_while(|item| item.map_err(|error| failed = Some(error)).ok()).map(|item| values(&item));
    csv(columns, rows, out)?;
    failed.map_or(Ok(()), Err)
}
