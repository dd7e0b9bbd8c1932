//! SQL fragments of a preset, cut at their markers, and what a statement does to which tables.
//!
//! Quoted strings, quoted names, comments and casts hold no markers, so that `'{}'`, `'$.x'`, `::text` and slices
//! stay what they are. Anything that looks like a marker and is not one of the closed set is an error.

use super::lex::{Kind, Token, is_name, lex, tokens};
use crate::model::{Cell, Engine};
use std::collections::BTreeSet;
use std::fmt;
use strum::IntoStaticStr;

/// A column of the claim's FROM clause.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Column {
    /// The alias of its table; empty for an expression in the place of a column.
    pub alias: String,
    /// Its name, exactly as the catalog has it; the SQL of an expression.
    pub name: String,
    /// Its type as the catalog has it; empty where it belongs to a sub-select.
    pub type_name: String,
}

impl Column {
    /// An expression in the place of a column; `None` where it is more than plain SQL.
    pub(super) fn expression(sql: &Template) -> Option<Column> {
        let text = |piece: &Piece| if let Piece::Text(text) = piece { Some(text.clone()) } else { None };
        let name = sql.0.iter().map(text).collect::<Option<String>>()?;
        Some(Column { alias: String::new(), name, type_name: String::new() })
    }

    /// True for an expression in the place of a column.
    pub fn is_expression(&self) -> bool {
        self.alias.is_empty()
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A fragment of SQL, cut at its markers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Template(pub Vec<Piece>);

#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// SQL to be taken as it is.
    Text(String),
    /// `{name}`: a logical table, or a type or function of the queue's schema.
    Name(String),
    Fragment(String),
    /// A column that is known to be there; only the program itself makes these.
    Column(Column),
    /// A stored value, written as a literal; only the program itself makes these.
    Literal(Cell),
    /// A value that is bound as a parameter.
    Marker(Marker),
}

impl Piece {
    fn parse(token: Token<'_>) -> Result<Piece, String> {
        let inner = token.text.get(1..).unwrap_or_default();
        match (token.kind, token.text.chars().next()) {
            (Kind::Quoted, Some('{')) => {
                let name = inner.trim_end_matches('}');
                match name.strip_prefix("sql.") {
                    Some(fragment) if is_name(fragment) => Ok(Piece::Fragment(fragment.to_owned())),
                    None if is_name(name) => Ok(Piece::Name(name.to_owned())),
                    _ => Err(format!("`{{{name}}}` is neither a {{name}} nor a {{sql.name}}")),
                }
            }
            (Kind::Mark, Some(':')) if inner.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                Marker::parse(inner).map(Piece::Marker).ok_or_else(|| {
                    format!(
                        "`:{inner}` is not a marker; known are :ids, :now, :now.column, :now.rfc3339, :run_at, \
                         :run_at.column, :reason, :fail_code, :schema, :queue, :moved"
                    )
                })
            }
            (Kind::Mark, Some('}')) => Err("has a `}` without a `{`".to_owned()),
            (Kind::Mark, Some(';')) => Err("holds a `;`: one statement each".to_owned()),
            (Kind::Text | Kind::Unclosed, Some('$')) => {
                Err("holds a `$$` string, which is not understood here".to_owned())
            }
            (Kind::Unclosed, _) => {
                Err(format!("has an unclosed `{:.1}`", token.text.trim_start_matches(char::is_alphabetic)))
            }
            _ => Ok(Piece::Text(token.text.to_owned())),
        }
    }
}

/// The values that a fragment may ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Marker {
    /// The keys of the batch, after `IN`.
    Ids,
    /// The transaction's own now. With a column: in that column's encoding.
    Now(Option<String>),
    /// Now as RFC 3339 text.
    NowRfc3339,
    /// When the job may run again: now, or as much later as the operator asks. With a column: in that column's
    /// encoding.
    RunAt(Option<String>),
    /// The instant from which ended jobs are counted, in that column's encoding.
    Since(String),
    Reason,
    /// Why jobdoctor fails the job: see [`FailCode`](crate::model::FailCode).
    FailCode,
    Schema,
    /// The job's queue; in wake-ups only.
    Queue,
    /// How many jobs the run moved; in wake-ups only.
    Moved,
}

