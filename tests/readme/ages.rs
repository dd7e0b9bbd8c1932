//! The ages in an output: they go on between two runs, by as much as a machine takes.

use regex_lite::Regex;
use std::sync::LazyLock;

/// Each unit in seconds; `ago` goes with the age before it.
const UNITS: [(&str, u64); 8] =
    [("s", 1), ("m", 60), ("min", 60), ("h", 3600), ("d", 86_400), ("day", 86_400), ("days", 86_400), ("ago", 0)];

/// A text without its ages, and what each of these adds up to.
#[derive(Debug, PartialEq)]
pub(super) struct Aged {
    pub(super) words: String,
    ages: Vec<Age>,
}

#[derive(Debug, PartialEq)]
struct Age {
    seconds: u64,
    /// The smallest unit in which it is told, in seconds.
    unit: u64,
}

impl Aged {
    /// An age may be a word, `41m`, or several, `29 days 3h`; in JSON, it is what stands behind `_seconds":`.
    pub(super) fn of(text: &str) -> Aged {
        static JSON: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#"(_seconds":) ?(\d+)(?:\.\d+)?"#).unwrap());
        let text = JSON.replace_all(text, "$1 ${2}s ");
        let words: Vec<&str> = text.split_whitespace().collect();
        let (mut kept, mut ages, mut at) = (Vec::new(), Vec::new(), 0);
        while at < words.len() {
            let mut run: Option<Age> = None;
            while let Some((age, length)) = age(&words[at..]) {
                let before = run.unwrap_or(Age { seconds: 0, unit: age.unit });
                run = Some(Age { seconds: before.seconds + age.seconds, unit: before.unit.min(age.unit) });
                at += length;
            }
            ages.extend(run);
            kept.extend(words.get(at).map(|word| word.trim_matches('─')));
            at += 1;
        }
        Aged { words: kept.join(" "), ages }
    }

    /// The same words, and no age differs by more than that and the unit that it is told in.
    pub(super) fn is_like(&self, other: &Aged, elapsed: u64) -> bool {
        let is_near =
            |(one, other): (&Age, &Age)| one.seconds.abs_diff(other.seconds) <= elapsed + one.unit.max(other.unit);
        self.words == other.words
            && self.ages.len() == other.ages.len()
            && self.ages.iter().zip(&other.ages).all(is_near)
    }
}

/// The age that begins there, and of how many words it is.
fn age(words: &[&str]) -> Option<(Age, usize)> {
    let bare =
        |word: &str| UNITS.iter().find(|(unit, _)| *unit == word.trim_end_matches([',', ':', ';', '.'])).copied();
    let word = words.first()?;
    let digits = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let number: u64 = word[..word.len() - digits.len()].parse().ok()?;
    let of = |unit: u64| Age { seconds: number * unit, unit };
    let next = words.get(1).and_then(|next| bare(next));
    match (bare(digits), next) {
        (Some((_, unit)), Some(("ago", _))) => Some((of(unit), 2)),
        (Some((_, unit)), _) => Some((of(unit), 1)),
        (None, Some((unit, seconds))) if digits.is_empty() && unit != "ago" => Some((of(seconds), 2)),
        _ => None,
    }
}

#[test]
fn ages_go_on_by_what_was_waited_for() {
    let page = Aged::of("w1  silent for 40m 11s, since 3 days; \"silence_seconds\": 2471.5, 12 jobs");
    for (text, is_like) in [
        ("w1 silent for 40m 31s, since 3 days; \"silence_seconds\":2491.9, 12 jobs", true),
        ("w1 silent for 41m, since 3 days; \"silence_seconds\": 2471, 12 jobs", true),
        ("w1 silent for 42m, since 3 days; \"silence_seconds\": 2471, 12 jobs", false),
        ("w1 silent for 40m 11s, since 3 days; \"silence_seconds\": 2521.5, 12 jobs", false),
        ("w1 silent for 40m 11s, since 5 days; \"silence_seconds\": 2471.5, 12 jobs", false),
        ("w1 silent for 40m 11s, since 3 days; \"silence_seconds\": 2471.5, 13 jobs", false),
        ("w1 silent for, since 3 days; \"silence_seconds\": 2471.5, 12 jobs", false),
    ] {
        assert_eq!(page.is_like(&Aged::of(text), 30), is_like, "{text}");
    }
}
