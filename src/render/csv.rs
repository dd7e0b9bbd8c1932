use csv::{Error, ErrorKind, Writer};
use std::io::{self, Write};

/// Writes rows as CSV, under a line of column names.
///
/// CSV is for machines, so data is exact: nothing is escaped beyond what the format asks, control characters included.
/// A spreadsheet would run a cell that begins with `=`, `+`, `-` or `@`; changing it here would hand every other reader
/// an id that the queue does not know.
pub fn csv(table_header: &[&str], rows: impl Iterator<Item = Vec<String>>, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer::from_writer(out);
    writer.write_record(table_header).map_err(as_io)?;
    for row in rows {
        writer.write_record(row).map_err(as_io)?;
    }
    writer.flush()
}

/// The I/O error inside, so that a closed pipe is still known as one: the crate's own conversion hides its kind.
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
