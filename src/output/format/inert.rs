//! Text that a terminal cannot act on.

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

/// Whether a terminal would act on this character, or show nothing for it.
///
/// The invisible ones are Unicode's `Default_Ignorable_Code_Point`, with every bidi control. Emoji joiners and variation selectors are
/// included: they make different ids appear equal, and terminals disagree on their width.
fn deceives(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00ad}' | '\u{034f}' | '\u{061c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' // zero-width, and the marks of direction
            | '\u{2028}'..='\u{202e}' // line and paragraph separators, embeddings and overrides
            | '\u{2060}'..='\u{206f}' // word joiner, isolates
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' // variation selectors
            | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' // the last three annotate between lines
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}' // tags, and more variation selectors
        )
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
