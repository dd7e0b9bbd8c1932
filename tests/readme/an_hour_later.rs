//! A demonstration that was made an hour ago still shows what the README says.

use super::block::blocks_of;
use crate::support::cli::Doctor;

/// Every command that the README shows on the demonstration says the same an hour later, but for ages. The mutant is a lease of a
/// minute, as a worker would have it.
#[test]
fn an_hour_later_it_shows_the_same() {
    let commands: Vec<String> = blocks_of("README.md")
        .into_iter()
        .filter(|block| block.words.first().is_some_and(|word| word == "demo"))
        .flat_map(|block| block.text.lines().map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|line| line.trim_start_matches("$ ").strip_prefix("jobdoctor ").map(str::to_owned))
        .map(|line| line.split(" #").next().unwrap().trim().to_owned())
        .collect();
    assert!(commands.len() >= 5, "{commands:?}");
    let [now, later] = [0, 3600].map(|ago| {
        let doctor = Doctor::new().env("COLUMNS", "200");
        doctor.run(&["demo"]).exits(0);
        let times = ["claimed_at", "heartbeat_at", "lease_expires_at", "cancel_requested_at", "created_at"];
        let shifted = times.map(|time| format!("{time} = {time} - {ago}")).join(", ");
        doctor.sql("demo.db", &format!("UPDATE jobs SET {shifted}"));
        commands
            .iter()
            .map(|line| ageless(&doctor.run(&line.split(' ').collect::<Vec<_>>()).whole()))
            .collect::<Vec<_>>()
    });
    for ((command, now), later) in commands.iter().zip(now).zip(later) {
        assert_eq!(now, later, "{command}");
    }
}

/// The words, without ages and clocks. An age may be a word, `41m`, or two, `29 days`.
pub(super) fn ageless(text: &str) -> String {
    const UNITS: [&str; 8] = ["s", "m", "min", "h", "d", "day", "days", "ago"];
    let bare = |word: &str| word.trim_end_matches([',', ':', ';', '.']).to_owned();
    let is_age = |word: &str| {
        let unit = bare(word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'));
        unit.len() < word.len() && (unit.is_empty() || UNITS.contains(&unit.as_str()))
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_unit = |n: usize| words.get(n).is_some_and(|word| UNITS.contains(&bare(word).as_str()));
    let is_split_age = |n: usize| is_unit(n + 1) && is_age(words[n]) || n > 0 && is_unit(n) && is_age(words[n - 1]);
    let kept = words.iter().enumerate().filter(|(n, word)| {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        !is_split_age(*n) && (is_number || !is_age(word))
    });
    kept.map(|(_, word)| word.trim_matches('─')).collect::<Vec<_>>().join(" ")
}
