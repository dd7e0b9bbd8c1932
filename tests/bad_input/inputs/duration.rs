//! `--older` and all the other spans of time: what is accepted is in range and means what humantime says.

use jobdoctor::model::{age, parse_duration};
use std::time::Duration;

pub fn holds(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match parse_duration(&text) {
        Ok(duration) => {
            assert!((Duration::from_secs(1)..=Duration::from_secs(315_576_000)).contains(&duration), "{text:?}");
            assert_eq!(humantime::parse_duration(text.trim()), Ok(duration), "{text:?}");
            let shown = age(duration);
            // Of more than two units the rest is left out. Months are shown, and not read.
            if !shown.contains("month") {
                let read = parse_duration(&shown).unwrap_or_else(|why| panic!("{text:?} is shown as {shown:?}: {why}"));
                assert!(read <= duration, "{text:?} is shown as {shown:?}");
            }
        }
        Err(why) => {
            assert!(!why.chars().any(char::is_control), "{text:?}: {why:?}");
            assert!(why.contains([':', ';']), "{text:?}: no way out in {why:?}");
        }
    }
}
