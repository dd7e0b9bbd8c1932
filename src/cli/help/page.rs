//! Reads and renders a page of help.

use crate::output::format::Screen;

/// Width of lists, in columns.
const WIDTH: usize = 80;
/// Longest term, in columns, that shares a line with its meaning.
const TERM: usize = 26;

/// A page of help.
pub struct Page {
    /// Its parts, in order.
    pub blocks: Vec<Block>,
}

/// A part of a page.
pub enum Block {
    /// A line in capitals.
    Heading(String),
    /// The lines of a paragraph.
    Paragraph(Vec<String>),
    /// Indented lines, shown as they are.
    Literal(Vec<String>),
    /// Terms with their meanings; in the text its name in braces, on a line of its own.
    Table(Vec<(String, String)>),
}

impl Page {
    /// Reads a page; `table` gives the rows of a table.
    pub(super) fn parse(text: &str, table: impl Fn(&str) -> Vec<(String, String)>) -> Page {
        let mut blocks: Vec<Block> = Vec::new();
        for line in text.lines() {
            let heading = !line.is_empty() && line.chars().all(|c| c.is_ascii_uppercase() || " ,'".contains(c));
            let name = line.strip_prefix('{').and_then(|line| line.strip_suffix('}'));
            match (blocks.last_mut(), name) {
                (_, Some(name)) => blocks.push(Block::Table(table(name))),
                _ if heading && !line.starts_with(' ') => blocks.push(Block::Heading(line.to_owned())),
                (Some(Block::Literal(lines)), _) if line.starts_with("  ") => lines.push(line.to_owned()),
                _ if line.starts_with("  ") => blocks.push(Block::Literal(vec![line.to_owned()])),
                (Some(Block::Paragraph(lines)), _) if !line.is_empty() && !lines.is_empty() => {
                    lines.push(line.to_owned());
                }
                (Some(Block::Paragraph(lines)), _) if lines.is_empty() => lines.extend(first(line)),
                _ => blocks.push(Block::Paragraph(first(line))),
            }
        }
        blocks.retain(|block| !matches!(block, Block::Paragraph(lines) if lines.is_empty()));
        Page { blocks }
    }

    /// The page for a terminal.
    pub fn render(&self, screen: &Screen) -> String {
        let mut text = String::new();
        let mut is_below_heading = true;
        for block in &self.blocks {
            if !std::mem::replace(&mut is_below_heading, matches!(block, Block::Heading(_))) {
                text.push('\n');
            }
            match block {
                Block::Heading(heading) => text.push_str(&format!("{}\n", screen.strong(heading))),
                Block::Paragraph(lines) | Block::Literal(lines) => text.push_str(&format!("{}\n", lines.join("\n"))),
                Block::Table(rows) => text.push_str(&list(rows)),
            }
        }
        text
    }
}

fn first(line: &str) -> Vec<String> {
    if line.is_empty() { Vec::new() } else { vec![line.to_owned()] }
}

/// A paragraph in lines of the usual width.
pub(super) fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Lays out terms with their meanings.
fn list(rows: &[(String, String)]) -> String {
    let terms = rows.iter().map(|(term, _)| term.len());
    let width = terms.filter(|width| *width <= TERM).max().unwrap_or(0);
    let mut text = String::new();
    for (term, meaning) in rows {
        let mut line = format!("  {term:width$}  ");
        if term.len() > width {
            text.push_str(&format!("  {term}\n"));
            line = " ".repeat(width + 4);
        }
        for word in meaning.split(' ') {
            if line.trim_end().len() + 1 + word.len() > WIDTH && line.len() > width + 4 {
                text.push_str(&format!("{}\n", line.trim_end()));
                line = " ".repeat(width + 4);
            }
            line.push_str(word);
            line.push(' ');
        }
        if !line.trim().is_empty() {
            text.push_str(&format!("{}\n", line.trim_end()));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_keep_their_shape_and_tables_are_filled_in() {
        let text =
            "What it\nis about.\n\nSOME WORDS\nBelow.\n\n  jobdoctor stale   look\n  jobdoctor show\n\n{table}\n";
        let row = |term: &str, meaning: &str| (term.to_owned(), meaning.to_owned());
        let page = Page::parse(text, |name| vec![row(name, "one"), row("b", &"word ".repeat(20))]);
        let screen = Screen { width: None, color: false, ..Screen::default() };
        let words = |n: usize| vec!["word"; n].join(" ");
        let expected = format!(
            "What it\nis about.\n\nSOME WORDS\nBelow.\n\n  jobdoctor stale   look\n  jobdoctor show\n\n  table  one\n  b      \
             {}\n         {}\n",
            words(14),
            words(6)
        );
        assert_eq!(page.render(&screen), expected);
        assert!(page.render(&Screen { width: None, color: true, ..Screen::default() }).contains('\x1b'));
    }
}
