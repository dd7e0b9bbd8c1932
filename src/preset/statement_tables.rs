//! What a statement does to which tables, by the words before their names.

use super::template::{Piece, Template};
use std::collections::BTreeSet;

/// What is done to a table; each is a right of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Touch {
    /// Its rows are read.
    Select,
    /// Rows are added.
    Insert,
    /// Rows are changed.
    Update,
    /// Rows are deleted.
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
                    let word = before.trim_end().to_uppercase();
                    let touch = match () {
                        () if word.ends_with("INSERT INTO") => Touch::Insert,
                        () if word.ends_with("UPDATE") => Touch::Update,
                        () if word.ends_with("DELETE FROM") => Touch::Delete,
                        () => Touch::Select,
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

    /// Fails unless each table that it writes to is named in braces, right behind the words that write: only then can they be
    /// changed to say what becomes of a conflict.
    pub(super) fn writes_to_names(&self) -> Result<(), String> {
        let mut bare = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => bare.extend(text.split('\'').step_by(2)),
                Piece::Name(_) => bare.push_str(" {} "),
                _ => bare.push_str(" ? "),
            }
        }
        if bare.contains("--") || bare.contains("/*") {
            return Err("holds a comment: write it outside of the SQL".to_owned());
        }
        let words: Vec<String> = bare.split_whitespace().map(str::to_uppercase).collect();
        for (n, word) in words.iter().enumerate() {
            let is_of_upsert = n > 0 && words.get(n - 1).is_some_and(|before| before == "DO");
            let is_due = word == "INTO" || word == "UPDATE" && !is_of_upsert;
            let behind = if words.get(n + 1).is_some_and(|next| next == "OR") { n + 3 } else { n + 1 };
            if let Some(name) = words.get(behind).filter(|name| is_due && *name != "{}") {
                return Err(format!("writes to {}: name the table in braces, as in {{jobs}}", name.to_lowercase()));
            }
        }
        Ok(())
    }
}
