//! CSV: data is exact, and a broken pipe is known as one.

use jobdoctor::output::format::{csv, csv_under};
use std::io::{self, Write};

fn written(rows: &[&[&str]]) -> String {
    let rows = rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect());
    let mut out = Vec::new();
    csv(&["id", "detail"], rows, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn no_rows_leave_the_header() {
    assert_eq!(written(&[]), "id,detail\n");
}

#[test]
fn data_is_exact() {
    let rows: &[&[&str]] = &[&["1", "a \"b\", c"], &["", "two\nlines"], &["=1+1", "\x1b[2J"]];
    assert_eq!(written(rows), "id,detail\n1,\"a \"\"b\"\", c\"\n,\"two\nlines\"\n=1+1,\x1b[2J\n");
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

#[test]
fn a_row_of_another_length_is_refused() {
    let error = csv(&["id"], std::iter::once(vec![String::new(); 2]), &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::Other);
}

#[test]
fn a_closed_pipe_is_known_as_one() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let rows = std::iter::repeat_n(vec!["x".repeat(100)], 1000);
    assert_eq!(csv(&["id"], rows, &mut Closed).unwrap_err().kind(), io::ErrorKind::BrokenPipe);
}
