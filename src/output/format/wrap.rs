use super::clip::fitting;

/// The text in lines of at most so many display cells, broken at spaces where there are any.
///
/// A line takes at least one character. This is linear: a payload of a megabyte without a space is an everyday value.
/// (comfy-table measures the whole rest of a long word again for every line.)
pub(super) fn wrap(text: &str, cells: usize) -> Vec<&str> {
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
    fn breaks_between_words_where_there_are_any() {
        let cases: [(&str, usize, &[&str]); 9] = [
            ("", 5, &[""]),
            ("lease", 5, &["lease"]),
            ("lease expired 13m ago", 13, &["lease expired", "13m ago"]),
            ("lease expired 13m ago", 12, &["lease", "expired 13m", "ago"]),
            ("a  b", 2, &["a ", "b"]),
            ("  indented", 6, &["  inde", "nted"]),
            ("abcdefghij", 4, &["abcd", "efgh", "ij"]),
            ("漢字かな", 3, &["漢", "字", "か", "な"]),
            ("漢字", 1, &["漢", "字"]),
        ];
        for (text, cells, lines) in cases {
            assert_eq!(wrap(text, cells), lines, "{text:?} in {cells}");
        }
    }
}