/// The names of the markers that ask for no column's encoding.
const MARKERS: [(&str, Marker); 9] = [
    ("ids", Marker::Ids),
    ("now", Marker::Now(None)),
    ("now.rfc3339", Marker::NowRfc3339),
    ("run_at", Marker::RunAt(None)),
    ("reason", Marker::Reason),
    ("fail_code", Marker::FailCode),
    ("schema", Marker::Schema),
    ("queue", Marker::Queue),
    ("moved", Marker::Moved),
];

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Marker::Now(Some(column)) => write!(f, ":now.{column}"),
            Marker::RunAt(Some(column)) => write!(f, ":run_at.{column}"),
            Marker::Since(column) => write!(f, ":since.{column}"),
            plain => {
                MARKERS.iter().filter(|(_, marker)| marker == plain).try_for_each(|(name, _)| write!(f, ":{name}"))
            }
        }
    }
}

impl Marker {
    fn parse(name: &str) -> Option<Marker> {
        if let Some((_, marker)) = MARKERS.into_iter().find(|(known, _)| *known == name) {
            return Some(marker);
        }
        match name.split_once('.').filter(|(_, column)| is_name(column))? {
            ("now", column) => Some(Marker::Now(Some(column.to_owned()))),
            ("run_at", column) => Some(Marker::RunAt(Some(column.to_owned()))),
            ("since", column) => Some(Marker::Since(column.to_owned())),
            _ => None,
        }
    }
}

impl Template {
    /// SQL in which each `?` stands for the next of these.
    pub(super) fn around(sql: &str, parts: &[&[Piece]]) -> Template {
        let mut parts = parts.iter();
        let mut pieces = Vec::new();
        for text in sql.split_inclusive('?') {
            pieces.push(Piece::Text(text.trim_end_matches('?').to_owned()));
            if text.ends_with('?') {
                pieces.extend(parts.next().copied().unwrap_or_default().iter().cloned());
            }
        }
        pieces.retain(|piece| *piece != Piece::Text(String::new()));
        Template(pieces)
    }

    /// The tables and other names of the queue's schema in it, by their logical names.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.0.iter().filter_map(|piece| if let Piece::Name(name) = piece { Some(name) } else { None })
    }

    /// Cuts a fragment at its markers. The error is the end of a sentence.
    pub fn parse(text: &str) -> Result<Template, String> {
        let mut pieces = Vec::new();
        // The engine is not known yet: brackets may be those of an array.
        for token in lex(text, false) {
            match (Piece::parse(token)?, pieces.last_mut()) {
                (Piece::Text(more), Some(Piece::Text(text))) => text.push_str(&more),
                (piece, _) => pieces.push(piece),
            }
        }
        Ok(Template(pieces))
    }

    /// Returns its SQL, in which `spell` writes each piece that is no text, by its number.
    pub fn spelled(&self, spell: impl Fn(usize, &Piece) -> String) -> String {
        let text =
            |(n, piece): (usize, &Piece)| if let Piece::Text(text) = piece { text.clone() } else { spell(n, piece) };
        self.0.iter().enumerate().map(text).collect()
    }

    /// Returns its SQL with `{n}` for the n-th piece, if that is no text.
    pub(super) fn numbered(&self) -> String {
        self.spelled(|n, _| format!("{{{n}}}"))
    }

    /// Returns the piece for which [`Template::numbered`] writes that.
    pub(super) fn piece(&self, numbered: &str) -> Option<&Piece> {
        self.0.get(numbered.strip_prefix('{')?.strip_suffix('}')?.parse::<usize>().ok()?)
    }

    /// Returns the logical name for which [`Template::numbered`] writes that.
    pub(super) fn name(&self, numbered: &str) -> Option<&str> {
        self.piece(numbered).and_then(|piece| if let Piece::Name(name) = piece { Some(name.as_str()) } else { None })
    }

    pub fn asks(&self, wanted: &Marker) -> bool {
        self.markers().any(|marker| marker == wanted)
    }

    pub fn markers(&self) -> impl Iterator<Item = &Marker> {
        self.0.iter().filter_map(|piece| if let Piece::Marker(marker) = piece { Some(marker) } else { None })
    }
}

/// What is done to a table; each is a right of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum Touch {
    Select,
    Insert,
    Update,
    Delete,
}

impl Touch {
    pub fn right(self) -> &'static str {
        self.into()
    }
}

