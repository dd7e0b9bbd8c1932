//! Cutting and wrapping texts by display width.

use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text in at most so many display cells, with a closing `…` if it was cut.
///
/// The text is inert already. A wide character that would straddle the edge goes as a whole.
pub(super) fn clip(text: &str, cells: usize) -> Cow<'_, str> {
    if text.width() <= cells {
        return Cow::Borrowed(text);
    }
    let Some(room) = cells.checked_sub(1) else { return Cow::Borrowed("") };
    Cow::Owned(format!("{}…", &text[..fitting(text, room)]))
}

/// The text in at most so many display cells, with a `…` in its middle if it was cut: names of pods, classes and
/// processes differ at their ends.
pub(super) fn clip_middle(text: &str, cells: usize) -> Cow<'_, str> {
    if text.width() <= cells || cells < 3 {
        return clip(text, cells);
    }
    let tail = (cells - 1) / 2;
    let head = cells - 1 - tail;
    let mut start = text.len();
    for (at, c) in text.char_indices().rev() {
        if text[at..].width() > tail {
            break;
        }
        // A combining character stays with the one before it.
        start = if c.width() == Some(0) { start } else { at };
    }
    Cow::Owned(format!("{}…{}", &text[..fitting(text, head)], &text[start..]))
}

/// How many bytes of the text fit into so many display cells.
///
/// Characters are counted one by one, which counts too much where several form one sign. The whole is measured too, for
/// the few that are wider together.
fn fitting(text: &str, cells: usize) -> usize {
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

/// The text in lines of at most so many display cells, broken at spaces where there are any.
///
/// A line takes at least one character. The time is linear, because a payload may be a megabyte without a space;
/// comfy-table would measure the rest of a long word again for each line.
pub fn wrap(text: &str, cells: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    loop {
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let end = fitting(rest, cells).max(first);
        if end == rest.len() {
            lines.push(rest);
            return lines;
        }
        let (line, beyond) = rest.split_at(break_at(rest, end));
        lines.push(line);
        rest = beyond.trim_start_matches(' ');
    }
}

/// Where to break: at `end` if that is a space, else at the last space before it that has a word on its left.
fn break_at(rest: &str, end: usize) -> usize {
    if rest[end..].starts_with(' ') {
        return end;
    }
    let space = rest[..end].rfind(' ').filter(|space| !rest[..*space].trim_start_matches(' ').is_empty());
    space.unwrap_or(end)
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

    #[test]
    fn clips_the_middle() {
        let cases = [
            ("queue", 5, "queue"),
            ("web1:4211", 8, "web1…211"),
            ("web1:4211", 5, "we…11"),
            ("web1:4211", 2, "w…"),
            ("漢字かな", 6, "漢…な"),
            ("e\u{301}e\u{301}e\u{301}e\u{301}", 3, "e\u{301}…e\u{301}"),
        ];
        for (text, cells, clipped) in cases {
            assert_eq!(clip_middle(text, cells), clipped, "{text} in {cells}");
        }
    }
}
