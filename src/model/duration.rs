//! Durations as people write and read them, with slips such as `5M` for `5m` refused.

use humantime::DurationError as Error;
use std::time::Duration;

const SHORTEST: Duration = Duration::from_secs(1);
/// The longest threshold: ten years of 365.25 days, as humantime counts them.
pub const LONGEST_THRESHOLD: Duration = Duration::from_secs(315_576_000);

const MOST_BYTES: usize = 64;
/// humantime 2.4.0 panics where a sum passes the seconds of a u64. Ten digits cannot get there within 64 bytes, even in
/// years: five times 10^10 years are under 2^61 seconds. (Twelve could: `584542046090y 19767615s 999999999ns 1ns`.)
const MOST_DIGITS: usize = 10;

/// A threshold such as `5m` or `1h 30m`, from one second to ten years.
///
/// The error says what is wrong and how to write it instead. Months are refused, because `5M` for `5m` is one slip of
/// the shift key and would turn "silent for five minutes" into "for five months".
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    check(text)?;
    let duration = humantime::parse_duration(text).map_err(|error| reworded(&error, text))?;
    if duration.is_zero() {
        return Err(nothing(text));
    }
    if !is_threshold(duration) {
        return Err(format!(
            "{} is out of range: the shortest is 1s, the longest 10y (3652.5 days)",
            text.escape_debug()
        ));
    }
    Ok(duration)
}

/// Whether a span can be a threshold, wherever it comes from: from one second, before which every claim is silent, to
/// ten years.
pub fn is_threshold(span: Duration) -> bool {
    (SHORTEST..=LONGEST_THRESHOLD).contains(&span)
}

/// How long ago, in at most two units: `13m 32s`, `3 days 4 h`. Under a second it is `0s`.
pub fn age(span: Duration) -> String {
    let whole = Duration::from_secs(span.as_secs());
    let words = humantime::format_duration(whole).to_string();
    let words: Vec<&str> = words.split(' ').take(2).collect();
    match words.first().map(|first| split(first, |c| c.is_ascii_digit())) {
        // A unit that is a word stands apart from its number, and then so does the other.
        Some((_, unit)) if unit.len() > 1 => words.into_iter().map(apart).collect::<Vec<_>>().join(" "),
        _ => words.join(" "),
    }
}

/// `3days` as `3 days`, `5m` as `5 min`.
fn apart(word: &str) -> String {
    let (number, unit) = split(word, |c| c.is_ascii_digit());
    format!("{number} {}", if unit == "m" { "min" } else { unit })
}

/// Refuses what humantime would misread or panic on.
fn check(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err("a duration is missing: write a number and a unit, as in 5m or 1h 30m".to_owned());
    }
    if text.len() > MOST_BYTES {
        return Err("too long for a duration: write a number and a unit, as in 5m or 1h 30m".to_owned());
    }
    if text.starts_with(['-', '\u{2212}']) {
        return Err("a duration cannot be negative: write it without the sign, as in 5m".to_owned());
    }
    let mut rest = text;
    while !rest.is_empty() {
        let (number, after) = split(rest, |c| c.is_ascii_digit() || c == '.');
        let (unit, after) = split(after.trim_start(), char::is_alphabetic);
        check_span(number, unit, rest)?;
        rest = after.trim_start();
    }
    Ok(())
}

fn split(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !belongs(c)).unwrap_or(text.len()))
}

/// Checks one number with its unit, as they stand at the head of `rest`.
fn check_span(number: &str, unit: &str, rest: &str) -> Result<(), String> {
    if number.is_empty() {
        return Err(format!(
            "a number is missing before `{}`: write one with a unit, as in 5m or 1h 30m",
            rest.escape_debug()
        ));
    }
    if number.chars().filter(char::is_ascii_digit).count() > MOST_DIGITS {
        return Err(format!("{number} is too long a number: write it in a larger unit, as in 5m or 1h 30m"));
    }
    if unit.is_empty() {
        return Err(unitless(number));
    }
    if unit == "M" || unit.to_lowercase().starts_with("mo") {
        let noun = if number == "1" { "minute" } else { "minutes" };
        return Err(format!("{number} {noun} is {number}m; months are not allowed here"));
    }
    Ok(())
}

fn unitless(number: &str) -> String {
    match number.parse::<u64>() {
        Ok(0) => nothing(number),
        Ok(n) if n % 60 == 0 => format!("{n} has no unit: did you mean {n}s or {}m?", n / 60),
        _ => format!("{number} has no unit: did you mean {number}s or {number}m?"),
    }
}

fn nothing(text: &str) -> String {
    format!("{} is too short: the shortest is 1s", text.escape_debug())
}

fn reworded(error: &Error, text: &str) -> String {
    match error {
        Error::UnknownUnit { unit, .. } => {
            format!("`{}` is not a unit: write ms, s, m, h, d, w or y, as in 5m or 1h 30m", unit.escape_debug())
        }
        Error::NumberOverflow => {
            format!("{} has too fine a fraction: write it in a smaller unit, as in 90s for 1.5m", text.escape_debug())
        }
        _ => format!("`{}` is not a duration: write a number and a unit, as in 5m or 1h 30m", text.escape_debug()),
    }
}
