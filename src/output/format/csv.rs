//! Comma-separated values.

use csv::{Error, ErrorKind, ReaderBuilder, Writer};
use std::io::{self, Read, Write};

/// Writes rows as CSV, under a line of column names.
///
/// Data is exact, control characters included: nothing is escaped beyond the format's own rules. A spreadsheet runs a cell that begins
/// with `=`, `+`, `-` or `@`; an escape against that would give other readers an id that the queue does not know.
pub fn csv(table_header: &[&str], rows: impl Iterator<Item = Vec<String>>, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer::from_writer(out);
    writer.write_record(table_header).map_err(as_io)?;
    for row in rows {
        writer.write_record(row).map_err(as_io)?;
    }
    writer.flush()
}

/// Copies CSV with another first column that has the same value in each row; with the header or without.
///
/// # Errors
/// When the input cannot be read, or the output not be written.
pub fn csv_under(column: &str, value: &str, has_header: bool, input: impl Read, out: &mut dyn Write) -> io::Result<()> {
    let mut reader = ReaderBuilder::new().has_headers(false).from_reader(input);
    let mut writer = Writer::from_writer(out);
    for (n, record) in reader.byte_records().enumerate() {
        let first = if n == 0 { column } else { value };
        let record = record.map_err(as_io)?;
        if n > 0 || has_header {
            let cells = std::iter::once(first.as_bytes()).chain(record.iter());
            writer.write_record(cells).map_err(as_io)?;
        }
    }
    writer.flush()
}

/// The I/O error inside. The csv crate's own conversion hides its kind, such as that of a closed pipe.
fn as_io(error: Error) -> io::Error {
    if !error.is_io_error() {
        return io::Error::other(error);
    }
    match error.into_kind() {
        ErrorKind::Io(inner) => inner,
        other => io::Error::other(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
