//! What the catalog says of a column's values: its default, and the CHECKs on it alone.

use crate::model::Engine;
use crate::preset::lex::{Kind, Token, tokens};

/// A token of SQL, without the quotes of names and texts; words are in lower case.
pub(super) type Piece = (Kind, String);

/// Reads SQL as the database prints or keeps it.
pub(super) fn pieces(sql: &str, engine: Engine) -> Vec<Piece> {
    let text = |token: Token<'_>| if token.kind == Kind::Word { token.text.to_lowercase() } else { token.value() };
    tokens(sql, engine.quotes_in_brackets()).map(|token| (token.kind, text(token))).collect()
}

/// The CHECKs in a table's text, without the word.
pub(super) fn checks(sql: &str, engine: Engine) -> Vec<Vec<Piece>> {
    let pieces = pieces(sql, engine);
    let inner = |n: usize| {
        let mut depth = 0;
        let is_inside = |(kind, text): &&Piece| {
            depth += i32::from(*kind == Kind::Mark) * (i32::from(text == "(") - i32::from(text == ")"));
            depth > 0
        };
        pieces.iter().skip(n + 1).take_while(is_inside).cloned().collect()
    };
    let is_check = |n: &usize| pieces.get(*n).is_some_and(|(kind, text)| *kind == Kind::Word && text == "check");
    (0..pieces.len()).filter(is_check).map(inner).collect()
}

/// The value that a default gives a new row, if it is a plain one.
pub(super) fn literal_of(default: &str) -> Option<String> {
    let mut plain = tokens(default, false).filter(|token| token.kind != Kind::Mark);
    let first = plain.next()?;
    match (first.kind, first.text) {
        (Kind::Text, text) if text.starts_with('\'') => Some(first.value()),
        (Kind::Number, number) => Some(number.to_owned()),
        (Kind::Operator, "-") => {
            plain.next().filter(|one| one.kind == Kind::Number).map(|one| format!("-{}", one.text))
        }
        (Kind::Word, word) => Some(word.to_lowercase()).filter(|word| ["true", "false"].contains(&word.as_str())),
        _ => None,
    }
}

/// The values that a CHECK lists, if that is all it does.
pub(super) fn listed(check: &[Piece]) -> Vec<String> {
    let says = |word: &str| check.iter().any(|(kind, text)| *kind == Kind::Word && text == word);
    let compares = check.iter().any(|(kind, text)| *kind == Kind::Operator && text.contains(['<', '>', '~', '!']));
    if compares || says("not") || says("like") || says("and") || !(says("in") || says("any")) {
        return Vec::new();
    }
    check.iter().filter(|(kind, _)| matches!(kind, Kind::Text | Kind::Number)).map(|(_, text)| text.clone()).collect()
}

/// The most that a CHECK allows: `tries <= 5`, or the end of a BETWEEN.
pub(super) fn most(check: &[Piece]) -> Option<i64> {
    let plain = check.iter().filter(|(kind, _)| *kind != Kind::Mark);
    let plain: Vec<(Kind, &str)> = plain.map(|(kind, text)| (*kind, text.as_str())).collect();
    (0..plain.len()).find_map(|n| match plain.get(n..)? {
        [(Kind::Word | Kind::Quoted, _), (Kind::Operator, "<="), (Kind::Number, most), ..]
        | [(Kind::Word, "between"), (Kind::Number, _), (Kind::Word, _), (Kind::Number, most), ..] => most.parse().ok(),
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
        let found = checks(table, Engine::Sqlite);
        assert_eq!(found.iter().map(|check| listed(check)).collect::<Vec<_>>(), [vec!["a", "b"], vec![]]);
        assert_eq!(found.iter().map(|check| most(check)).collect::<Vec<_>>(), [None, Some(7)]);
        let of_postgres = |sql| pieces(sql, Engine::Postgres);
        assert_eq!(listed(&of_postgres("CHECK ((s = ANY (ARRAY['a'::text, 'b'::text])))")), ["a", "b"]);
        assert_eq!(most(&of_postgres("CHECK (((tries >= 0) AND (tries <= (5)::smallint)))")), Some(5));
        assert!(listed(&of_postgres("CHECK ((s <> ALL (ARRAY['a'::text])))")).is_empty());
    }
}
