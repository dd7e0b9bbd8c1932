//! Instants as distances from now, so that they can be compared from run to run.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

/// A value with its instants told as distances, and identifiers that the scene did not write told as such.
pub fn told(value: &Value, now: jiff::Timestamp, written: &str) -> Value {
    match value {
        Value::String(text) => Value::String(text_told(text, now, written)),
        Value::Array(items) => Value::Array(items.iter().map(|item| told(item, now, written)).collect()),
        Value::Object(fields) => fields.iter().map(|(name, field)| (name.clone(), told(field, now, written))).collect(),
        other => other.clone(),
    }
}

fn text_told(text: &str, now: jiff::Timestamp, written: &str) -> String {
    if is_uuid(text) && !written.contains(text) {
        return "(a new uuid)".to_owned();
    }
    match instant(text) {
        Some(at) => distance(at.as_second() - now.as_second()),
        None => text.to_owned(),
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
