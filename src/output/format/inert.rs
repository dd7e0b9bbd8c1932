//! Text that a terminal cannot act on.

use crate::model::deceives;
use std::borrow::Cow;
use std::fmt::Write;

/// Text from a database, with everything that a terminal would act on made visible.
///
/// A job's name may hold a sequence that clears the screen, a line break that forges a row, or a mark that reverses the reading
/// direction. Such characters become escapes: `\n`, `\x1b`, `\u{202e}`. A backslash stays a backslash: the text is for people, not for
/// reading back. Text without such characters is borrowed.
pub fn inert(text: &str) -> Cow<'_, str> {
    if !text.contains(deceives) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if deceives(c) {
            escape(c, &mut shown);
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

fn escape(c: char, shown: &mut String) {
    let code = u32::from(c);
    // Writing to a String cannot fail.
    let _ = match c {
        '\n' => shown.write_str("\\n"),
        '\r' => shown.write_str("\\r"),
        '\t' => shown.write_str("\\t"),
        _ if c.is_ascii() => write!(shown, "\\x{code:02x}"),
        _ => write!(shown, "\\u{{{code:x}}}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_text_is_borrowed() {
        for text in ["", "mail", "C:\\new\\table", "naïve café", "漢字かな", "مرحبا", "👍", "e\u{301}"] {
            assert!(matches!(inert(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn controls_become_visible() {
        let cases = [
            ("a\nb\r\tc", r"a\nb\r\tc"),
            ("\x1b[2J\x07", r"\x1b[2J\x07"),
            ("\0\x7f", r"\x00\x7f"),
            ("\u{85}\u{9b}31m", r"\u{85}\u{9b}31m"),
            ("gpj.\u{202e}exe", r"gpj.\u{202e}exe"),
            ("\u{61c}\u{200e}\u{200f}\u{2066}\u{2069}", r"\u{61c}\u{200e}\u{200f}\u{2066}\u{2069}"),
            ("id\u{200b}\u{200d}\u{feff}", r"id\u{200b}\u{200d}\u{feff}"),
            ("\u{2028}\u{2029}", r"\u{2028}\u{2029}"),
            ("\u{e0041}\u{e007f}\u{fe0f}", r"\u{e0041}\u{e007f}\u{fe0f}"),
        ];
        for (text, shown) in cases {
            assert_eq!(inert(text), shown);
        }
    }
}
