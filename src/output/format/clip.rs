use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text in at most so many display cells, with a closing `…` where some of it had to go.
///
/// The text is inert already. A wide character that would straddle the edge goes as a whole.
pub(super) fn clip(text: &str, cells: usize) -> Cow<'_, str> {
    if text.width() <= cells {
        return Cow::Borrowed(text);
    }
    let Some(room) = cells.checked_sub(1) else { return Cow::Borrowed("") };
    Cow::Owned(format!("{}…", &text[..fitting(text, room)]))
}

/// How many bytes of the text fit into so many display cells.
///
/// Characters are counted one by one. Where several make one sign this mostly counts too much; the whole is measured too,
/// for the few that are wider together than apart.
pub(super) fn fitting(text: &str, cells: usize) -> usize {
    let mut used = 0;
    let beyond = text.char_indices().find(|(_, c)| {
        used += c.width().unwrap_or(0);
        used > cells
    });
    let mut end = beyond.map_or(text.len(), |(at, _)| at);
    while text[..end].width() > cells
        && let Some(last) = text[..end].chars().next_back()
    {
        end -= last.len_utf8();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_by_display_cells() {
        let cases = [
            ("queue", 5, "queue"),
            ("queue", 4, "que…"),
            ("queue", 1, "…"),
            ("queue", 0, ""),
            ("", 0, ""),
            ("漢字", 4, "漢字"),
            ("漢字", 3, "漢…"),
            ("漢字", 2, "…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
        ];
        for (text, cells, clipped) in cases {
            assert_eq!(clip(text, cells), clipped, "{text} in {cells}");
        }
    }
}
