//! What a statement of Postgres names, read from its text: enough of a reader for the statements that the program writes.

use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq)]
enum Token {
    /// A name or a word; quoted ones keep their case.
    Word { text: String, quoted: bool },
    /// Anything else that is no blank, literal or comment.
    Sign(char),
}

/// The words and signs; literals and comments are left out.
fn tokens(sql: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = sql;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        rest = match c {
            '\'' | '"' => {
                let (text, rest) = delimited(after, c);
                if c == '"' {
                    tokens.push(Token::Word { text, quoted: true });
                }
                rest
            }
            '-' if after.starts_with('-') => after.split_once('\n').map_or("", |(_, rest)| rest),
            c if c.is_alphabetic() || c == '_' => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                tokens.push(Token::Word { text: rest[..end].to_lowercase(), quoted: false });
                &rest[end..]
            }
            c => {
                if !c.is_whitespace() {
                    tokens.push(Token::Sign(c));
                }
                after
            }
        };
    }
    tokens
}

/// What stands before the closing sign, which is doubled inside, and what comes after.
fn delimited(text: &str, sign: char) -> (String, &str) {
    let mut inside = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(sign) {
        inside.push_str(before);
        match after.strip_prefix(sign) {
            Some(more) => {
                inside.push(sign);
                rest = more;
            }
            None => return (inside, after),
        }
    }
    panic!("{sign} is not closed in {text}");
}

/// The first word.
pub fn verb(sql: &str) -> String {
    match tokens(sql).into_iter().next() {
        Some(Token::Word { text, .. }) => text,
        other => panic!("{other:?} begins {sql}"),
    }
}

/// Every relation, function, type and operator that is named with its schema, and whatever stands without one where a relation
/// is expected. Aliases and their columns are left out.
pub fn names(sql: &str) -> BTreeSet<String> {
    let tokens = tokens(sql);
    let word = |at: usize| match tokens.get(at) {
        Some(Token::Word { text, .. }) => Some(text.as_str()),
        _ => None,
    };
    let is = |at: usize, keyword: &str| matches!(tokens.get(at), Some(Token::Word { text, quoted: false }) if text == keyword);
    // A further query of a WITH: its columns, AS and its bracket come after the name.
    let is_further = |at: usize| {
        let end = tokens[at..].iter().position(|token| *token == Token::Sign(')')).map_or(at, |end| at + end);
        tokens[at - 1] == Token::Sign(',') && is(end + 1, "as") && tokens.get(end + 2) == Some(&Token::Sign('('))
    };
    let names_it =
        |at: &usize| ["as", "with", "recursive"].iter().any(|keyword| is(at - 1, keyword)) || is_further(*at);
    let aliases: BTreeSet<&str> = (1..tokens.len()).filter(names_it).filter_map(word).collect();
    let mut names = BTreeSet::new();
    for at in 0..tokens.len() {
        let dotted = |at: usize| tokens.get(at + 1) == Some(&Token::Sign('.'));
        let Some(first) = word(at) else { continue };
        if dotted(at) && !(at > 0 && tokens[at - 1] == Token::Sign('.')) {
            let second = word(at + 2).map_or_else(
                || match tokens.get(at + 2) {
                    Some(Token::Sign(sign)) => sign.to_string(),
                    _ => String::new(),
                },
                str::to_owned,
            );
            if !aliases.contains(first) {
                names.insert(format!("{first}.{second}"));
            }
        }
        let expects =
            at > 0 && ["from", "join", "into", "update", "table", "only"].iter().any(|keyword| is(at - 1, keyword));
        let is_keyword =
            ["of", "lateral", "only", "select", "set", "distinct", "values"].iter().any(|keyword| is(at, keyword));
        if expects && !is_keyword && !dotted(at) && !aliases.contains(first) {
            names.insert(first.to_owned());
        }
    }
    names
}

#[test]
fn names_are_found() {
    let found = |sql| names(sql).into_iter().collect::<Vec<_>>();
    assert_eq!(
        found("SELECT \"j\".\"id\" FROM \"public\".\"jobs\" AS \"j\" JOIN secrets AS s ON true"),
        ["public.jobs", "secrets"]
    );
    assert_eq!(found("UPDATE jobs SET x = 'FROM a.b' -- FROM c\n FROM d"), ["d", "jobs"]);
    assert_eq!(found("SELECT 1 FROM w AS x FOR NO KEY UPDATE OF \"x\" SKIP LOCKED"), ["w"]);
    assert_eq!(found("SELECT Evil.now() IN (SELECT * FROM \"Evil\".t)"), ["Evil.t", "evil.now"]);
    assert_eq!(found("SELECT 1 WHERE a OPERATOR(pg_catalog.=) ANY (SELECT 1)"), ["pg_catalog.="]);
    assert_eq!(found("WITH RECURSIVE hop(s) AS (SELECT 1 FROM a.b) SELECT hop.s FROM hop"), ["a.b"]);
    assert_eq!(found("WITH hop(s) AS (SELECT 1), skip(s) AS (SELECT 1 FROM a.b) SELECT skip.s FROM skip"), ["a.b"]);
    assert_eq!(found("INSERT INTO \"we\"\"ird\" VALUES ('it''s')"), ["we\"ird"]);
}
