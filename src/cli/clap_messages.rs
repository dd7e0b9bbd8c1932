//! Clap's messages about a command line: it styles them, and quotes what was typed as it was typed.

use crate::output::format::inert;

/// The message with its styles and its lines, and with all that was typed made inert: a value may come from a script, and end a
/// line or act on the terminal.
pub(super) fn harmless(message: &str, words: &[String]) -> String {
    // What was typed first: it may hold the very sequences that are styles elsewhere.
    let message = words.iter().fold(message.to_owned(), |message, word| match inert(word) {
        shown if shown == *word => message,
        shown => message.replace(word, &shown),
    });
    let mut shown = String::with_capacity(message.len());
    let mut rest = message.as_str();
    while let Some(at) = rest.find('\u{1b}') {
        let (before, after) = rest.split_at(at);
        let (style, after) = after.split_at(style(after).unwrap_or_default());
        shown.push_str(&lines(before));
        shown.push_str(style);
        if style.is_empty() {
            shown.push_str("\\x1b");
            rest = after.strip_prefix('\u{1b}').unwrap_or(after);
        } else {
            rest = after;
        }
    }
    shown + &lines(rest)
}

/// How long the sequence that only colours is at the head of the text, if there is one.
fn style(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\u{1b}[")?;
    let end = numbers.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    numbers.get(end..)?.starts_with('m').then_some(end + 3)
}

fn lines(text: &str) -> String {
    text.split('\n').map(inert).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_stay_and_what_was_typed_is_shown() {
        let typed = ["\u{1b}[2J".to_owned(), "a\nb\r".to_owned(), "\u{1b}[31mx".to_owned()];
        let cases = [
            ("\u{1b}[1;31merror:\u{1b}[0m no\nUsage: x\n", "\u{1b}[1;31merror:\u{1b}[0m no\nUsage: x\n"),
            ("'\u{1b}[33m\u{1b}[2J\u{1b}[0m'", "'\u{1b}[33m\\x1b[2J\u{1b}[0m'"),
            ("'a\nb\r'\n", "'a\\nb\\r'\n"),
            ("'\u{1b}[31mx'", "'\\x1b[31mx'"),
            ("-\u{9b}2J\u{202e}\r\u{1b}]0;x\u{7}\u{1b}", "-\\u{9b}2J\\u{202e}\\r\\x1b]0;x\\x07\\x1b"),
        ];
        for (message, shown) in cases {
            assert_eq!(harmless(message, &typed), shown);
        }
    }
}
