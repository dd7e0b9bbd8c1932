//! Compiles SQL that runs with the queue's schema on the search path, so that Postgres looks no name up there.

use super::lex::{Kind, Token, lex, tokens};
use super::template::{Piece, Template};

/// Words that are no column's name: an operand may follow each of them.
const RESERVED: &str = " all and any array as asc both case cast cross desc distinct do else except for from full group having ilike in \
    inner intersect into is isnull join lateral leading left like limit natural not notnull offset on or order outer placing returning \
    right select similar some then trailing union using variadic when where window with ";
/// Those that begin a part of a statement.
const CLAUSES: &str =
    " except for from group having intersect limit offset order returning select set union using where window ";
/// Further words before a bracket: of the grammar, or functions that it always takes from `pg_catalog`.
const CALLS: &str = " by coalesce conflict exists extract filter greatest least materialized over overlay position row set substring trim \
    values ";
/// Types that are words of the grammar, which means `pg_catalog`'s by them. Any other type is looked up. One that
/// `pg_catalog` has is found there first, but a name that it lacks would be taken from a type that
/// a stranger makes in the queue's schema: so all are qualified.
const TYPES: &str = " bigint bit boolean char character dec decimal double float int integer interval national nchar numeric precision real \
    smallint time timestamp varchar varying zone ";

fn is_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// An open bracket, or a `CASE`.
#[derive(Default)]
struct Frame {
    /// The word before it.
    opener: String,
    clause: String,
    /// The operator since the last word that binds less, and how tightly it binds.
    operator: Option<(String, u8)>,
    /// True where the next `=` assigns.
    assigns: bool,
}

/// The template with each operator, type and collation taken from `pg_catalog`. What the search path would find all the
/// same is rewritten or refused; operators of different precedence need brackets, because `OPERATOR(...)` binds equally
/// for all.
/// The error says what cannot be compiled, and how to write it instead.
pub fn qualified(sql: &Template) -> Result<Template, String> {
    let text = sql.numbered();
    let tokens: Vec<Token<'_>> = tokens(&text, false).collect();
    let mut compiler = Compiler { tokens: &tokens, at: 0, frames: vec![Frame::default()], text: String::new() };
    let mut pieces = Vec::new();
    for token in lex(text.trim_end(), false) {
        match (token.kind, sql.piece(token.text)) {
            (Kind::Comment, _) => return Err("holds a comment: write it outside of the SQL".to_owned()),
            (_, Some(piece)) => pieces.extend([Piece::Text(std::mem::take(&mut compiler.text)), piece.clone()]),
            (Kind::Word | Kind::Quoted, None) => compiler.name(&token)?,
            (Kind::Space | Kind::Number, _) => compiler.text.push_str(token.text),
            (Kind::Text, _) if token.text.starts_with('\'') => compiler.text.push_str(token.text),
            (Kind::Operator, _) => compiler.operator(token.text)?,
            (Kind::Mark, _) if is_in("( ) [ ] , . : :: :=", token.text) => compiler.mark(token.text)?,
            _ => return Err(format!("holds `{:.1}` where an action on Postgres understands none", token.text)),
        }
        compiler.at += usize::from(token.kind != Kind::Space);
    }
    pieces.push(Piece::Text(compiler.text));
    Ok(Template(pieces.into_iter().filter(|piece| *piece != Piece::Text(String::new())).collect()))
}

/// How tightly Postgres binds an operator; equal ones from the left, except comparisons.
fn precedence(operator: &str) -> u8 {
    match operator {
        "=" | "<" | ">" | "<=" | ">=" | "<>" | "!=" | "IN" | "LIKE" | "ILIKE" => 0,
        "+" | "-" => 2,
        "*" | "/" | "%" => 3,
        "^" => 4,
        _ => 1,
    }
}

struct Compiler<'t> {
    tokens: &'t [Token<'t>],
    at: usize,
    frames: Vec<Frame>,
    text: String,
}

