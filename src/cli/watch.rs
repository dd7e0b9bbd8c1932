//! `stale --watch`: snapshot after snapshot, each a short transaction on a connection of its own, so that a database
//! that was away is found again.

use super::secret::masked;
use super::settings::Settings;
use super::{CliError, Context, Exit};
use crate::model::age;
use crate::ops::{Selection, Snapshot, SnapshotDiff};
use crate::output::format::{Cell, Format, Screen, Times, Tone, count, grouped};
use crate::output::{self, Document, Job, Stale, diagnoses, marked};
use crate::policy::Policy;
use crate::store::Store;
use std::io;
use std::time::{Duration, Instant};

/// How soon a signal or a new size of the terminal is noticed.
const NOTICE: Duration = Duration::from_millis(100);
/// How long one snapshot may take, unless the operator says: an old picture must not pass for a new one.
const READING: Duration = Duration::from_secs(10);

/// No terminal has more rows.
const MOST_ROWS: usize = 1_000;

/// What is watched, and how it is shown.
pub struct Watch<'a> {
    pub settings: &'a Settings,
    pub selection: Selection,
    pub policy: Policy,
    /// The pause between two snapshots.
    pub interval: Duration,
    /// True if only diagnoses are shown, no jobs.
    pub summary: bool,
    pub format: Format,
}

/// The last snapshot that succeeded.
struct LastSnapshot {
    diff: SnapshotDiff,
    warnings: Vec<String>,
    at: Instant,
}

impl Watch<'_> {
    /// Refuses an output that cannot be watched, before anything is opened; `instead` is what a script can run in a loop.
    pub fn check_output(context: &Context, format: Format, instead: &str) -> Result<(), CliError> {
        let is_drawn = matches!(format, Format::Table | Format::Wide) && context.ui.is_terminal();
        Err(match is_drawn {
            true if !context.is_dumb() => return Ok(()),
            true => CliError::usage("--watch redraws the terminal, but this one cannot move its cursor (TERM=dumb)")
                .hint("leave --watch out"),
            false => CliError::usage("--watch needs a table on a terminal")
                .hint(format!("a script can run `{instead}` in a loop")),
        })
    }

    /// Takes snapshots until a signal comes or stdout is closed.
    pub fn run(mut self, context: &Context) -> Result<Exit, CliError> {
        let store = context.store(self.settings)?;
        // A list that was cut at the limit does not show which jobs are new.
        let rows = self.selection.limit.take();
        let mut last = self.snapshot(context, store.as_ref(), None)?;
        let mut terminal = Terminal::begin(context, self.interval, rows, self.format);
        let mut has_reader = terminal.snapshot(&last)?;
        while has_reader && self.pause(context, &mut terminal, &last)? {
            has_reader = match self.snapshot(context, store.as_ref(), Some(&last.diff)) {
                Ok(next) => {
                    last = next;
                    terminal.snapshot(&last)?
                }
                Err(_) if context.interrupt.is_raised() => break,
                Err(error) => terminal.failed(&last, &error)?,
            };
        }
        Ok(Exit::Done)
    }

    fn snapshot(
        &self,
        context: &Context,
        store: &dyn Store,
        last: Option<&SnapshotDiff>,
    ) -> Result<LastSnapshot, CliError> {
        let limits = self.settings.limits("stale --watch", READING, &context.interrupt, false);
        let mut snapshot = self.settings.session(store, &limits).snapshot()?;
        let most = if self.summary { 0 } else { MOST_ROWS };
        let diff = SnapshotDiff::of(last, &mut snapshot, &self.selection, &self.policy, most)?;
        let warnings = warnings(&snapshot, &diff.document);
        Ok(LastSnapshot { diff, warnings, at: Instant::now() })
    }

    /// False if it is time to end.
    fn pause(&self, context: &Context, terminal: &mut Terminal<'_>, last: &LastSnapshot) -> Result<bool, CliError> {
        let until = Instant::now() + self.interval;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if context.interrupt.sleep(left.min(NOTICE)) {
                return Ok(false);
            }
            if left.is_zero() || !terminal.tick(last)? {
                return Ok(left.is_zero());
            }
        }
    }
}

