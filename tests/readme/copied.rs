//! What a reader copies from one output into the next command, and what of an output nobody compares.

/// The digests and the ids of runs in a text, in their order, each once.
pub(super) fn names(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for word in words(text) {
        let is_digest = matches!(word.len(), 16 | 64) && is_hex(word);
        if (is_digest || is_run(word)) && !names.iter().any(|name| name == word) {
            names.push(word.to_owned());
        }
    }
    names
}

/// The same text with a stand-in of the same width for each id of a run.
pub(super) fn settled(text: &str) -> String {
    let mut settled = String::new();
    for piece in text.split_inclusive(|c: char| !is_of_word(c)) {
        let word = piece.trim_end_matches(|c: char| !is_of_word(c));
        if is_run(word) {
            settled.extend(word.chars().map(|c| if c.is_ascii_alphanumeric() { '0' } else { c }));
            settled.push_str(&piece[word.len()..]);
        } else {
            settled.push_str(piece);
        }
    }
    settled
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_of_word(c))
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

fn is_hex(word: &str) -> bool {
    word.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'))
}

/// `20261121181604-63d79d`.
fn is_run(word: &str) -> bool {
    word.split_once('-').is_some_and(|(at, rest)| {
        at.len() == 14 && at.chars().all(|c| c.is_ascii_digit()) && rest.len() == 6 && is_hex(rest)
    })
}

#[test]
fn what_is_copied_and_what_is_not_compared() {
    let said = "to do exactly this: jobdoctor reclaim --expect 85dc7d27c3a5de64 --apply\nrun 20261121181604-63d79d: 5 jobs, 12s";
    assert_eq!(names(said), ["85dc7d27c3a5de64", "20261121181604-63d79d"]);
    let said = "run 20261121181604-63d79d, 12s ago, 4m 56s, pass 3";
    assert_eq!(settled(said), "run 00000000000000-000000, 12s ago, 4m 56s, pass 3");
}
