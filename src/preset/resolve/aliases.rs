//! The aliases of a FROM clause.

use crate::preset::template::{Piece, Template};

/// The aliases of a FROM clause in order: `{table} AS alias` with their table, and `) AS alias` of sub-selects without.
pub(in crate::preset) fn aliases_of(from: &Template) -> Vec<(String, Option<String>)> {
    let mut aliases = Vec::new();
    let mut depth = 0_i32;
    let mut table: Option<&String> = None;
    for piece in &from.0 {
        match piece {
            Piece::Name(name) => table = Some(name).filter(|_| depth == 0),
            Piece::Text(text) => {
                let words = text.split_inclusive(|c: char| c.is_whitespace() || c == '(' || c == ')').peekable();
                let mut after_close = false;
                for word in words {
                    let bare = word.trim_end_matches(|c: char| c.is_whitespace() || c == '(' || c == ')').trim();
                    if depth == 0 && (table.is_some() || after_close) && !bare.is_empty() {
                        let is_as = bare.eq_ignore_ascii_case("as");
                        if !is_as {
                            aliases.push((bare.to_owned(), table.cloned()));
                            table = None;
                            after_close = false;
                        }
                    }
                    if word.ends_with('(') {
                        depth += 1;
                    } else if word.ends_with(')') {
                        depth -= 1;
                        after_close = depth == 0;
                    }
                }
            }
            _ => {}
        }
    }
    aliases
}

/// The tables that the sub-selects of a FROM clause read, as far as they are named in braces; `None` where no sub-select reads
/// any table.
pub(super) fn sub_selects_read(from: &Template) -> Option<Vec<&str>> {
    let (mut depth, mut reads, mut names) = (0_i32, false, Vec::new());
    for piece in &from.0 {
        match piece {
            Piece::Name(name) if depth > 0 => names.push(name.as_str()),
            Piece::Text(text) => {
                for word in text.split_inclusive(|c: char| c.is_whitespace() || c == '(' || c == ')') {
                    let bare = word.trim_end_matches(|c: char| c.is_whitespace() || c == '(' || c == ')');
                    reads |= depth > 0 && bare.eq_ignore_ascii_case("from");
                    depth += match word.chars().last() {
                        Some('(') => 1,
                        Some(')') => -1,
                        _ => 0,
                    };
                }
            }
            _ => {}
        }
    }
    (reads || !names.is_empty()).then_some(names)
}
