//! Matches names against glob patterns, in time linear in both.
//!
//! globset reads the patterns and words their mistakes. Its own matcher would link a large regex engine, a twentieth of
//! the program, so regex-lite matches.

use globset::GlobBuilder;
use regex_lite::{Regex, escape};
use std::iter::Peekable;
use std::str::Chars;

/// A pattern with `*`, `?`, `[...]`, `{a,b}` and `\`.
#[derive(Debug, Clone)]
pub(super) struct Glob(Regex);

impl Glob {
    pub(super) fn new(pattern: &str) -> Result<Glob, String> {
        GlobBuilder::new(pattern).literal_separator(false).build().map_err(|error| error.kind().to_string())?;
        Regex::new(&format!("(?s)^(?:{})$", regex(pattern))).map(Glob).map_err(|error| error.to_string())
    }

    /// True if the whole name matches.
    pub(super) fn matches(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

/// The regular expression of a pattern that globset can read.
fn regex(pattern: &str) -> String {
    let (mut regex, mut open) = (String::new(), 0);
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            '[' => class(&mut rest, &mut regex),
            '{' => {
                open += 1;
                regex.push_str("(?:");
            }
            ',' if open > 0 => regex.push('|'),
            '}' => {
                open -= 1;
                regex.push(')');
            }
            '\\' => regex.extend(rest.next().map(literal)),
            _ => regex.push_str(&literal(c)),
        }
    }
    regex
}

/// What stands behind `[`, to its `]`. The first character is never the closing one.
fn class(rest: &mut Peekable<Chars>, regex: &mut String) {
    regex.push_str(if rest.next_if(|c| matches!(c, '!' | '^')).is_some() { "[^" } else { "[" });
    let mut is_first = true;
    while let Some(c) = rest.next_if(|c| *c != ']' || is_first) {
        regex.push_str(&literal(c));
        is_first = false;
        if rest.peek() == Some(&'-') {
            let mut ahead = rest.clone();
            ahead.next();
            if let Some(last) = ahead.next_if(|last| *last != ']') {
                regex.push_str(&format!("-{}", literal(last)));
                *rest = ahead;
            }
        }
    }
    rest.next();
    regex.push(']');
}

fn literal(c: char) -> String {
    escape(c.encode_utf8(&mut [0; 4]))
}