/// Redraws a document until a signal comes or stdout is closed.
pub fn pages<D: Document>(
    context: &Context,
    format: Format,
    interval: Duration,
    read: &dyn Fn() -> Result<D, CliError>,
) -> Result<Exit, CliError> {
    Watch::check_output(context, format, "jobdoctor status -o json")?;
    let mut last = (read()?, Instant::now());
    let mut terminal = Terminal::begin(context, interval, None, format);
    loop {
        terminal.size = size(context);
        let (width, height) = terminal.size;
        let screen = Screen { width: Some(width), ..context.ui.screen() };
        let mut text = Vec::new();
        if let Some(failure) = &terminal.failure {
            let old = format!("CANNOT READ: {failure}; this picture is {} old", age(last.1.elapsed()));
            text.extend(screen.paragraph(&Cell::new(old, Tone::Bad)).into_bytes());
        }
        let _ = output::write(&last.0, format, &screen, true, &mut text);
        let mut picture = lines(&String::from_utf8_lossy(&text));
        picture.truncate(height.saturating_sub(1).max(1));
        if !terminal.show(&picture)? || context.interrupt.sleep(interval) {
            return Ok(Exit::Done);
        }
        match read() {
            Ok(document) => (last, terminal.failure) = ((document, Instant::now()), None),
            Err(_) if context.interrupt.is_raised() => return Ok(Exit::Done),
            Err(error) => terminal.failure = Some(masked(&error.message)),
        }
    }
}

/// The caveats of a snapshot: "could not read" must never read as "nothing found".
fn warnings(snapshot: &Snapshot, document: &Stale) -> Vec<String> {
    let standby = "this is a standby: it shows the past, and silence is measured up to that moment";
    let standby = snapshot.target.standby.as_ref().map(|_| standby.to_owned());
    standby.into_iter().chain(document.head.warnings.iter().cloned()).collect()
}

/// The size of a terminal that does not tell its own.
const DEFAULT_SIZE: (usize, usize) = (80, 24);
/// Rows for jobs that are gone, at most.
const GONE: usize = 5;
/// Rows of the table, at least, however many lines the diagnoses take.
const FEWEST: usize = 5;

/// For people: each picture is drawn over the one before it, line by line, so that nothing flickers.
struct Terminal<'a> {
    context: &'a Context,
    interval: Duration,
    /// `--limit`.
    rows: Option<usize>,
    format: Format,
    snapshots: u64,
    failure: Option<String>,
    size: (usize, usize),
}

