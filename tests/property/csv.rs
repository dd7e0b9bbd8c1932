//! CSV: data is exact.

use jobdoctor::output::format::csv_line;

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
