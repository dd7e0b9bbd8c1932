//! CSV: data is exact.

use jobdoctor::output::format::{csv_line, csv_under};

fn written(rows: &[&[&str]]) -> String {
    let mut out = Vec::new();
    rows.iter().for_each(|row| csv_line(row.iter(), &mut out).unwrap());
    String::from_utf8(out).unwrap()
}

#[test]
fn data_is_exact() {
    let rows: &[&[&str]] = &[&["1", "a \"b\", c"], &["", "two\nlines"], &["=1+1", "\x1b[2J"]];
    assert_eq!(written(rows), "1,\"a \"\"b\"\", c\"\n,\"two\nlines\"\n=1+1,\x1b[2J\n");
}

#[test]
fn a_column_comes_ahead_and_the_header_once() {
    let mut out = Vec::new();
    let input = "id,detail\n1,\"two\nlines, \"\"x\"\"\"\n";
    csv_under("target", "a,b", true, input.as_bytes(), &mut out).unwrap();
    csv_under("target", "c", false, input.as_bytes(), &mut out).unwrap();
    let row = "1,\"two\nlines, \"\"x\"\"\"\n";
    assert_eq!(String::from_utf8(out).unwrap(), format!("target,id,detail\n\"a,b\",{row}c,{row}"));
}
