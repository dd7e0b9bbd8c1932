//! Stored values as JSON: each comes back as it was.

use jobdoctor::model::{Cell, Key, from_json, to_json};
use serde_json::json;

#[test]
fn every_value_comes_back_as_it_was() {
    let cells = [
        Cell::Null,
        Cell::Integer(0),
        Cell::Integer(i64::MIN),
        Cell::Integer(i64::MAX),
        Cell::Real(0.1 + 0.2),
        Cell::Real(-0.0),
        Cell::Real(5.0),
        Cell::Real(f64::MIN_POSITIVE / 2.0),
        Cell::Real(f64::INFINITY),
        Cell::Real(f64::NEG_INFINITY),
        Cell::Text(String::new()),
        Cell::Text("a\0b\"\\\u{1f4a3}\u{2028}\r\n".into()),
        Cell::BrokenText(vec![0xff, 0x00, 0x41]),
        Cell::Bytes(Vec::new()),
        Cell::Bytes(vec![0, 255]),
        Cell::Instant(-1),
        Cell::WallClock(i64::MAX),
        Cell::Infinity,
        Cell::NegativeInfinity,
    ];
    for cell in cells {
        let text = serde_json::to_string(&to_json(&cell)).unwrap();
        let back = from_json(&serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(format!("{back:?}"), format!("{cell:?}"), "{text}");
    }
}

#[test]
fn what_nobody_wrote_is_no_value() {
    for text in ["true", "[1]", "1.5", "{}", r#"{"real":1}"#, r#"{"bytes":"0"}"#, r#"{"bytes":"+1"}"#, r#"{"a":1}"#] {
        assert_eq!(from_json(&serde_json::from_str(text).unwrap()), None, "{text}");
    }
    assert_eq!(from_json(&json!(u64::MAX)), None);
}

#[test]
fn keys() {
    let key = Key(vec![Cell::Integer(1), Cell::Text("1".into())]);
    assert_eq!(key.exact(), r#"[1,"1"]"#);
    assert_eq!(serde_json::to_string(&key).unwrap(), key.exact());
    assert_eq!(serde_json::from_str::<Key>(&key.exact()).unwrap(), key);
}
