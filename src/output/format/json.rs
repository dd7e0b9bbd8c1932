use serde::Serialize;
use std::io::{self, Write};

/// Writes one JSON document, indented, with a newline at the end. Long lists that come as ready JSON stay one object a line.
///
/// # Errors
/// When the writer fails.
pub fn json<T: Serialize>(document: &T, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document)?;
    out.write_all(b"\n")
}
