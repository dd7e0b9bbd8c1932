//! Comma-separated values.

use csv::{Error, ErrorKind, WriterBuilder};
use std::io::{self, Write};

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
