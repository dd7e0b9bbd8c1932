//! Comma-separated values.

use csv::{Error, ErrorKind, ReaderBuilder, Writer, WriterBuilder};
use std::io::{self, Read, Write};

/// Bytes of a row, about.
const ROW: usize = 512;

/// Writes one row as CSV.
///
/// Data is exact, control characters included: nothing is escaped beyond the format's own rules. A spreadsheet runs a
/// cell that begins with `=`, `+`, `-` or `@`; an escape against that would give other readers an id that the queue
/// does not know.
pub fn csv_line(row: impl Iterator<Item = impl AsRef<[u8]>>, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = WriterBuilder::new().buffer_capacity(ROW).from_writer(out);
    writer.write_record(row).map_err(as_io)?;
    writer.flush()
}

/// Copies CSV with another first column that has the same value in each row; with the header or without.
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
