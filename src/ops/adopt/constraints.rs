//! What the catalog says of a column's values: its default, and the CHECKs on it alone.

/// A piece of SQL, as far as defaults and CHECKs need it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    Word(String),
    Text(String),
    Number(i64),
    Sign(char),
}

/// Reads SQL as the database prints or keeps it: comments are left out, names lose their quotes.
pub(super) fn pieces(sql: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = sql.trim_start();
    while let Some(first) = rest.chars().next() {
        let (piece, length) = match first {
            '-' if rest.starts_with("--") => (None, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (None, rest.find("*/").map_or(rest.len(), |end| end + 2)),
            '\'' | '"' | '`' => {
                let (text, length) = within(rest, first);
                (Some(if first == '\'' { Piece::Text(text) } else { Piece::Word(text) }), length)
            }
            _ if first.is_alphanumeric() || first == '_' => {
                let is_end = |c: char| !c.is_alphanumeric() && c != '_' && c != '$';
                let word = &rest[..rest.find(is_end).unwrap_or(rest.len())];
                let piece = word.parse().map_or_else(|_| Piece::Word(word.to_owned()), Piece::Number);
                (Some(piece), word.len())
            }
            sign => (Some(Piece::Sign(sign)), sign.len_utf8()),
        };
        pieces.extend(piece);
        rest = rest[length..].trim_start();
    }
    pieces
}

/// The text between quotes at the beginning, with its length in the source.
fn within(sql: &str, quote: char) -> (String, usize) {
    let mut text = String::new();
    let mut chars = sql.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c != quote {
            text.push(c);
        } else if chars.next_if(|(_, next)| *next == quote).is_some() {
            text.push(quote);
        } else {
            return (text, at + 1);
        }
    }
    (text, sql.len())
}

/// The CHECKs in a table's text, without the word.
pub(super) fn checks(sql: &str) -> Vec<Vec<Piece>> {
    let pieces = pieces(sql);
    let is_check = |n: &usize| matches!(&pieces[*n], Piece::Word(word) if word.eq_ignore_ascii_case("check"));
    let inner = |n: usize| {
        let mut depth = 0;
        let is_inside = |piece: &&Piece| {
            depth += match piece {
                Piece::Sign('(') => 1,
                Piece::Sign(')') => -1,
                _ => 0,
            };
            depth > 0
        };
        pieces[n + 1..].iter().take_while(is_inside).cloned().collect()
    };
    (0..pieces.len()).filter(is_check).map(inner).collect()
}

/// The value that a default gives a new row, if it is a plain one.
pub(super) fn literal_of(default: &str) -> Option<String> {
    let pieces = pieces(default);
    let mut plain = pieces.iter().filter(|piece| !matches!(piece, Piece::Sign('(' | ')')));
    match plain.next()? {
        Piece::Text(text) => Some(text.clone()),
        Piece::Number(number) => Some(number.to_string()),
        Piece::Sign('-') => match plain.next()? {
            Piece::Number(number) => Some(format!("-{number}")),
            _ => None,
        },
        Piece::Word(word) if ["true", "false"].contains(&word.to_lowercase().as_str()) => Some(word.to_lowercase()),
        _ => None,
    }
}

/// The values that a CHECK lists, if that is all it does.
pub(super) fn listed(check: &[Piece]) -> Vec<String> {
    let says =
        |word: &str| check.iter().any(|piece| matches!(piece, Piece::Word(there) if there.eq_ignore_ascii_case(word)));
    let compares = check.iter().any(|piece| matches!(piece, Piece::Sign('<' | '>' | '~' | '!')));
    if compares || says("not") || says("like") || says("and") || !(says("in") || says("any")) {
        return Vec::new();
    }
    let value = |piece: &Piece| match piece {
        Piece::Text(text) => Some(text.clone()),
        Piece::Number(number) => Some(number.to_string()),
        Piece::Word(_) | Piece::Sign(_) => None,
    };
    check.iter().filter_map(value).collect()
}

/// The most that a CHECK allows: `tries <= 5`, or the end of a BETWEEN.
pub(super) fn most(check: &[Piece]) -> Option<i64> {
    let plain: Vec<&Piece> = check.iter().filter(|piece| !matches!(piece, Piece::Sign('(' | ')'))).collect();
    plain.windows(4).find_map(|window| match window {
        [Piece::Word(_), Piece::Sign('<'), Piece::Sign('='), Piece::Number(most)] => Some(*most),
        [Piece::Word(between), Piece::Number(_), Piece::Word(_), Piece::Number(most)]
            if between.eq_ignore_ascii_case("between") =>
        {
            Some(*most)
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_and_checks_are_read_as_both_engines_write_them() {
        let literals = [
            ("'queued'::text", Some("queued")),
            ("(0)", Some("0")),
            ("'-1'::integer", Some("-1")),
            ("-1", Some("-1")),
            ("now()", None),
            ("'it''s'", Some("it's")),
        ];
        for (default, expected) in literals {
            assert_eq!(literal_of(default).as_deref(), expected, "{default}");
        }
        let table =
            "CREATE TABLE t (s TEXT CHECK (s IN ('a', 'b')), -- check (s in ('no'))\n n int CHECK(n BETWEEN 0 AND 7))";
        let found = checks(table);
        assert_eq!(found.iter().map(|check| listed(check)).collect::<Vec<_>>(), [vec!["a", "b"], vec![]]);
        assert_eq!(found.iter().map(|check| most(check)).collect::<Vec<_>>(), [None, Some(7)]);
        let of_postgres = pieces("CHECK ((s = ANY (ARRAY['a'::text, 'b'::text])))");
        assert_eq!(listed(&of_postgres), ["a", "b"]);
        assert_eq!(most(&pieces("CHECK (((tries >= 0) AND (tries <= (5)::smallint)))")), Some(5));
        assert!(listed(&pieces("CHECK ((s <> ALL (ARRAY['a'::text])))")).is_empty());
    }
}
