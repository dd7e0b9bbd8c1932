//! Takes out of an output what differs from run to run, and finds in it what a reader copies into the next command.

use regex_lite::Regex;
use std::sync::LazyLock;

fn regex(text: &str) -> Regex {
    Regex::new(text).expect("a pattern")
}

/// Instants, clocks, fractions of seconds, digests and ids of runs give way to stand-ins. Columns keep their width.
pub(super) fn redact(text: &str) -> String {
    static VARYING: LazyLock<[(Regex, &str); 6]> = LazyLock::new(|| {
        [
            // Where a sentence is broken depends on whether it says the day, and it says so only where that is not today.
            (regex(r"\n    "), " "),
            // Sixteen digits of a fraction could pass for a digest.
            (regex(r"(\d)\.\d+"), "${1}.0"),
            (regex(r"\b\d{14}-[0-9a-f]{6}\b"), "00000000000000-000000"),
            (regex(r"\b[0-9a-f]{16}\b"), "0123456789abcdef"),
            (regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?"), "0000-00-00T00:00:00"),
            (regex(r"(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d"), "00:00:00"),
        ]
    });
    VARYING.iter().fold(text.to_owned(), |text, (varying, put)| varying.replace_all(&text, *put).into_owned())
}

/// The digests and the ids of runs in a text, in their order, each once.
pub(super) fn names(text: &str) -> Vec<String> {
    static NAMES: LazyLock<Regex> = LazyLock::new(|| regex(r"\b(\d{14}-[0-9a-f]{6}|[0-9a-f]{64}|[0-9a-f]{16})\b"));
    let mut names: Vec<String> = Vec::new();
    for name in NAMES.find_iter(text).map(|found| found.as_str().to_owned()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
