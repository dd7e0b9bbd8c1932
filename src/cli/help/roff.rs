//! Topics and examples as manual pages.

use super::page::Block;
use super::{Examples, Topic};
use ::roff::{Roff, bold, roman};
use std::io::{self, Write};

/// The manual page of a topic.
///
/// # Errors
/// When the writer fails.
pub fn manual(topic: &Topic, out: &mut dyn Write) -> io::Result<()> {
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
    roff.to_writer(&mut { out })
}

/// The section that has the examples of a command.
///
/// # Errors
/// When the writer fails.
pub fn examples_section(examples: &Examples, out: &mut dyn Write) -> io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", ["EXAMPLES"]);
    literal(&mut roff, &examples.lines);
    roff.to_writer(&mut { out })
}

/// As it stands.
fn literal(roff: &mut Roff, lines: &[String]) {
    roff.control("PP", []);
    roff.control("nf", []);
    for line in lines {
        roff.text([roman(line.as_str())]);
    }
    roff.control("fi", []);
}
