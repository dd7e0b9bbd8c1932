//! Text that a terminal cannot act on.

use crate::model::deceives;
use std::borrow::Cow;
use std::fmt::Write;

/// Text from a database, with everything that a terminal would act on made visible.
///
/// A job's name may hold a sequence that clears the screen, a line break that forges a row, or a mark that reverses the
/// reading direction. Such characters become escapes: `\n`, `\x1b`, `\u{202e}`. A backslash stays a backslash: the text
/// is for people, not for reading back. Text without such characters is borrowed.
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
