//! Cuts SQL into tokens: quotes, comments, names, numbers and operators.

/// A piece of SQL. The tokens of a text, joined, are the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'s> {
    pub kind: Kind,
    pub text: &'s str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Space,
    Comment,
    Word,
    /// A name in quotes, or the `{name}` of a template.
    Quoted,
    /// A string literal, with its prefix.
    Text,
    Number,
    /// Also `OPERATOR(schema.operator)`.
    Operator,
    /// Punctuation, or a parameter. The `:name.column` of a template is one.
    Mark,
    /// A quote or brace that nothing closes, and the rest of the text.
    Unclosed,
}

impl Token<'_> {
    /// Returns the name or text that the quotes enclose. A token without quotes, or with a prefix, stays as written.
    pub fn value(&self) -> String {
        let is_quoted = matches!(self.kind, Kind::Quoted | Kind::Text);
        let behind = self.text.strip_prefix(['\'', '"', '`', '[']).filter(|_| is_quoted);
        let inner = behind.and_then(|behind| behind.split_at_checked(behind.len().checked_sub(1)?));
        inner.map_or_else(|| self.text.to_owned(), |(inner, close)| inner.replace(&close.repeat(2), close))
    }
}

/// Cuts any text. [`Engine`](crate::model::Engine) says what an engine that quotes in brackets reads differently.
pub fn lex(sql: &str, quotes_in_brackets: bool) -> impl Iterator<Item = Token<'_>> {
    let mut rest = sql;
    std::iter::from_fn(move || {
        let (kind, length) = first(rest, quotes_in_brackets)?;
        let (text, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        rest = after;
        Some(Token { kind, text })
    })
}

/// Cuts a text, and leaves whitespace and comments out.
pub fn tokens(sql: &str, quotes_in_brackets: bool) -> impl Iterator<Item = Token<'_>> {
    lex(sql, quotes_in_brackets).filter(|token| !matches!(token.kind, Kind::Space | Kind::Comment))
}

const OPERATORS: &str = "+-*/<>=~!@#%^&|`?";

/// Measures the token at the beginning.
fn first(rest: &str, quotes_in_brackets: bool) -> Option<(Kind, usize)> {
    let is_postgres = !quotes_in_brackets;
    let byte = |n: usize| rest.as_bytes().get(n).copied().unwrap_or_default();
    let run = |from: usize, is_part: &dyn Fn(char) -> bool| {
        let after = rest.get(from..).unwrap_or_default();
        from + after.find(|c| !is_part(c)).unwrap_or(after.len())
    };
    // SQLite skips a byte order mark.
    let is_space = |c| matches!(c, ' ' | '\t'..='\r' | '\u{feff}');
    let is_of_number = |c| c == '.' || is_of_word(c);
    let closed = |kind, end: Option<usize>| end.map_or((Kind::Unclosed, rest.len()), |end| (kind, end + 1));
    let prefix = match (byte(0), byte(1), byte(2)) {
        (b'b' | b'B' | b'e' | b'E' | b'n' | b'N' | b'x' | b'X', b'\'', _) if is_postgres => 1,
        (b'u' | b'U', b'&', b'\'' | b'"') if is_postgres => 2,
        _ => 0,
    };
    let tag = rest.strip_prefix('$').filter(|_| is_postgres).and_then(|inner| rest.get(..inner.find('$')? + 2));
    let tag = tag.filter(|tag| *tag == "$$" || is_name(tag.trim_matches('$')));
    let tag_end = |tag: &str| Some(rest.match_indices(tag).nth(1)?.0 + tag.len() - 1);
    let qualified = rest.strip_prefix("OPERATOR(").filter(|_| is_postgres).and_then(|_| rest.find([')', '{', ':']));
    let qualified = qualified.filter(|end| byte(*end) == b')');
    let first = rest.get(prefix..)?.chars().next()?;
    Some(match first {
        c if is_space(c) => (Kind::Space, run(0, &is_space)),
        '-' if byte(1) == b'-' => (Kind::Comment, run(0, &|c| c != '\n' && (c != '\r' || quotes_in_brackets))),
        '/' if byte(1) == b'*' => (Kind::Comment, comment(rest, is_postgres)),
        '\'' => closed(Kind::Text, quote(rest, prefix, is_postgres && b"eE".contains(&byte(0)))),
        '"' | '`' if first == '"' || quotes_in_brackets => closed(Kind::Quoted, quote(rest, prefix, false)),
        '[' if quotes_in_brackets => closed(Kind::Quoted, rest.find(']')),
        '{' => closed(Kind::Quoted, rest.find('}')),
        '$' if tag.is_some() => closed(Kind::Text, tag.and_then(tag_end)),
        'O' if qualified.is_some() => closed(Kind::Operator, qualified),
        '.' | '0'..='9' if first != '.' || byte(1).is_ascii_digit() => {
            let length = run(0, &is_of_number);
            let has_sign = b"eE".contains(&byte(length - 1)) && b"+-".contains(&byte(length)) && byte(1) != b'x';
            (Kind::Number, if has_sign { run(length + 1, &is_of_number) } else { length })
        }
        ':' if b":=".contains(&byte(1)) => (Kind::Mark, 2),
        // The 2 of `a[1:2]` is no parameter.
        ':' | '$' if first == '$' || !byte(1).is_ascii_digit() => (Kind::Mark, run(1, &is_of_number)),
        c if is_of_word(c) => (Kind::Word, run(0, &is_of_word)),
        // Postgres cuts `=-1` into `=` and `-`.
        c if OPERATORS.contains(c) => {
            let run = rest.get(..run(0, &|c| OPERATORS.contains(c))).unwrap_or_default();
            let run = ["--", "/*"].iter().fold(run, |run, comment| run.split(comment).next().unwrap_or(run));
            let keeps_sign = run.contains(|c| "~!@#%^&|`?".contains(c));
            (Kind::Operator, if keeps_sign { run.len() } else { run.trim_end_matches(['+', '-']).len().max(1) })
        }
        c => (Kind::Mark, c.len_utf8()),
    })
}

/// True for what both engines take into a word, whatever it begins with.
fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii()
}

/// Measures a comment in `/*` and `*/`.
fn comment(rest: &str, nests: bool) -> usize {
    let (mut depth, mut at) = (1, 2);
    while depth > 0 && at < rest.len() {
        let step = match rest.as_bytes().get(at..at + 2) {
            Some(b"*/") => -1,
            Some(b"/*") if nests => 1,
            _ => 0,
        };
        (depth, at) = (depth + step, at + if step == 0 { 1 } else { 2 });
    }
    at
}

/// Finds the quote that closes the one behind a prefix. A doubled quote does not.
fn quote(rest: &str, prefix: usize, has_escapes: bool) -> Option<usize> {
    let mut chars = rest.char_indices().skip(prefix).peekable();
    let (_, quote) = chars.next()?;
    while let Some((at, c)) = chars.next() {
        if c == '\\' && has_escapes || c == quote && chars.peek().is_some_and(|(_, next)| *next == quote) {
            chars.next();
        } else if c == quote {
            return Some(at);
        }
    }
    None
}

/// True for a plain SQL name: a letter or underscore, then letters, digits, underscores.
pub fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_') && chars.all(|c| c.is_alphanumeric() || c == '_')
}
