//! Reads and renders a page of help.

use crate::output::format::{Screen, wrap};

/// What ends the part of a page that is help.
const END: &str = "<!-- ";
/// Width of lists, in columns.
const WIDTH: usize = 80;
/// Longest term, in columns, that shares a line with its meaning.
const TERM: usize = 26;

pub struct Page {
    pub blocks: Vec<Block>,
}

pub enum Block {
    Heading(String),
    Paragraph(Vec<String>),
    /// Indented lines, shown as they are.
    Literal(Vec<String>),
    Table(Vec<(String, String)>),
}

impl Page {
    /// Reads Markdown: headings, paragraphs, numbered lists, fenced blocks and tables of two columns; a name in braces
    /// stands for the rows that `table` gives. The title is left out, and so is all that follows a comment.
    pub(super) fn markdown(text: &str, table: impl Fn(&str) -> Vec<(String, String)>) -> Page {
        let mut blocks: Vec<Block> = Vec::new();
        let mut fence: Option<Vec<String>> = None;
        let mut paragraph = String::new();
        for line in text.lines().take_while(|line| !line.starts_with(END)).chain([""]) {
            if let Some(mut lines) = fence.take() {
                match line {
                    "```" => blocks.push(Block::Literal(lines)),
                    _ => {
                        lines.push(format!("  {line}").trim_end().to_owned());
                        fence = Some(lines);
                    }
                }
                continue;
            }
            let is_item = line.starts_with(|c: char| c.is_ascii_digit()) && line.contains(". ");
            let is_text = !line.is_empty() && !line.starts_with(['#', '|', '{']) && !line.starts_with("```");
            if !paragraph.is_empty() && (is_item || !is_text) {
                blocks.push(Block::Paragraph(paragraph_lines(&std::mem::take(&mut paragraph))));
            }
            match (line.split_once("# "), line.strip_prefix("| ").and_then(|row| row.strip_suffix(" |"))) {
                (Some(("" | "##" | "#", title)), _) if line.starts_with("## ") || line.starts_with("### ") => {
                    blocks.push(Block::Heading(title.to_uppercase()));
                }
                (_, Some(row)) => table_row(row, &mut blocks),
                _ if line.starts_with('{') => blocks.push(Block::Table(table(line.trim_matches(['{', '}'])))),
                _ if line.starts_with("```") => fence = Some(Vec::new()),
                _ if is_text => paragraph.push_str(&format!("{} ", line.trim())),
                _ => {}
            }
        }
        Page { blocks }
    }

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

/// Adds a row to the table that it continues. The head of a table begins it and is left out.
fn table_row(row: &str, blocks: &mut Vec<Block>) {
    let (term, meaning) = row.split_once(" | ").unwrap_or((row, ""));
    match blocks.last_mut() {
        Some(Block::Table(rows)) if term.starts_with("---") => rows.clear(),
        Some(Block::Table(rows)) => rows.push((plain(term).replace('`', ""), plain(meaning))),
        _ => blocks.push(Block::Table(Vec::new())),
    }
}

/// Text with the words of links in place of the links.
fn plain(text: &str) -> String {
    let mut parts = text.split("](");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if let Some(begin) = plain.rfind('[') {
            plain.remove(begin);
        }
        plain.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    plain
}

fn paragraph_lines(text: &str) -> Vec<String> {
    wrap(plain(text).trim_end(), WIDTH).into_iter().map(str::to_owned).collect()
}

fn list(rows: &[(String, String)]) -> String {
    let terms = rows.iter().map(|(term, _)| term.len());
    let width = terms.filter(|width| *width <= TERM).max().unwrap_or(0);
    let mut text = String::new();
    for (term, meaning) in rows {
        let mut term = term.as_str();
        if term.len() > width {
            text.push_str(&format!("  {term}\n"));
            term = "";
        }
        for line in wrap(meaning, WIDTH - width - 4) {
            if !(term.is_empty() && line.is_empty()) {
                text.push_str(&format!("{}\n", format!("  {term:width$}  {line}").trim_end()));
            }
            term = "";
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_the_documentation_reads_as_help() {
        let text = "# Title\n\nSee [the\nother](page.md#x) `page`.\n\n1. One\n   more.\n2. Two.\n\n## A shape\n\n```toml x\n[a]\n\nb = 1\n```\n\n\
                    | key | meaning |\n| --- | --- |\n| `a.b`, `c` | one of `d` |\n\n{table}\n\n<!-- end -->\nNot this.\n";
        let row = |term: &str, meaning: &str| (term.to_owned(), meaning.to_owned());
        let page = Page::markdown(text, |name| vec![row(name, "one"), row("b", &"word ".repeat(20))]);
        let words = |n: usize| vec!["word"; n].join(" ");
        let expected = format!(
            "See the other `page`.\n\n1. One more.\n\n2. Two.\n\nA SHAPE\n  [a]\n\n  b = 1\n\n  a.b, c  one of `d`\n\n  \
             table  one\n  b      {}\n         {}\n",
            words(14),
            words(6)
        );
        let screen = Screen { width: None, color: false, ..Screen::default() };
        assert_eq!(page.render(&screen), expected);
        assert!(page.render(&Screen { width: None, color: true, ..Screen::default() }).contains('\x1b'));
    }
}