impl Compiler<'_> {
    fn token(&self, ahead: isize) -> Option<&Token<'_>> {
        self.tokens.get(self.at.checked_add_signed(ahead)?)
    }

    fn is_mark(&self, ahead: isize, mark: &str) -> bool {
        self.token(ahead).is_some_and(|token| token.kind == Kind::Mark && token.text == mark)
    }

    /// The word so many tokens on, in lower case; empty where there is none, or it is part of a dotted name.
    fn word(&self, ahead: isize) -> String {
        let word = self.token(ahead).filter(|token| token.kind == Kind::Word && !self.is_mark(ahead - 1, "."));
        word.map(|token| token.text.to_lowercase()).unwrap_or_default()
    }

    /// True where an operand is due, so that `*` stands for all columns and `-` is a sign.
    fn expects_operand(&self) -> bool {
        self.token(-1).is_none_or(|before| match before.kind {
            Kind::Operator => true,
            Kind::Mark => !is_in(") ]", before.text),
            _ => is_in(RESERVED, &self.word(-1)),
        })
    }

    fn mark(&mut self, mark: &str) -> Result<(), String> {
        match mark {
            "(" | "[" => self.frames.push(Frame { opener: self.word(-1), ..Frame::default() }),
            ")" | "]" => drop(self.frames.pop()),
            _ => {}
        }
        if let Some(frame) = self.frames.last_mut().filter(|_| mark == ",") {
            (frame.operator, frame.assigns) = (None, frame.clause == "set");
            // Postgres looks these up unless their arguments are apart by words.
            if is_in("overlay substring", &frame.opener) {
                return Err(looked_up("function", &frame.opener));
            }
        }
        self.text.push_str(mark);
        Ok(())
    }

    fn operator(&mut self, operator: &str) -> Result<(), String> {
        let is_prefix = self.expects_operand();
        let is_number = self.token(1).is_some_and(|token| token.kind == Kind::Number) && !self.is_mark(2, "::");
        let assigns = self.frames.last_mut().is_some_and(|frame| operator == "=" && std::mem::take(&mut frame.assigns));
        if assigns || operator == "=>" || is_prefix && (operator == "*" || is_number && is_in("- +", operator)) {
            self.text.push_str(operator);
            return Ok(());
        }
        let inner = operator.strip_prefix("OPERATOR(").and_then(|rest| rest.strip_suffix(')'));
        let (schema, name) = inner.and_then(|inner| inner.split_once('.')).unwrap_or(("pg_catalog", operator));
        self.qualify(name, schema, name, is_prefix)
    }

    /// Writes an operator, unless another one that binds otherwise stands next to it.
    fn qualify(&mut self, written: &str, schema: &str, operator: &str, is_prefix: bool) -> Result<(), String> {
        // A prefix binds less tightly as OPERATOR(...): nothing else may stand on its level.
        let precedence = if is_prefix { u8::MAX } else { precedence(written) };
        let other = self.frames.last_mut().and_then(|frame| frame.operator.replace((written.to_owned(), precedence)));
        if let Some((other, _)) = other.filter(|(_, other)| *other != precedence || [0, u8::MAX].contains(other)) {
            return Err(format!(
                "`{other}` and `{written}` stand side by side, and all operators of an action bind equally on Postgres: put \
                 brackets around the one that comes first"
            ));
        }
        let space = if self.text.is_empty() || self.text.ends_with(char::is_whitespace) { "" } else { " " };
        self.text.push_str(&format!("{space}OPERATOR({schema}.{operator})"));
        Ok(())
    }

    fn name(&mut self, token: &Token<'_>) -> Result<(), String> {
        let (word, next, before) = (self.word(0), self.word(1), self.word(-1));
        let opener = self.frames.last().map(|frame| frame.opener.clone()).unwrap_or_default();
        let (is_dotted, is_infix) = (self.is_mark(-1, ".") || self.is_mark(1, "."), !self.expects_operand());
        let is_type = self.is_mark(-1, "::") || (opener == "cast" && before == "as") || before == "collate";
        if is_type || is_dotted {
            let prefix = if is_dotted || is_in(TYPES, &word) { "" } else { "pg_catalog." };
            self.text.push_str(&format!("{prefix}{}", token.text));
            return Ok(());
        }
        let is_query = self.is_mark(1, "(") && is_in("select values with", &self.word(2));
        let is_operator = self.token(1).is_some_and(|token| token.kind == Kind::Operator);
        let is_ids = self.token(1).is_some_and(|token| token.text.starts_with('{'));
        let instead = match word.as_str() {
            "like" if is_infix => return self.qualify("LIKE", "pg_catalog", "~~", false),
            "ilike" if is_infix => return self.qualify("ILIKE", "pg_catalog", "~~*", false),
            "in" if opener != "position" && (is_query || is_ids) => {
                return self.qualify("IN", "pg_catalog", "=", false).map(|()| self.text.push_str(" ANY"));
            }
            "in" if opener != "position" => "`(a = 1 OR a = 2)` for a list",
            "not" if is_infix && is_in("between ilike in like similar", &next) => "`NOT (a IN ...)`",
            "distinct" if is_in("is not", &before) => "`(a = b) IS NOT TRUE`, and IS NULL where that counts",
            "between" | "escape" | "similar" if is_infix => "`a >= b AND a <= c`, `a LIKE b` or `a ~ b`",
            "do" if !is_in("nothing update", &next) => "the statements themselves",
            "nullif" => "`CASE WHEN a = b THEN NULL ELSE a END`",
            "case" if next != "when" => "`CASE WHEN a = b`",
            "natural" => "`ON (a.x = b.x)`",
            "using" if !is_query && (self.is_mark(1, "(") || is_operator) => "`ON (a.x = b.x)`, or ASC or DESC",
            _ => "",
        };
        if !instead.is_empty() {
            return Err(format!("`{}` looks up an operator by its name: write {instead}", word.to_uppercase()));
        }
        // Some words are functions before a bracket.
        let is_function =
            self.is_mark(1, "(") && is_in("cross full inner isnull left natural notnull outer right", &word);
        let is_reserved = is_in(RESERVED, &word) && !is_function;
        if self.is_bare_table(token, &before) {
            return Err(looked_up("table", token.text));
        }
        if self.is_mark(1, "(") && !is_reserved && !is_in(CALLS, &word) {
            return Err(looked_up("function", token.text));
        }
        if self.token(1).is_some_and(|token| token.kind == Kind::Text) && !is_reserved && !is_in(TYPES, &word) {
            self.text.push_str("pg_catalog.");
        }
        self.text.push_str(token.text);
        self.begin(&word);
        Ok(())
    }

    /// True for a table that is none of the statement's own WITH: another role's may come first on the search path.
    fn is_bare_table(&self, token: &Token<'_>, before: &str) -> bool {
        let names_tables = self.frames.last().is_some_and(|frame| {
            is_in("from using", &frame.clause) && !is_in("extract overlay substring trim", &frame.opener)
        });
        let is_due = match before {
            "from" | "using" => names_tables,
            "into" | "join" | "table" => true,
            "update" => !is_in("of set skip nowait", &self.word(0)),
            _ => names_tables && self.is_mark(-1, ","),
        };
        let with = ["(", "materialized", "not"].map(|what| format!("{} as {what}", token.text.to_lowercase()));
        let said =
            |three: &[Token<'_>]| three.iter().map(|token| token.text.to_lowercase()).collect::<Vec<_>>().join(" ");
        is_due && !is_in(RESERVED, &self.word(0)) && !self.tokens.windows(3).any(|three| with.contains(&said(three)))
    }

    /// What a word of the grammar begins or ends.
    fn begin(&mut self, word: &str) {
        let is_of_type = word == "with" && self.word(1) == "time";
        if word == "end" && self.frames.last().is_some_and(|frame| frame.opener == "case") {
            self.frames.pop();
        }
        if let Some(frame) = self.frames.last_mut() {
            if is_in(RESERVED, word) && !is_of_type {
                frame.operator = None;
            }
            if is_in(CLAUSES, word) {
                (frame.clause, frame.assigns) = (word.to_owned(), word == "set");
            }
        }
        if word == "case" {
            self.frames.push(Frame { opener: "case".to_owned(), ..Frame::default() });
        }
    }
}

fn looked_up(what: &str, name: &str) -> String {
    let system = if what == "table" { String::new() } else { format!("pg_catalog.{name}(...), or ") };
    format!("{what} {name} is found by the search path: write {system}{{{name}}} for one of the queue's schema")
}
