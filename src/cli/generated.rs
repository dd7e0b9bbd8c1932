//! Completions, manual pages and preset pages, which are committed as files; a test compares them.

use super::commands::plain_command;
use super::help::{Block, Examples, TOPICS, Topic};
use crate::output::presets::{self, index, markdown};
use crate::preset::{Catalog, SpecError};
use ::roff::{Roff, bold, roman};
use clap::Command;
use clap::builder::{Resettable, StyledStr};
use clap_mangen::Man;
use std::io::{self, Write};

/// The manual pages: file name and roff text.
pub fn man_pages() -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut root = plain_command();
    root.build();
    let mut pages = Vec::new();
    add_pages(root, &mut pages)?;
    for topic in &TOPICS {
        let mut page = Vec::new();
        manual(topic, &mut page)?;
        pages.push((format!("jobdoctor-{}.7", topic.name), page));
    }
    Ok(pages)
}

/// Adds the page of a command and those of its subcommands.
fn add_pages(command: Command, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    let mut page = Vec::new();
    render(command.clone(), &mut page)?;
    pages.push((format!("{}.1", command.get_name()), without_repetition(page)));
    command.get_subcommands().try_for_each(|below| add_pages(titled(below, command.get_name()), pages))
}

/// A manual page of a command, with the examples ahead of the options.
fn render(command: Command, page: &mut dyn Write) -> io::Result<()> {
    let examples = Examples::of(&command);
    let rest = examples.as_ref().and_then(|examples| examples.rest.clone());
    let has_subcommands = command.has_subcommands();
    let command = command.after_help(Resettable::from(rest.clone().map(StyledStr::from)));
    let man = Man::new(command);
    man.render_title(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    if let Some(examples) = &examples {
        examples_section(examples, page)?;
    }
    man.render_options_section(page)?;
    if has_subcommands {
        man.render_subcommands_section(page)?;
    }
    if rest.is_some() {
        man.render_extra_section(page)?;
    }
    man.render_version_section(page)
}

fn manual(topic: &Topic, mut out: &mut dyn Write) -> io::Result<()> {
    let version = concat!("jobdoctor ", env!("CARGO_PKG_VERSION"));
    let title = format!("jobdoctor-{}", topic.name);
    let mut roff = Roff::new();
    roff.control("TH", [title.as_str(), "7", "", version, ""]);
    roff.control("SH", ["NAME"]);
    roff.text([roman(format!("{title} - {}", topic.about))]);
    roff.control("SH", ["DESCRIPTION"]);
    for block in topic.page().blocks {
        match block {
            Block::Heading(heading) => {
                roff.control("SH", [heading.as_str()]);
            }
            Block::Paragraph(lines) => {
                roff.control("PP", []);
                roff.text([roman(lines.join("\n"))]);
            }
            Block::Literal(lines) => literal(&mut roff, &lines),
            Block::Table(rows) => {
                for (term, meaning) in rows {
                    roff.control("TP", []);
                    roff.text([bold(term)]);
                    roff.text([roman(meaning)]);
                }
            }
        }
    }
    roff.to_writer(&mut out)
}

fn examples_section(examples: &Examples, mut out: &mut dyn Write) -> io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", ["EXAMPLES"]);
    literal(&mut roff, &examples.lines);
    roff.to_writer(&mut out)
}

fn literal(roff: &mut Roff, lines: &[String]) {
    roff.control("PP", []);
    roff.control("nf", []);
    for line in lines {
        roff.text([roman(line.as_str())]);
    }
    roff.control("fi", []);
}

/// Keeps one of the preambles that each section begins with.
fn without_repetition(page: Vec<u8>) -> Vec<u8> {
    const PREAMBLE: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";
    let page = String::from_utf8_lossy(&page).replace(PREAMBLE, "");
    format!("{PREAMBLE}{page}").into_bytes()
}

/// A subcommand under the title of its page.
fn titled(command: &Command, parent: &str) -> Command {
    let title = format!("{parent}-{}", command.get_name());
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    command.clone().name(title).override_usage(usage).version(env!("CARGO_PKG_VERSION"))
}

/// The pages of the built-in presets: file name and Markdown text.
pub fn preset_pages() -> Result<Vec<(String, Vec<u8>)>, SpecError> {
    let catalog = Catalog::built_in();
    let mut pages = vec![("README.md".to_owned(), index(&presets::presets(&catalog)?).into_bytes())];
    for preset in catalog.iter() {
        let page = markdown(&presets::preset_page(preset, preset.text.to_owned())?);
        pages.push((format!("{}.md", preset.name), page.into_bytes()));
    }
    Ok(pages)
}
