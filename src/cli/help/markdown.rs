//! Reads a page of the documentation as a page of help, so that both have one source.

use super::page::{Block, Page, wrapped};

/// What ends the part of a page that is help.
const END: &str = "<!-- ";

impl Page {
    /// Reads Markdown: headings, paragraphs, numbered lists, fenced blocks and tables of two columns. The title is left out, and so
    /// is all that follows a comment.
    pub(super) fn markdown(text: &str) -> Page {
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
            let is_text = !line.is_empty() && !line.starts_with(['#', '|', '`']);
            if !paragraph.is_empty() && (is_item || !is_text) {
                blocks.push(Block::Paragraph(wrapped(&plain(&std::mem::take(&mut paragraph)))));
            }
            match (line.split_once("# "), line.strip_prefix("| ").and_then(|row| row.strip_suffix(" |"))) {
                (Some(("" | "##" | "#", title)), _) if line.starts_with("## ") || line.starts_with("### ") => {
                    blocks.push(Block::Heading(title.to_uppercase()));
                }
                (_, Some(row)) => table_row(row, &mut blocks),
                _ if line.starts_with("```") => fence = Some(Vec::new()),
                _ if is_text => paragraph.push_str(&format!("{} ", line.trim())),
                _ => {}
            }
        }
        Page { blocks }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::format::Screen;

    #[test]
    fn a_page_of_the_documentation_reads_as_help() {
        let text = "# Title\n\nSee [the\nother](page.md#x) `page`.\n\n1. One\n   more.\n2. Two.\n\n## A shape\n\n```toml x\n[a]\n\nb = 1\n```\n\n\
                    | key | meaning |\n| --- | --- |\n| `a.b`, `c` | one of `d` |\n\n<!-- end -->\nNot this.\n";
        let expected =
            "See the other `page`.\n\n1. One more.\n\n2. Two.\n\nA SHAPE\n  [a]\n\n  b = 1\n\n  a.b, c  one of `d`\n";
        assert_eq!(Page::markdown(text).render(&Screen { width: None, color: false, ..Screen::default() }), expected);
    }
}
