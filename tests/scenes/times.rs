//! Instants as distances from now, so that they can be compared from run to run.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use regex_lite::Regex;
use serde_json::{Number, Value};
use std::sync::LazyLock;

/// What an epoch counts, and how many of it are in a second.
const UNITS: [(&str, f64); 4] = [("s", 1.0), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)];
/// A number is an epoch if that many seconds before or after now are meant by it at most.
const NEAR: f64 = 400.0 * 86_400.0;

pub struct Telling<'a> {
    pub now: jiff::Timestamp,
    pub written: &'a str,
    /// Whether the spelling of a time in a text is told too.
    pub spelling: bool,
}

impl Telling<'_> {
    /// A value with its instants told as distances, and identifiers that the scene did not write told as such.
    pub fn told(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Number(number) => self.epoch(number).map_or_else(|| value.clone(), Value::String),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.told(item)).collect()),
            Value::Object(fields) => fields.iter().map(|(name, field)| (name.clone(), self.told(field))).collect(),
            other => other.clone(),
        }
    }

    fn text(&self, text: &str) -> String {
        if is_uuid(text) && !self.written.contains(text) {
            return "(a new uuid)".to_owned();
        }
        match instant(text) {
            Some(at) if self.spelling => format!("{} ({})", self.distance(at.as_second()), spelling(text)),
            Some(at) => self.distance(at.as_second()),
            None => self.document(text),
        }
    }

    /// A JSON document in a text, spelled as it is but for what is told. Its times are told without their spelling: RFC 3339
    /// cuts zeros.
    fn document(&self, text: &str) -> String {
        let mut told = text.to_owned();
        let json = text.strip_prefix("jsonb ").unwrap_or(text);
        if json.starts_with(['{', '['])
            && let Ok(document) = serde_json::from_str::<Value>(json)
        {
            let within = Telling { spelling: false, ..*self };
            for leaf in leaves(&document) {
                told = told.replace(&leaf.to_string(), &within.told(leaf).to_string());
            }
        }
        told
    }

    fn epoch(&self, number: &Number) -> Option<String> {
        let (count, now) = (number.as_f64()?, self.now.as_second() as f64);
        let (unit, each) = UNITS.into_iter().find(|(_, each)| (count / each - now).abs() < NEAR)?;
        let fraction = if number.is_f64() { ", a fraction" } else { "" };
        Some(format!("{} ({unit}{fraction})", self.distance((count / each) as i64)))
    }

    fn distance(&self, at: i64) -> String {
        distance(at - self.now.as_second())
    }
}

/// A time with a `d` for each digit.
fn spelling(text: &str) -> String {
    text.replace(|c: char| c.is_ascii_digit(), "d")
}

fn leaves(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().flat_map(leaves).collect(),
        Value::Object(fields) => fields.values().flat_map(leaves).collect(),
        leaf => vec![leaf],
    }
}

fn instant(text: &str) -> Option<jiff::Timestamp> {
    if text.len() < 19 || !text.starts_with("20") {
        return None;
    }
    let zoneless = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    text.parse().ok().or_else(zoneless)
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36 && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
}

/// `now`, `now-10m`, `now+3h`: coarse enough for a slow machine.
pub fn distance(seconds: i64) -> String {
    match span(seconds.unsigned_abs()) {
        None => "now".to_owned(),
        Some(span) => format!("now{}{span}", if seconds < 0 { '-' } else { '+' }),
    }
}

/// A length of time, rounded; `None` for next to nothing.
pub fn span(seconds: u64) -> Option<String> {
    Some(match seconds {
        0..20 => return None,
        20..40 => "30s".to_owned(),
        40..5370 => format!("{}m", (seconds + 30) / 60),
        5370..171_000 => format!("{}h", (seconds + 1800) / 3600),
        _ => format!("{}d", (seconds + 43_200) / 86_400),
    })
}

/// Words about an instant that differ from run to run: how far ahead it is, a number that is no time, and the instant in a
/// signature of Django's.
pub fn without_moments(text: &str) -> String {
    static MOMENTS: LazyLock<[(Regex, &str); 3]> = LazyLock::new(|| {
        [
            (r"is [0-9a-z ]+ ahead of the database's clock: [0-9T:.Z-]+", "is ahead of the database's clock"),
            (r"`[0-9]{10}\.[0-9]+`", "`(a number)`"),
            (r"lC4:[0-9A-Za-z]{6}:", "lC4:(signed):"),
        ]
        .map(|(pattern, instead)| (Regex::new(pattern).unwrap(), instead))
    });
    MOMENTS.iter().fold(text.to_owned(), |text, (pattern, instead)| pattern.replace_all(&text, *instead).into_owned())
}
