//! Instants as people read them: to the second.

use super::format::Times;
use crate::model::{Timestamp, age};
use jiff::tz::TimeZone;

/// An instant as of `now`: RFC 3339 to the second, or a span.
pub fn instant(at: Timestamp, now: Timestamp, times: Times) -> String {
    let Ok(time) = jiff::Timestamp::from_microsecond(at.micros() - at.micros().rem_euclid(1_000_000)) else {
        return at.to_string();
    };
    match times {
        Times::Relative if at.seconds_since(now) > 0.0 => format!("in {}", age(at.since(now))),
        Times::Relative => format!("{} ago", age(now.since(at))),
        Times::Local => time.display_with_offset(TimeZone::system().to_offset(time)).to_string(),
        Times::Mixed | Times::Utc => time.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_have_no_fraction() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let now = at("2026-11-20T10:00:00.5Z");
        let cases = [
            (Times::Utc, "2026-11-20T09:46:28Z"),
            (Times::Mixed, "2026-11-20T09:46:28Z"),
            (Times::Relative, "13m 32s ago"),
        ];
        for (times, shown) in cases {
            assert_eq!(instant(at("2026-11-20T09:46:28.123456Z"), now, times), shown, "{times:?}");
        }
        assert_eq!(instant(at("2026-11-20T10:02:00.5Z"), now, Times::Relative), "in 2m");
    }
}
