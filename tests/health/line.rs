//! What a plugin prints, read back by a strict reader of the guidelines' format.

use crate::support::cli::Ran;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    pub value: Option<f64>,
    pub unit: String,
    pub warning: String,
    pub critical: String,
    pub min: String,
    pub max: String,
}

#[derive(Debug)]
pub struct Said {
    pub state: String,
    pub text: String,
    pub data: BTreeMap<String, Data>,
    pub more: Vec<String>,
}

/// Reads it, and makes sure that the code and the state are the same, and that stderr is empty: monitoring systems read both
/// streams as one.
#[track_caller]
pub fn said(ran: Ran) -> Said {
    assert_eq!(ran.stderr, "", "{ran:#?}");
    let lines: Vec<&str> = ran.stdout.strip_suffix('\n').expect("a last line break").split('\n').collect();
    assert!(lines.len() <= 30 && lines.iter().all(|line| line.chars().count() < 900), "{ran:#?}");
    let (first, more) = lines.split_first().unwrap();
    assert!(more.iter().all(|line| !line.contains('|')), "a | begins performance data in later lines too: {ran:#?}");
    let (head, data) = first.split_once(" | ").unwrap_or((first, ""));
    assert!(!head.contains('|') && !data.contains('|'), "{ran:#?}");
    assert!(!ran.stdout.chars().any(|c| c.is_control() && c != '\n'), "{ran:#?}");
    let (state, text) = head.strip_prefix("JOBDOCTOR ").and_then(|rest| rest.split_once(" - ")).expect("a state");
    let code =
        ["OK", "WARNING", "CRITICAL", "UNKNOWN"].iter().position(|known| *known == state).expect("a known state");
    assert_eq!((ran.code, ran.signal), (i32::try_from(code).unwrap(), None), "{ran:#?}");
    let data = data.split(' ').filter(|one| !one.is_empty()).map(one).collect();
    Said { state: state.to_owned(), text: text.to_owned(), data, more: more.iter().map(|l| (*l).to_owned()).collect() }
}

/// `'label'=value[UOM];[warn];[crit];[min];[max]`.
fn one(text: &str) -> (String, Data) {
    let (label, rest) = text.strip_prefix('\'').and_then(|rest| rest.split_once("'=")).expect("a label in quotes");
    assert!(!label.is_empty() && !label.contains(['\'', '=', '|', ' ']), "{text}");
    let [value, warning, critical, min, max] = rest.split(';').collect::<Vec<_>>().try_into().expect("five parts");
    let end = value.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-')).unwrap_or(value.len());
    let (number, unit) = if value == "U" { ("", "") } else { value.split_at(end) };
    assert!(["", "s", "%"].contains(&unit), "{text}");
    let number_in = |range: &str| range.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | ':' | '~' | '@'));
    assert!([warning, critical, min, max].into_iter().all(number_in), "{text}");
    let value = (!number.is_empty()).then(|| number.parse().expect("a number"));
    let own = |text: &str| text.to_owned();
    let data =
        Data { value, unit: own(unit), warning: own(warning), critical: own(critical), min: own(min), max: own(max) };
    (label.to_owned(), data)
}