impl<'a> Terminal<'a> {
    /// Hides the cursor and clears the screen.
    fn begin(context: &'a Context, interval: Duration, rows: Option<usize>, format: Format) -> Terminal<'a> {
        // A terminal that is gone is noticed at the first picture.
        let _ = context.ui.report_part(|out| out.write_all(b"\x1b[?25l\x1b[2J"));
        Terminal { context, interval, rows, format, snapshots: 0, failure: None, size: size(context) }
    }

    /// Shows a new snapshot; false once stdout is closed.
    fn snapshot(&mut self, last: &LastSnapshot) -> Result<bool, CliError> {
        self.snapshots += 1;
        self.failure = None;
        self.draw(last)
    }

    /// Shows that a snapshot failed and will be tried again; false once stdout is closed.
    fn failed(&mut self, last: &LastSnapshot, error: &CliError) -> Result<bool, CliError> {
        self.failure = Some(masked(&error.message));
        self.draw(last)
    }

    /// Fits the picture to a terminal that has another size; false once stdout is closed.
    fn tick(&mut self, last: &LastSnapshot) -> Result<bool, CliError> {
        if size(self.context) == self.size { Ok(true) } else { self.draw(last) }
    }

    fn draw(&mut self, last: &LastSnapshot) -> Result<bool, CliError> {
        self.size = size(self.context);
        self.show(&self.picture(last))
    }

    /// Draws these lines; false once stdout is closed.
    fn show(&self, picture: &[String]) -> Result<bool, CliError> {
        self.context.ui.report_part(|out| {
            // Move home; clear the rest of each line; clear everything below.
            out.write_all(b"\x1b[H")?;
            picture.iter().try_for_each(|line| writeln!(out, "{line}\x1b[K"))?;
            out.write_all(b"\x1b[J")
        })
    }

    /// The lines of one picture, no higher and no wider than the terminal.
    fn picture(&self, last: &LastSnapshot) -> Vec<String> {
        let screen = Screen { width: Some(self.size.0), ..self.context.ui.screen() };
        let height = self.size.1.saturating_sub(1).max(1);
        let document = &last.diff.document;
        let mut picture = self.head(last, &screen);
        picture.extend(lines(&diagnoses(&document.diagnoses, document.summary.diagnoses, &screen)));
        // A blank line, the table's header, and the line that counts the rows left out.
        let fixed = 3;
        if height.saturating_sub(fixed + picture.len()) < FEWEST {
            picture.truncate(height.saturating_sub(fixed + FEWEST).max(1));
        }
        let rows = height.saturating_sub(fixed + picture.len()).min(self.rows.unwrap_or(usize::MAX));
        picture.push(String::new());
        picture.extend(self.table(last, rows, &screen));
        picture.truncate(height);
        picture
    }

    /// The lines about the database, the time of the snapshot and the counts; or about the failure since.
    fn head(&self, last: &LastSnapshot, screen: &Screen) -> Vec<String> {
        let document = &last.diff.document;
        let summary = &document.summary;
        let unknown =
            if summary.unknown > 0 { format!(", {} unknown", grouped(summary.unknown)) } else { String::new() };
        let counts = format!(
            "{} stuck{unknown}, of {} in flight",
            count(summary.stuck, "job", "jobs"),
            grouped(summary.in_flight)
        );
        let mut text = String::new();
        let mut add = |words: String, tone: Tone| text.push_str(&screen.paragraph(&Cell::new(words, tone)));
        match &self.failure {
            None => add(
                format!(
                    "{} at {}, every {}: {counts}",
                    document.head.target.database,
                    self.zone().show(document.head.store_time, document.head.store_time),
                    age(self.interval)
                ),
                Tone::Strong,
            ),
            Some(failure) => {
                add(format!("CANNOT READ: {failure}"), Tone::Bad);
                let old = age(last.at.elapsed());
                add(
                    format!(
                        "retrying every {}; this snapshot is {old} old, of {}: {counts}",
                        age(self.interval),
                        self.zone().show(document.head.store_time, document.head.store_time)
                    ),
                    Tone::Warn,
                );
            }
        }
        last.warnings.iter().for_each(|warning| add(format!("warning: {warning}"), Tone::Warn));
        lines(&text)
    }

    /// The zone of the snapshot's own time, which is never a span.
    fn zone(&self) -> Times {
        if self.context.ui.screen().times == Times::Local { Times::Local } else { Times::Utc }
    }

    /// The jobs that are gone, those that are new, then the rest, in so many rows.
    fn table(&self, last: &LastSnapshot, rows: usize, screen: &Screen) -> Vec<String> {
        let diff = &last.diff;
        let mut shown: Vec<(&str, &Job)> = diff.gone.iter().take(GONE.min(rows)).map(|job| ("-", job)).collect();
        let is_new = |job: &&Job| self.snapshots > 1 && diff.is_new(job);
        let (new, rest): (Vec<&Job>, Vec<&Job>) = diff.findings().partition(is_new);
        shown.extend(new.into_iter().map(|job| ("+", job)).chain(rest.into_iter().map(|job| ("", job))));
        shown.truncate(rows);
        let total = diff.all_gone + (diff.document.summary.stuck + diff.document.summary.unknown) as usize;
        if total == 0 || shown.is_empty() {
            return Vec::new();
        }
        let mut table = lines(&marked(&shown, self.format, diff.document.head.store_time, screen.times).render(screen));
        let more = total.saturating_sub(shown.len());
        if more > 0 {
            let more = Cell::new(format!("and {} more", grouped(more as u64)), Tone::Dim);
            table.extend(lines(&screen.paragraph(&more)));
        }
        table
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        // Shows the cursor again, below the last picture.
        let _ = self.context.ui.report_part(|out| out.write_all(b"\x1b[?25h"));
    }
}

/// Columns and lines. The variable COLUMNS makes the picture narrower, never wider.
fn size(context: &Context) -> (usize, usize) {
    let (width, height) = terminal_size::terminal_size_of(io::stdout())
        .map_or(DEFAULT_SIZE, |(width, height)| (usize::from(width.0), usize::from(height.0)));
    let columns = context.environment.get("COLUMNS").and_then(|columns| columns.parse().ok()).filter(|n| *n > 0);
    (columns.map_or(width, |columns: usize| columns.min(width)), height)
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}
