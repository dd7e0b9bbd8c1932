//! How several targets are told of: one way for each kind of output.

mod document;
mod lines;
mod plugin;
mod rows;
mod sections;

use super::target_result::{Tally, TargetResult};
use crate::cli::error::{CliError, OrEnd};
use crate::cli::exit::Exit;
use crate::cli::ui::Ui;
use crate::output::format::Format;
use anyhow::Context as _;
use document::Document;
use lines::Lines;
use plugin::Plugin;
use rows::Rows;
use sections::Sections;
use std::io;

/// See the module.
pub(super) enum Teller {
    /// For people.
    Sections(Sections),
    /// For monitoring systems.
    Plugin(Plugin),
    /// One JSON document.
    Document(Document),
    /// One JSON object a line.
    Lines(Lines),
    /// Comma-separated values.
    Rows(Rows),
}

impl Teller {
    /// The one for a format.
    ///
    /// # Errors
    /// When the format has no place for a target's name.
    pub(super) fn of(format: Format, command: &'static str) -> Result<Teller, CliError> {
        Ok(match format {
            Format::Table if command == "health" => Teller::Plugin(Plugin::default()),
            Format::Table | Format::Wide | Format::None => Teller::Sections(Sections::default()),
            Format::Json => Teller::Document(Document::of(command)),
            Format::Jsonl => Teller::Lines(Lines::of(command)),
            Format::Csv => Teller::Rows(Rows::default()),
            Format::Name | Format::Prometheus => {
                let message = format!("-o {} has no place for the targets' names", format.name());
                return Err(CliError::new(Exit::Usage, message)
                    .hint("-o csv has the target in its first column, -o jsonl in each line"));
            }
        })
    }

    /// Tells of the next target.
    ///
    /// # Errors
    /// When what it said cannot be read, or the report not be written.
    pub(super) fn report(&mut self, ui: &Ui, told: TargetResult) -> Result<(), CliError> {
        match self {
            Teller::Sections(sections) => sections.report(ui, &told),
            Teller::Plugin(plugin) => plugin.report(&told),
            Teller::Document(document) => document.report(&told),
            Teller::Lines(lines) => lines.report(ui, &told),
            Teller::Rows(rows) => rows.report(ui, &told),
        }?;
        if let Some(said) = read_back(told.held.err())? {
            ui.pass_on(&told.target, said);
        }
        Ok(())
    }

    /// Tells of the whole.
    ///
    /// # Errors
    /// When the report cannot be written.
    pub(super) fn end(self, ui: &Ui, tally: &Tally) -> Result<(), CliError> {
        match self {
            Teller::Sections(sections) => sections.end(ui, tally),
            Teller::Plugin(plugin) => return plugin.end(ui, tally),
            Teller::Document(document) => return document.end(ui, tally),
            Teller::Lines(_) => return Lines::end(ui, tally),
            Teller::Rows(_) => {}
        }
        Ok(())
    }
}

/// What a target said, read back from its temporary file.
fn read_back<T>(read: io::Result<T>) -> Result<T, CliError> {
    read.context("what a target said cannot be read from its temporary file").or_end(Exit::Internal)
}
