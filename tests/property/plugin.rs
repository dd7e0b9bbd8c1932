//! Lines for monitoring plugins: no text can pass for data or for another line.

use jobdoctor::output::format::{PerfData, Plugin};

fn data(value: Option<f64>) -> PerfData {
    PerfData { label: "share", value, unit: "%", warning: Some("5".to_owned()), critical: None, max: Some(100) }
}

#[test]
fn one_line_first() {
    let plugin = Plugin {
        state: "WARNING",
        text: "1 stuck".to_owned(),
        data: vec![data(Some(3.333_33)), data(None)],
        more: vec!["queue mail: 1 stuck".to_owned()],
    };
    let said = "JOBDOCTOR WARNING - 1 stuck | 'share'=3.33%;5;;0;100 'share'=U;5;;0;100\nqueue mail: 1 stuck\n";
    assert_eq!(plugin.render(), said);
    let bare = Plugin { state: "UNKNOWN", text: "no".to_owned(), ..Plugin::default() };
    assert_eq!(bare.render(), "JOBDOCTOR UNKNOWN - no\n");
}

#[test]
fn no_text_can_pass_for_data_or_for_another_line() {
    let hostile = "a|'stuck'=0;;;0;\nJOBDOCTOR OK\u{1b}[2J".to_owned();
    let plugin = Plugin { state: "UNKNOWN", text: hostile.clone(), data: Vec::new(), more: vec![hostile] };
    let said = "a/'stuck'=0;;;0;\\nJOBDOCTOR OK\\x1b[2J\n";
    assert_eq!(plugin.render(), format!("JOBDOCTOR UNKNOWN - {said}{said}"));
    let long = Plugin { state: "OK", text: "é".repeat(400), ..Plugin::default() };
    assert_eq!(long.render(), format!("JOBDOCTOR OK - {}…\n", "é".repeat(300)));
}
