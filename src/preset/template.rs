//! SQL fragments of a preset, cut at their markers, and what a statement does to which tables.
//!
//! The scanner skips quoted strings, quoted names, comments and casts, so that `'{}'`, `'$.x'`, `::text` and slices
//! stay what they are. Anything that looks like a marker and is not one of the closed set is an error.

use crate::model::{Cell, Engine};
use regex_lite::{Captures, Regex};
use std::collections::BTreeSet;
use std::fmt;

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

/// True for a plain SQL name: a letter or underscore, then letters, digits, underscores.
pub fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_') && chars.all(|c| c.is_alphanumeric() || c == '_')
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
        Scanner { text, at: 0, plain: String::new(), pieces: Vec::new() }.run()
    }

    pub fn asks(&self, wanted: &Marker) -> bool {
        self.0.iter().any(|piece| matches!(piece, Piece::Marker(marker) if marker == wanted))
    }

    /// The constant that it is: a number, true or false, or a quoted text without its quotes, perhaps with a cast
    /// behind it.
    pub fn constant(&self) -> Option<&str> {
        let [Piece::Text(text)] = self.0.as_slice() else { return None };
        let bare = text.split("::").next()?.trim();
        if let Some(inner) = bare.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
            return (!inner.contains('\'')).then_some(inner);
        }
        let is_truth = ["true", "false"].iter().any(|word| bare.eq_ignore_ascii_case(word));
        (is_truth || bare.parse::<f64>().is_ok()).then_some(bare)
    }

    pub fn markers(&self) -> impl Iterator<Item = &Marker> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Marker(marker) => Some(marker),
            _ => None,
        })
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    plain: String,
    pieces: Vec<Piece>,
}

impl Scanner<'_> {
    fn run(mut self) -> Result<Template, String> {
        while let Some(c) = self.rest().chars().next() {
            match c {
                '\'' | '"' => self.quoted(c)?,
                '-' if self.rest().starts_with("--") => self.until("\n"),
                '/' if self.rest().starts_with("/*") => self.until("*/"),
                ':' if self.rest().starts_with("::") => self.keep(2),
                ':' => self.marker()?,
                '{' => self.braces()?,
                '}' => return Err("has a `}` without a `{`".to_owned()),
                ';' => return Err("holds a `;`: one statement each".to_owned()),
                '$' if self.rest().starts_with("$$") => {
                    return Err("holds a `$$` string, which is not understood here".to_owned());
                }
                _ => self.keep(c.len_utf8()),
            }
        }
        self.flush();
        Ok(Template(self.pieces))
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn keep(&mut self, bytes: usize) {
        let kept = self.rest().get(..bytes).unwrap_or_default().to_owned();
        self.plain.push_str(&kept);
        self.at += bytes;
    }

    fn flush(&mut self) {
        if !self.plain.is_empty() {
            self.pieces.push(Piece::Text(std::mem::take(&mut self.plain)));
        }
    }

    fn push(&mut self, piece: Piece, bytes: usize) {
        self.flush();
        self.pieces.push(piece);
        self.at += bytes;
    }

    /// A doubled quote inside is two quoted texts in a row to this scanner, which comes to the same.
    fn quoted(&mut self, quote: char) -> Result<(), String> {
        match self.rest().get(1..).and_then(|inner| inner.find(quote)) {
            Some(end) => {
                self.keep(end + 2);
                Ok(())
            }
            None => Err(format!("has an unclosed {quote}")),
        }
    }

    fn until(&mut self, end: &str) {
        let length = self.rest().find(end).map_or(self.rest().len(), |at| at + end.len());
        self.keep(length);
    }

    fn braces(&mut self) -> Result<(), String> {
        let Some(end) = self.rest().find('}') else { return Err("has an unclosed `{`".to_owned()) };
        let name = self.rest().get(1..end).unwrap_or_default().to_owned();
        let piece = match name.strip_prefix("sql.") {
            Some(fragment) if is_name(fragment) => Piece::Fragment(fragment.to_owned()),
            None if is_name(&name) => Piece::Name(name),
            _ => return Err(format!("`{{{name}}}` is neither a {{name}} nor a {{sql.name}}")),
        };
        self.push(piece, end + 1);
        Ok(())
    }

    fn marker(&mut self) -> Result<(), String> {
        let after = self.rest().get(1..).unwrap_or_default();
        let length = after.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(after.len());
        let name = after.get(..length).unwrap_or_default().trim_end_matches('.').to_owned();
        if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            // A slice such as a[1:2], or an operator.
            self.keep(1);
            return Ok(());
        }
        match Marker::parse(&name) {
            Some(marker) => {
                self.push(Piece::Marker(marker), name.len() + 1);
                Ok(())
            }
            None => Err(format!(
                "`:{name}` is not a marker; known are :ids, :now, :now.column, :now.rfc3339, :run_at, :run_at.column, \
                 :reason, :fail_code, :schema, :queue, :moved"
            )),
        }
    }
}

/// What is done to a table; each is a right of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Touch {
    Select,
    Insert,
    Update,
    Delete,
}

impl Touch {
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
                    let touch = match statement_words(&before).as_slice() {
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
        let words = statement_words(&bare);
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
pub fn statement_words(sql: &str) -> Vec<&str> {
    let is_of_word = |c: char| c.is_alphanumeric() || ['_', '$', '{', '}', '"', '?', '.'].contains(&c);
    sql.split(|c: char| !is_of_word(c)).filter(|word| !word.is_empty()).collect()
}
