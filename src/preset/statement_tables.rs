//! What a statement does to which tables, by the words before their names.

use super::template::{Piece, Template};
use crate::model::Engine;
use regex_lite::{Captures, Regex};
use std::collections::BTreeSet;

/// What is done to a table; each is a right of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Touch {
    Select,
    Insert,
    Update,
    Delete,
}

impl Touch {
    /// Its name as a right.
    pub fn right(self) -> &'static str {
        match self {
            Touch::Select => "SELECT",
            Touch::Insert => "INSERT",
            Touch::Update => "UPDATE",
            Touch::Delete => "DELETE",
        }
    }
}

impl Template {
    /// The tables that it names, by their logical names, and what it does to each. Fragments must have been put in.
    pub fn touches(&self) -> BTreeSet<(Touch, &str)> {
        let mut touches = BTreeSet::new();
        let mut inserted = None;
        let (mut before, mut last) = ("", None);
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => {
                    let upper = text.to_uppercase();
                    if let Some(table) = inserted.filter(|_| upper.contains("ON CONFLICT")) {
                        // Postgres looks for the row in the way, and may change it.
                        touches.insert((Touch::Select, table));
                        touches.extend(upper.contains("DO UPDATE").then_some((Touch::Update, table)));
                    }
                    if let Some(table) = last.filter(|_| upper.contains("FOR UPDATE") || upper.contains("FOR SHARE")) {
                        // Postgres lets only those lock a row who may change it.
                        touches.insert((Touch::Update, table));
                    }
                    before = text;
                }
                Piece::Name(table) => {
                    last = Some(table.as_str());
                    let before = before.to_uppercase();
                    let touch = match words(&before).as_slice() {
                        [.., "INSERT", "INTO"] => Touch::Insert,
                        [.., "UPDATE"] => Touch::Update,
                        [.., "DELETE", "FROM"] => Touch::Delete,
                        _ => Touch::Select,
                    };
                    if touch == Touch::Insert {
                        inserted = Some(table.as_str());
                    }
                    if matches!(touch, Touch::Update | Touch::Delete) {
                        // Its condition reads the rows.
                        touches.insert((Touch::Select, table.as_str()));
                    }
                    touches.insert((touch, table.as_str()));
                }
                _ => {}
            }
        }
        touches
    }

    /// Fails where a name in braces that stands for a table is none of the preset's `tables`, and on SQLite unless each
    /// table that it writes to is named so, right behind the words that write: only then can they be changed to say
    /// what becomes of a conflict.
    pub(super) fn names_tables(&self, engine: Engine, is_table: &dyn Fn(&str) -> bool) -> Result<(), String> {
        let mut sql = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => sql.push_str(text),
                Piece::Name(name) if is_table(name) => sql.push_str(" {} "),
                Piece::Name(name) => sql.push_str(&format!(" {{{name}}} ")),
                _ => sql.push_str(" ? "),
            }
        }
        // Literals are left out, and of quoted names only a quote stays.
        let quoted = Regex::new(r#"'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]"#).map_err(|error| error.to_string())?;
        let quote = |found: &Captures<'_>| if found[0].starts_with('\'') { " ? " } else { " \" " }.to_owned();
        let bare = quoted.replace_all(&sql, quote);
        if engine.has_conflict_clauses() && (bare.contains("--") || bare.contains("/*")) {
            return Err("holds a comment: write it outside of the SQL".to_owned());
        }
        let words = words(&bare);
        let is = |n: usize, word: &str| words.get(n).is_some_and(|found| found.eq_ignore_ascii_case(word));
        for n in 0..words.len() {
            let writes = is(n, "INTO") || is(n, "UPDATE") && !(n > 0 && is(n - 1, "DO"));
            let behind = words.get(if is(n + 1, "OR") { n + 3 } else { n + 1 }).copied().unwrap_or("{}");
            if (writes || is(n, "FROM") || is(n, "JOIN")) && behind.starts_with('{') && behind != "{}" {
                return Err(format!("names {behind}, which is none of `tables`"));
            }
            if writes && engine.has_conflict_clauses() && behind != "{}" {
                return Err(format!("writes to {behind}: name the table in braces, as in {{jobs}}"));
            }
        }
        Ok(())
    }
}

/// The words of a statement; names in braces and quotes stay what they are.
pub fn words(sql: &str) -> Vec<&str> {
    let is_of_word = |c: char| c.is_alphanumeric() || ['_', '$', '{', '}', '"', '?', '.'].contains(&c);
    sql.split(|c: char| !is_of_word(c)).filter(|word| !word.is_empty()).collect()
}
