//! Ranges as the guidelines of monitoring plugins have them: what they may look like, and what they alert on.

use jobdoctor::policy::{Alerts, Measure, Range, State};

fn range(text: &str) -> Result<Range, String> {
    Range::parse(text, |number| number.parse().map_err(|_| format!("`{number}` is no number")))
}

#[test]
fn which_end_was_passed() {
    let broken = |text, value: f64| range(text).unwrap().broken(value, |end| format!("{end}s"));
    for (text, value, why) in [
        ("10", 11.0, "above 10s"),
        ("10:", 9.0, "below 10s"),
        ("5:10", 4.0, "below 5s"),
        ("@5:10", 7.0, "within @5:10"),
        ("@10:", 12.0, "within @10:"),
    ] {
        assert_eq!(broken(text, value).as_deref(), Some(why), "{text}");
    }
    assert_eq!(broken("10", 10.0), None);
}

#[test]
fn other_forms() {
    for (text, canonical) in [
        ("0", "0"),
        (":10", "10"),
        ("0:10", "10"),
        ("-5:5", "-5:5"),
        ("~:", "~:"),
        ("@~:1.5", "@~:1.5"),
        ("7:7", "7:7"),
    ] {
        assert_eq!(range(text).unwrap().to_string(), canonical, "{text}");
    }
    assert!(range("0").unwrap().alerts(1.0) && !range("0").unwrap().alerts(0.0));
    for text in ["", "@", "x", "10:x", "20:10", "10:20:30", "10:~", "~", "@@1"] {
        assert!(range(text).is_err(), "{text}");
    }
    assert_eq!(range("20:10"), Err("it ends before it begins: 20 is greater than 10".to_owned()));
}

fn range_of(text: &str) -> Range {
    range(text).unwrap()
}

#[test]
fn critical_beats_warning_and_the_last_range_counts() {
    let alerts = Alerts {
        warning: vec![(Measure::Stuck, range_of("0")), (Measure::Silence, range_of("60"))],
        critical: vec![(Measure::Stuck, range_of("1")), (Measure::Stuck, range_of("10"))],
    };
    let cases = [(0.0, State::Ok), (1.0, State::Warning), (10.0, State::Warning), (11.0, State::Critical)];
    for (stuck, state) in cases {
        assert_eq!(alerts.judge(Measure::Stuck, Some(stuck)), state, "{stuck}");
    }
    assert_eq!(alerts.judge(Measure::Silence, None), State::Warning);
    assert_eq!(alerts.judge(Measure::Share, None), State::Ok);
    assert_eq!(alerts.judge(Measure::Share, Some(100.0)), State::Ok);
}
