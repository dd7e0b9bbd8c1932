//! Durations: nothing that is typed can panic, and what is accepted is in range and means what humantime says.

use jobdoctor::model::parse_duration;
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
    #![proptest_config(ProptestConfig::with_cases(4096))]

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
