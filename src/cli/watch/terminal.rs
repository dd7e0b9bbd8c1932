use super::frame::{Failure, Frame};
use super::{LastSnapshot, Viewer};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::secret::masked;
use crate::output::format::{Format, Screen};
use std::io;
use std::time::Duration;

/// Where nothing tells how large the terminal is.
const USUAL: (usize, usize) = (80, 24);

/// For people: a picture that is drawn over the one before it, line by line, so that nothing flickers.
pub(super) struct Terminal<'a> {
    context: &'a Context,
    interval: Duration,
    rows: Option<usize>,
    format: Format,
    looks: u64,
    failure: Option<Failure>,
    size: (usize, usize),
}

impl<'a> Terminal<'a> {
    /// Takes the screen over.
    pub(super) fn begin(context: &'a Context, interval: Duration, rows: Option<usize>, format: Format) -> Terminal<'a> {
        // Hides the cursor, and begins on an empty screen. A terminal that is gone is noticed when it is drawn on.
        let _ = context.ui.report_on(|out| out.write_all(b"\x1b[?25l\x1b[2J"));
        Terminal { context, interval, rows, format, looks: 0, failure: None, size: size(context) }
    }

    fn draw(&mut self, seen: &LastSnapshot) -> Result<bool, CliError> {
        self.size = size(self.context);
        let (width, height) = self.size;
        let color = self.context.ui.screen().color;
        let frame = Frame {
            screen: Screen { width: Some(width), color },
            height: height.saturating_sub(1).max(1),
            rows: self.rows,
            format: self.format,
            interval: self.interval,
            compares: self.looks > 1,
        };
        let failure = self.failure.as_ref();
        self.context.ui.report_on(|out| {
            // Home; each line ends by clearing what is right of it; then everything below.
            let picture = frame.draw(seen, failure)?;
            out.write_all(b"\x1b[H")?;
            picture.iter().try_for_each(|line| writeln!(out, "{line}\x1b[K"))?;
            out.write_all(b"\x1b[J")
        })
    }
}

impl Viewer for Terminal<'_> {
    fn snapshot(&mut self, seen: &LastSnapshot) -> Result<bool, CliError> {
        self.looks += 1;
        self.failure = None;
        self.draw(seen)
    }

    fn failed(&mut self, last: &LastSnapshot, error: &CliError) -> Result<bool, CliError> {
        self.failure = Some(Failure { message: masked(&error.message) });
        self.draw(last)
    }

    fn tick(&mut self, last: &LastSnapshot) -> Result<bool, CliError> {
        if size(self.context) == self.size { Ok(true) } else { self.draw(last) }
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        // The cursor comes back below the last picture, which stays.
        let _ = self.context.ui.report_on(|out| out.write_all(b"\x1b[?25h"));
    }
}

/// Columns and lines. COLUMNS, where it is set, makes it narrower, never wider.
fn size(context: &Context) -> (usize, usize) {
    let (width, height) = terminal_size::terminal_size_of(io::stdout())
        .map_or(USUAL, |(width, height)| (usize::from(width.0), usize::from(height.0)));
    let columns = context.environment.get("COLUMNS").and_then(|columns| columns.parse().ok()).filter(|n| *n > 0);
    (columns.map_or(width, |columns: usize| columns.min(width)), height)
}
