//! What identifies a job, and how that is spelled.

use super::cell::{Cell, hex};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// What identifies a job in its table: one cell for each key column. In JSON a list of stored values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Key(pub Vec<Cell>);

impl Key {
    pub fn from_text(id: &str) -> Key {
        Key(vec![Cell::Text(id.to_owned())])
    }

    /// The parts as text. Text that is not UTF-8 is hexadecimal like a blob: replacement characters could not be told
    /// apart.
    pub fn parts(&self) -> Vec<String> {
        let part = |cell: &Cell| match cell {
            Cell::BrokenText(bytes) => hex(bytes),
            cell => cell.to_string(),
        };
        self.0.iter().map(part).collect()
    }

    /// The key as a text that no other key has: 42 and '42' differ, and so do the pairs a/b, c and a, b/c. For people
    /// there is [`Display`](std::fmt::Display).
    pub fn exact(&self) -> String {
        // Cells are always JSON.
        serde_json::to_string(&self.0).unwrap_or_default()
    }
}

/// The job's id as it is printed: see [`spell_id`].
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [Cell::Integer(n)] => write!(f, "{n}"),
            _ => f.write_str(&spell_id(&self.parts())),
        }
    }
}

/// The id of a job, which is unique for its parts and one line that no terminal acts on: the parts joined by slashes. A
/// part that is empty, has blanks around it, or holds a quote, a character that deceives or the slash that separates is
/// quoted as in JSON.
pub fn spell_id(parts: &[String]) -> String {
    let is_quoted = |part: &String| {
        let has_slash = parts.len() > 1 && part.contains('/');
        part.trim() != part || part.is_empty() || has_slash || part.contains(|c| c == '"' || deceives(c))
    };
    let quoted = |part: &String| escaped_json(&serde_json::Value::from(part.as_str()).to_string()).into_owned();
    let spell = |part| if is_quoted(part) { quoted(part) } else { part.clone() };
    parts.iter().map(spell).collect::<Vec<_>>().join("/")
}

/// The parts of an id of so many columns that [`spell_id`] spells like that; `None` for any other text.
pub fn read_id(id: &str, columns: usize) -> Option<Vec<String>> {
    let (mut parts, mut rest) = (Vec::with_capacity(columns), id);
    for n in 0..columns {
        rest = if n > 0 { rest.strip_prefix('/')? } else { rest };
        let (part, length) = if rest.starts_with('"') {
            let mut strings = serde_json::Deserializer::from_str(rest).into_iter();
            (strings.next()?.ok()?, strings.byte_offset())
        } else {
            let end = rest.find('/').filter(|_| columns > 1).unwrap_or(rest.len());
            (rest.get(..end)?.to_owned(), end)
        };
        parts.push(part);
        rest = rest.get(length..)?;
    }
    (spell_id(&parts) == id).then_some(parts)
}

/// JSON in which nothing deceives; it means the same. Line breaks stand between its values.
pub fn escaped_json(json: &str) -> Cow<'_, str> {
    let acts = |c: char| c != '\n' && deceives(c);
    // Nearly all of it is plain ASCII, which bytes alone show.
    if json.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n')) || !json.contains(acts) {
        return Cow::Borrowed(json);
    }
    let escape = |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect();
    Cow::Owned(json.chars().map(|c| if acts(c) { escape(c) } else { c.to_string() }).collect())
}

/// True if a text shows nothing: it has no character, blanks, or characters that a terminal shows nothing for.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || deceives(c) || c == '\u{2800}')
}

/// Whether a terminal would act on this character, or show nothing for it.
///
/// The invisible ones are Unicode's `Default_Ignorable_Code_Point`, with every bidi control. Emoji joiners and
/// variation selectors are included: they make different ids appear equal, and terminals disagree on their width.
pub fn deceives(c: char) -> bool {
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