impl Template {
    /// The tables that it names, by their logical names, and what it does to each. Fragments must have been put in.
    pub fn touches(&self) -> BTreeSet<(Touch, &str)> {
        let (mut touches, mut inserted, mut last) = (BTreeSet::new(), None, None);
        let upper = self.numbered().to_uppercase();
        let words: Vec<&str> = tokens(&upper, false).map(|token| token.text).collect();
        for n in 0..words.len() {
            match words.get(..=n).unwrap_or_default() {
                // Postgres looks for the row in the way, and may change it.
                [.., "ON", "CONFLICT"] => touches.extend(inserted.map(|table| (Touch::Select, table))),
                [.., "DO", "UPDATE"] => touches.extend(inserted.map(|table| (Touch::Update, table))),
                // Postgres lets only those lock a row who may change it.
                [.., "FOR", "UPDATE" | "SHARE"] => touches.extend(last.map(|table| (Touch::Update, table))),
                [before @ .., name] => {
                    let Some(table) = self.name(name) else { continue };
                    let touch = match before {
                        [.., "INSERT", "INTO"] => Touch::Insert,
                        [.., "UPDATE"] => Touch::Update,
                        [.., "DELETE", "FROM"] => Touch::Delete,
                        _ => Touch::Select,
                    };
                    last = Some(table);
                    inserted = last.filter(|_| touch == Touch::Insert).or(inserted);
                    // The condition of an UPDATE or a DELETE reads the rows.
                    touches.extend((touch != Touch::Insert).then_some((Touch::Select, table)));
                    touches.insert((touch, table));
                }
                [] => {}
            }
        }
        touches
    }

    /// Fails where a name in braces that stands for a table is none of the preset's `tables`, and on SQLite unless each
    /// table that it writes to is named so, right behind the words that write: only then can they be changed to say
    /// what becomes of a conflict.
    pub fn names_tables(&self, engine: Engine, is_table: &dyn Fn(&str) -> bool) -> Result<(), String> {
        let sql = self.spelled(|_, piece| match piece {
            Piece::Name(name) if is_table(name) => "{}".to_owned(),
            Piece::Name(name) => format!("{{{name}}}"),
            _ => " 0 ".to_owned(),
        });
        let quotes = engine.quotes_in_brackets();
        if engine.has_conflict_clauses() && lex(&sql, quotes).any(|token| token.kind == Kind::Comment) {
            return Err("holds a comment: write it outside of the SQL".to_owned());
        }
        let words = tokens(&sql, quotes)
            .filter(|token| !matches!(token.kind, Kind::Operator | Kind::Mark) || token.text == ".");
        let words: Vec<&str> = words.map(|token| token.text).collect();
        let is = |n: usize, word: &str| words.get(n).is_some_and(|found| found.eq_ignore_ascii_case(word));
        for n in 0..words.len() {
            let is_behind = |word| n > 0 && is(n - 1, word);
            let writes = is(n, "INTO") || is(n, "UPDATE") && !is_behind("DO");
            let behind = words.get(if is(n + 1, "OR") { n + 3 } else { n + 1 }..).unwrap_or_default();
            let behind: String = behind.iter().take(if behind.get(1) == Some(&".") { 3 } else { 1 }).copied().collect();
            if is_behind(".") || ["", "{}"].contains(&behind.as_str()) {
                continue;
            }
            if (writes || is(n, "FROM") || is(n, "JOIN")) && behind.starts_with('{') {
                return Err(format!("names {behind}, which is none of `tables`"));
            }
            if writes && engine.has_conflict_clauses() {
                return Err(format!("writes to {behind}: name the table in braces, as in {{jobs}}"));
            }
        }
        Ok(())
    }
}

/// The aliases of a FROM clause in order: `{table} AS alias` with their table, and `) AS alias` of sub-selects without.
pub(super) fn aliases_of(from: &Template) -> Vec<(String, Option<String>)> {
    // What an alias may follow: a table, or a bracket.
    let (mut aliases, mut depth, mut before) = (Vec::new(), 0, None);
    for token in tokens(&from.numbered(), false) {
        match (token.text, from.name(token.text)) {
            ("(", _) => depth += 1,
            (")", _) => (depth, before) = (depth - 1, before.or((depth == 1).then_some(None))),
            (_, Some(table)) => before = (depth == 0).then(|| Some(table.to_owned())),
            (word, None) if depth == 0 && !word.eq_ignore_ascii_case("as") && !word.starts_with('{') => {
                aliases.extend(before.take().map(|table| (word.to_owned(), table)));
            }
            _ => {}
        }
    }
    aliases
}
