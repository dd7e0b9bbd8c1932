//! The ages in an output: they go on between two runs, by as much as a machine takes.

use insta::comparator::Comparator;
use insta::{Settings, Snapshot};
use regex_lite::Regex;
use std::sync::LazyLock;
use std::time::Instant;

/// Each unit in seconds; `ago` goes with the age before it.
const UNITS: [(&str, u64); 8] =
    [("s", 1), ("m", 60), ("min", 60), ("h", 3600), ("d", 86_400), ("day", 86_400), ("days", 86_400), ("ago", 0)];

/// The lines of a text, each without its ages, and these.
#[derive(Debug)]
pub struct Aged(Vec<(Vec<String>, Vec<Age>)>);

#[derive(Debug, Clone, Copy)]
struct Age {
    seconds: u64,
    /// The smallest unit in which it is told, in seconds.
    unit: u64,
}

impl Aged {
    /// An age may be a word, `41m`, or several, `29 days 3h`; in JSON, it is what stands behind `_seconds":`, and in performance
    /// data what stands behind `'silence'=` and `'oldest_due'=`.
    pub fn of(text: &str) -> Aged {
        static SECONDS: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r#"(_seconds":|'silence'=|'oldest_due'=) ?(\d+)(?:\.\d+)?s?"#).unwrap());
        Aged(SECONDS.replace_all(text, "$1 ${2}s ").lines().map(line).collect())
    }

    /// The same words, and no age differs by more than that and the unit that it is told in. A line that is cut to its width is
    /// compared as far as both lines go.
    pub fn is_like(&self, other: &Aged, elapsed: u64) -> bool {
        let is_cut = |words: &[String]| words.last().is_some_and(|word| word.ends_with('…'));
        let (mut words, mut ages) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        for n in 0..self.0.len().max(other.0.len()) {
            let lines = [self, other].map(|aged| aged.0.get(n).cloned().unwrap_or_default());
            let cut = self.0.len() == other.0.len() && lines.iter().any(|(words, _)| is_cut(words));
            let shorter = lines.iter().map(|(words, _)| words.len()).min().unwrap_or(0).saturating_sub(1);
            let fewer = lines.iter().map(|(_, ages)| ages.len()).min().unwrap_or(0);
            for (side, (of_line, aged)) in lines.into_iter().enumerate() {
                words[side].extend(of_line.into_iter().take(if cut { shorter } else { usize::MAX }));
                ages[side].extend(aged.into_iter().take(if cut { fewer } else { usize::MAX }));
            }
        }
        let is_near =
            |(one, other): (&Age, &Age)| one.seconds.abs_diff(other.seconds) <= elapsed + one.unit.max(other.unit);
        words[0] == words[1] && ages[0].len() == ages[1].len() && ages[0].iter().zip(&ages[1]).all(is_near)
    }
}

/// Makes sure that a text is the expected one but for its ages, which may have gone on since it was begun.
#[track_caller]
pub fn is_aged(text: &str, expected: &str, began: Instant) {
    assert!(Aged::of(text).is_like(&Aged::of(expected), began.elapsed().as_secs()), "{text}");
}

/// Takes snapshots that may differ from the stored ones in their ages, by as much as `work` takes.
pub fn while_ages_go_on<T>(work: impl FnOnce() -> T) -> T {
    let mut settings = Settings::clone_current();
    settings.set_comparator(Box::new(GoingOn(Instant::now())));
    settings.bind(work)
}

#[derive(Clone)]
struct GoingOn(Instant);

impl Comparator for GoingOn {
    fn matches(&self, reference: &Snapshot, test: &Snapshot) -> bool {
        static COLOR: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"␛\[[0-9;]*m").unwrap());
        let aged = |snapshot: &Snapshot| {
            let text = snapshot.as_text().map(ToString::to_string).unwrap_or_default();
            Aged::of(&COLOR.replace_all(&text, " $0 "))
        };
        aged(reference).is_like(&aged(test), self.0.elapsed().as_secs())
    }

    fn dyn_clone(&self) -> Box<dyn Comparator> {
        Box::new(self.clone())
    }
}

/// The words of a line without its ages, and these.
fn line(text: &str) -> (Vec<String>, Vec<Age>) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (mut kept, mut ages, mut at) = (Vec::new(), Vec::new(), 0);
    while at < words.len() {
        let mut run: Option<Age> = None;
        while let Some((age, length)) = age(&words[at..]) {
            // After a smaller unit another age begins: that of the next column.
            ages.extend(run.take_if(|before| before.unit <= age.unit));
            let before = run.unwrap_or(Age { seconds: 0, unit: age.unit });
            run = Some(Age { seconds: before.seconds + age.seconds, unit: before.unit.min(age.unit) });
            at += length;
        }
        ages.extend(run);
        kept.extend(words.get(at).map(|word| word.trim_matches('─').to_owned()).filter(|word| !word.is_empty()));
        at += 1;
    }
    (kept, ages)
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
        ("w1 silent for 40m, sin…", true),
        ("w2 silent for 40m, sin…", false),
    ] {
        assert_eq!(page.is_like(&Aged::of(text), 30), is_like, "{text}");
    }
    let row = Aged::of("web1  2h 30s  2h 30s █████");
    assert!(row.is_like(&Aged::of("web1  2h 31s  2h 31s █████"), 0));
    assert!(!row.is_like(&Aged::of("web1  2h 30s  2h 33s █████"), 1));
    let plugin = Aged::of("OK | 'silence'=2471.9s;;7200;0; 'unknown'=1;0");
    for (text, is_like) in [
        ("OK | 'silence'=2474.04s;;7200;0; 'unknown'=1;0", true),
        ("OK | 'silence'=2474.04s;;7201;0; 'unknown'=1;0", false),
        ("OK | 'silence'=2571.9s;;7200;0; 'unknown'=1;0", false),
    ] {
        assert_eq!(plugin.is_like(&Aged::of(text), 30), is_like, "{text}");
    }
}
