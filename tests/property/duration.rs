//! Durations: nothing that is typed can panic, what is accepted is in range and means what humantime says, and what is refused
//! is told how to write it.

use super::tries;
use jobdoctor::model::{age, parse_duration};
use proptest::prelude::*;
use std::time::Duration;

const UNITS: [&str; 18] =
    ["ns", "nanos", "us", "µs", "ms", "s", "secs", "m", "min", "h", "hr", "d", "w", "M", "months", "y", "years", ""];

/// Numbers and units in any order of size, with and without spaces, most of them too large.
fn spans() -> impl Strategy<Value = String> {
    let number = prop_oneof!["[0-9]{1,12}", "[0-9]{1,5}\\.[0-9]{0,10}", "9{8,12}", "[0-9]{20}", "[0-9 .]{1,6}"];
    let span = (number, "[ \n]?", proptest::sample::select(&UNITS[..]), "[ \t]?");
    proptest::collection::vec(span, 1..7)
        .prop_map(|spans| spans.into_iter().map(|(number, a, unit, b)| format!("{number}{a}{unit}{b}")).collect())
}

fn holds(text: &str) -> Result<(), TestCaseError> {
    match parse_duration(text) {
        Ok(duration) => {
            prop_assert!((Duration::from_secs(1)..=Duration::from_secs(315_576_000)).contains(&duration), "{text}");
            prop_assert_eq!(humantime::parse_duration(text), Ok(duration));
        }
        Err(why) => {
            prop_assert!(!why.chars().any(char::is_control), "{why:?}");
            prop_assert!(why.contains([':', ';']), "no way out in {why:?}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(tries(300))]

    #[test]
    fn any_text(text in any::<String>()) {
        holds(&text)?;
    }

    #[test]
    fn numbers_and_units(text in spans()) {
        holds(&text)?;
    }

    #[test]
    fn near_the_end_of_a_u64(years in 584_542_046_080u64..584_542_046_092, seconds in 0u64..40_000_000) {
        holds(&format!("{years}y {seconds}s 999999999ns 1ns"))?;
    }

    #[test]
    fn every_second_in_range_is_accepted(seconds in 1u64..=315_576_000) {
        prop_assert_eq!(parse_duration(&format!("{seconds}s")), Ok(Duration::from_secs(seconds)));
        let words = humantime::format_duration(Duration::from_secs(seconds)).to_string();
        if !words.contains("month") {
            prop_assert_eq!(parse_duration(&words), Ok(Duration::from_secs(seconds)));
        }
    }
}

#[test]
fn what_people_write() {
    let cases = [
        ("1s", 1),
        ("5m", 300),
        (" 5 m ", 300),
        ("5min", 300),
        ("1h 30m", 5400),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("2d", 172_800),
        ("1w", 604_800),
        ("2000ms", 2),
        ("10y", 315_576_000),
        ("10 years", 315_576_000),
        ("0h 1s", 1),
    ];
    for (text, seconds) in cases {
        assert_eq!(parse_duration(text), Ok(Duration::from_secs(seconds)), "{text}");
    }
}

#[test]
fn what_is_wrong_and_how_to_write_it() {
    let malformed = |text: &str| {
        format!("`{text}` is not a duration: write numbers with the units ms, s, m, h, d, w or y, as in 5m or 1h 30m")
    };
    let range = "is out of range: the shortest is 1s, the longest 10y (3652.5 days)";
    let five_months = "5 minutes is 5m; months are not allowed here";
    let cases = [
        ("", malformed("")),
        (" \t", malformed("")),
        ("300", "300 has no unit: did you mean 300s or 300m?".to_owned()),
        ("1.5", "1.5 has no unit: did you mean 1.5s or 1.5m?".to_owned()),
        ("1h 30", "30 has no unit: did you mean 30s or 30m?".to_owned()),
        ("5 0m", "5 has no unit: did you mean 5s or 5m?".to_owned()),
        ("5M", five_months.to_owned()),
        ("2h 5M", five_months.to_owned()),
        ("5 months", five_months.to_owned()),
        ("5month", five_months.to_owned()),
        ("5 Mon", five_months.to_owned()),
        ("0s", format!("0s {range}")),
        ("0h 0m", format!("0h 0m {range}")),
        ("999ms", format!("999ms {range}")),
        ("11y", format!("11y {range}")),
        ("10y 1s", format!("10y 1s {range}")),
        ("10y\n1s", format!("10y\\n1s {range}")),
        ("-5m", malformed("-5m")),
        ("\u{2212}5m", malformed("\u{2212}5m")),
        ("5H", malformed("5H")),
        ("soon", malformed("soon")),
        ("1h -5m", malformed("1h -5m")),
        ("1m s", malformed("1m s")),
        ("5m\x1b[2J", malformed("5m\\u{1b}[2J")),
        ("1.2.3s", malformed("1.2.3s")),
        ("0.3333h", malformed("0.3333h")),
        ("12345678901s", malformed("12345678901s")),
    ];
    for (text, message) in cases {
        assert_eq!(parse_duration(text), Err(message), "{text:?}");
    }
    let long = "1s ".repeat(40);
    assert_eq!(parse_duration(&long), Err(malformed(long.trim())));
}

#[test]
fn age_takes_two_units() {
    let cases = [
        (0, "0s"),
        (45, "45s"),
        (812, "13m 32s"),
        (7500, "2h 5m"),
        (7505, "2h 5m"),
        (3605, "1h 5s"),
        (86_400, "1 day"),
        (86_400 + 1800, "1 day 30 min"),
        (3 * 86_400 + 4 * 3600 + 59, "3 days 4 h"),
        (31_557_600 * 2, "2 years"),
    ];
    for (seconds, words) in cases {
        assert_eq!(age(Duration::from_secs(seconds)), words);
    }
    assert_eq!(age(Duration::from_millis(999)), "0s");
    assert_eq!(age(Duration::from_millis(45_999)), "45s");
    assert!(age(Duration::MAX).ends_with("months"));
}
