//! What must never reach a terminal: the rule by which everything for people is checked, in words of its own.

/// Whether a terminal acts on that character, or shows the text in another order for it: C0, DEL, C1, and the marks, embeddings,
/// overrides and isolates of the bidirectional algorithm; then what is invisible, separators of lines among it. A line break
/// is ours.
pub fn acts(c: char) -> bool {
    match u32::from(c) {
        0x0a => false,
        0x00..=0x1f | 0x7f..=0x9f => true,
        0x61c | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xfeff | 0xe0000..=0xe007f => true,
        _ => false,
    }
}

/// Panics if there is such a character in a text for people.
#[track_caller]
pub fn must_be_harmless(what: &str, text: &str) {
    if let Some((at, c)) = text.char_indices().find(|(_, c)| acts(*c)) {
        let around: String = text[at..].chars().take(40).collect();
        panic!("{what}: {c:?} stands in what people see: {around:?}");
    }
}
