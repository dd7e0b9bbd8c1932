//! `--watch`: snapshot after snapshot, each a short transaction on a connection of its own, so that a database that was
//! away is found again. Keys move through the picture and open a job; none of them writes.

use super::keys::{Key, Keys};
use super::{CliError, Context, Exit, Settings, masked};
use crate::model::age;
use crate::ops::{self, Selection, SnapshotDiff};
use crate::output::format::{Cell, Format, Page, Screen, Times, Tone, count, grouped};
use crate::output::{Collector, Document, Field, Job, Stale, show};
use crate::policy::Policy;
use crate::store::{Limits, Store};
use std::io;
use std::time::{Duration, Instant};

/// How soon a signal or a new size of the terminal is noticed.
const NOTICE: Duration = Duration::from_millis(100);
/// How long one snapshot may take, unless the operator says: an old picture must not pass for a new one.
const READING: Duration = Duration::from_secs(10);

/// Jobs that are gone, at most.
const GONE: usize = 5;

pub struct Watch<'a> {
    pub context: &'a Context,
    pub settings: &'a Settings,
    pub selection: Selection,
    pub policy: Policy,
    /// The pause between two snapshots.
    pub interval: Duration,
    /// True if only diagnoses are shown, no jobs.
    pub summary: bool,
    /// What groups are counted by, in place of a list.
    pub by: Option<Field>,
    pub format: Format,
}

/// The last snapshot that succeeded.
struct LastSnapshot {
    diff: SnapshotDiff,
    warnings: Vec<String>,
    at: Instant,
    /// True if there was one before it.
    is_compared: bool,
}

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

impl Watch<'_> {
    /// Takes snapshots until a signal or a key ends it, or stdout is closed.
    pub fn run(self) -> Result<Exit, CliError> {
        let context = self.context;
        let store = context.store(self.settings)?;
        let mut last = self.snapshot(store.as_ref(), None)?;
        let mut terminal = Terminal::begin(context, self.interval);
        loop {
            let next = match terminal.pause(&mut |terminal, screen| self.picture(terminal, &last, screen))? {
                Pause::End => return Ok(Exit::Done),
                Pause::Open(id) => {
                    let shown = self.open(&id, store.as_ref());
                    terminal.leaf(&shown)?;
                    continue;
                }
                Pause::Over => self.snapshot(store.as_ref(), Some(&last.diff)),
            };
            match next {
                Ok(next) => (last, terminal.failure) = (next, None),
                Err(_) if context.interrupt.is_raised() => return Ok(Exit::Done),
                Err(error) => terminal.failure = Some(masked(&error.message)),
            }
        }
    }

    fn limits(&self) -> Limits {
        self.settings.limits("stale --watch", READING, &self.context.interrupt, false)
    }

    fn snapshot(&self, store: &dyn Store, last: Option<&SnapshotDiff>) -> Result<LastSnapshot, CliError> {
        let limits = self.limits();
        let mut snapshot = self.settings.session(store, &limits).snapshot()?;
        let jobs = if self.summary { Collector::first(0) } else { Collector::examples() };
        let diff = match self.by {
            Some(by) => SnapshotDiff::of_groups(ops::stale_by(&mut snapshot, &self.selection, &self.policy, by)?),
            None => SnapshotDiff::of(last, &mut snapshot, &self.selection, &self.policy, jobs)?,
        };
        // "Could not read" must never read as "nothing found".
        let standby = "this is a standby: it shows the past, and silence is measured up to that moment";
        let standby = snapshot.target.standby.as_ref().map(|_| standby.to_owned());
        let warnings = standby.into_iter().chain(diff.document.head.warnings.iter().cloned()).collect();
        Ok(LastSnapshot { diff, warnings, at: Instant::now(), is_compared: last.is_some() })
    }

    /// What `show` says of a job.
    fn open(&self, id: &str, store: &dyn Store) -> String {
        let screen = Screen { width: Some(size(self.context).0), ..self.context.ui.screen() };
        let (limits, journals) = (self.limits(), self.context.environment.journals());
        let session = self.settings.session(store, &limits);
        let shown = session
            .snapshot()
            .and_then(|mut snapshot| ops::show(&mut snapshot, &[id.to_owned()], &self.policy, None, journals.as_ref()));
        match shown.map_err(CliError::from) {
            Ok(document) if document.jobs.is_empty() => screen.paragraph(&"the job is gone".into()),
            Ok(document) => show(&document, &screen).to_string(),
            Err(error) => screen.paragraph(&Cell::new(masked(&error.message), Tone::Bad)),
        }
    }

    /// The lines above, and what is below them.
    fn picture(&self, terminal: &Terminal<'_>, last: &LastSnapshot, screen: &Screen) -> (Vec<String>, Page) {
        let (diff, document) = (&last.diff, &last.diff.document);
        let mark = |job: &Job| match (terminal.selected.as_ref() == Some(&job.id), last.is_compared && diff.is_new(job))
        {
            (true, true) => ">+",
            (true, false) => ">",
            (false, true) => "+",
            // The column stays, whatever comes and goes.
            (false, false) => "  ",
        };
        let page = if self.by.is_some() || self.summary {
            document.table(screen, self.format)
        } else {
            let mut page = Page::default();
            let gone = diff.gone.get(..GONE).unwrap_or(&diff.gone);
            document.causes(gone, screen.times, &mark).fill(&mut page, screen);
            page
        };
        (self.head(terminal, last, screen), page)
    }

    /// The lines about the database, the time of the snapshot and the counts; or about the failure since.
    fn head(&self, terminal: &Terminal<'_>, last: &LastSnapshot, screen: &Screen) -> Vec<String> {
        let Stale { head, summary, .. } = &last.diff.document;
        let unknown =
            if summary.unknown > 0 { format!(", {} unknown", grouped(summary.unknown)) } else { String::new() };
        let stuck = count(summary.stuck, "job", "jobs");
        let counts = format!("{stuck} stuck{unknown}, of {} in flight", grouped(summary.in_flight));
        // The snapshot's own time is never a span.
        let zone = if screen.times == Times::Local { Times::Local } else { Times::Utc };
        let (time, every) = (zone.show(head.store_time, head.store_time), age(self.interval));
        let (line, tone) = match terminal.failure {
            None => (format!("{} at {time}, every {every}: {counts}", head.target.database), Tone::Strong),
            Some(_) => {
                let old = age(last.at.elapsed());
                (format!("retrying every {every}; this snapshot is {old} old, of {time}: {counts}"), Tone::Warn)
            }
        };
        let mut text = terminal.failed(screen) + &screen.paragraph(&Cell::new(line, tone));
        for warning in &last.warnings {
            text.push_str(&screen.paragraph(&Cell::new(format!("warning: {warning}"), Tone::Warn)));
        }
        lines(&text)
    }
}

/// Redraws a document until a signal or a key ends it, or stdout is closed.
pub fn pages<D: Document>(
    context: &Context,
    format: Format,
    interval: Duration,
    read: &dyn Fn() -> Result<D, CliError>,
) -> Result<Exit, CliError> {
    check_output(context, format, "jobdoctor status -o json")?;
    let mut last = (read()?, Instant::now());
    let mut terminal = Terminal::begin(context, interval);
    loop {
        let pause = terminal.pause(&mut |terminal, screen| {
            let mut head = terminal.failed(screen);
            if terminal.failure.is_some() {
                let old = format!("this picture is {} old", age(last.1.elapsed()));
                head.push_str(&screen.paragraph(&Cell::new(old, Tone::Warn)));
            }
            (lines(&head), last.0.table(screen, format))
        })?;
        if pause == Pause::End {
            return Ok(Exit::Done);
        }
        match read() {
            Ok(document) => (last, terminal.failure) = ((document, Instant::now()), None),
            Err(_) if context.interrupt.is_raised() => return Ok(Exit::Done),
            Err(error) => terminal.failure = Some(masked(&error.message)),
        }
    }
}

/// The size of a terminal that does not tell its own.
const DEFAULT_SIZE: (usize, usize) = (80, 24);

/// Why a pause has ended.
#[derive(Debug, PartialEq, Eq)]
enum Pause {
    Over,
    End,
    /// This job is to be shown.
    Open(String),
}

/// Makes the lines that stay and the page below them.
type Draw<'d> = &'d mut dyn FnMut(&Terminal<'_>, &Screen) -> (Vec<String>, Page);

/// For people: each picture is drawn over the one before it, line by line, so that nothing flickers.
struct Terminal<'a> {
    context: &'a Context,
    interval: Duration,
    keys: Keys,
    failure: Option<String>,
    /// The job that Enter would open.
    selected: Option<String>,
    /// The first line of the page that is seen.
    top: usize,
}

impl<'a> Terminal<'a> {
    /// Hides the cursor and clears the screen.
    fn begin(context: &'a Context, interval: Duration) -> Terminal<'a> {
        // A terminal that is gone is noticed at the first picture.
        let _ = context.ui.report_part(|out| out.write_all(b"\x1b[?25l\x1b[2J"));
        Terminal { context, interval, keys: Keys::begin(), failure: None, selected: None, top: 0 }
    }

    fn failed(&self, screen: &Screen) -> String {
        let failure = self.failure.iter();
        failure.map(|why| screen.paragraph(&Cell::new(format!("CANNOT READ: {why}"), Tone::Bad))).collect()
    }

    /// Draws, and draws again for each key and each new size, until it is time for another snapshot.
    fn pause(&mut self, draw: Draw<'_>) -> Result<Pause, CliError> {
        let until = Instant::now() + self.interval;
        loop {
            let (width, height) = size(self.context);
            // Keys go from job to job in the order of the page.
            let screen = Screen { width: Some(width), sort: None, ..self.context.ui.screen() };
            let (head, page) = draw(self, &screen);
            if !self.show(&head, &page, height, &screen)? {
                return Ok(Pause::End);
            }
            let key = loop {
                let left = until.saturating_duration_since(Instant::now());
                let key = self.keys.wait(left.min(NOTICE));
                match key {
                    _ if self.context.interrupt.is_raised() => return Ok(Pause::End),
                    None if left.is_zero() => return Ok(Pause::Over),
                    None if size(self.context) == (width, height) => {}
                    key => break key,
                }
            };
            match key {
                Some(Key::Quit) => return Ok(Pause::End),
                Some(Key::Enter) => {
                    if let Some(id) = &self.selected {
                        return Ok(Pause::Open(id.clone()));
                    }
                }
                Some(key @ (Key::Up | Key::Down)) => self.go(key, &page),
                None => {}
            }
        }
    }

    /// Selects the job below or above; where the page has none, moves the page.
    fn go(&mut self, key: Key, page: &Page) {
        let jobs = page.jobs();
        let at = jobs.iter().position(|(_, id)| self.selected.as_ref() == Some(id));
        let next = match (at, key) {
            (None, _) => 0,
            (Some(at), Key::Up) => at.saturating_sub(1),
            (Some(at), _) => at + 1,
        };
        match jobs.get(next).or(jobs.last()) {
            Some((_, id)) => self.selected = Some(id.clone()),
            None if key == Key::Up => self.top = self.top.saturating_sub(1),
            None => self.top += 1,
        }
    }

    /// Draws the head and what of the page is in sight; false once stdout is closed.
    fn show(&mut self, head: &[String], page: &Page, height: usize, screen: &Screen) -> Result<bool, CliError> {
        let below = lines(&page.to_string());
        let height = height.saturating_sub(1).max(1);
        let keys = match page.jobs() {
            _ if !self.keys.are_read() => "",
            [] => "q ends, arrows scroll",
            _ => "q ends, arrows select a job, Enter shows it",
        };
        let mut picture: Vec<String> = head.iter().take(height).cloned().collect();
        let has_keys = height > picture.len() + 3;
        let room = height.saturating_sub(picture.len() + usize::from(has_keys));
        let selected = page.jobs().iter().find(|(_, id)| self.selected.as_ref() == Some(id)).map(|(line, _)| *line);
        if let Some(line) = selected {
            self.top = self.top.max((line + 2).saturating_sub(room)).min(line.saturating_sub(1));
        }
        self.top = self.top.min(below.len().saturating_sub(room));
        picture.extend(below.iter().skip(self.top).take(room).cloned());
        if has_keys {
            let hidden = below.len().saturating_sub(self.top + room);
            let more = (hidden > 0).then(|| format!("{hidden} more lines"));
            let words: Vec<String> = more.into_iter().chain((!keys.is_empty()).then(|| keys.to_owned())).collect();
            let words = Cell::new(words.join("; "), Tone::Dim);
            picture.extend(lines(&screen.paragraph(&words)).into_iter().filter(|line| !line.is_empty()).take(1));
        }
        self.draw(&picture)
    }

    fn draw(&self, picture: &[String]) -> Result<bool, CliError> {
        self.context.ui.report_part(|out| {
            // Move home; clear the rest of each line; clear everything below.
            out.write_all(b"\x1b[H")?;
            picture.iter().try_for_each(|line| writeln!(out, "{line}\x1b[K"))?;
            out.write_all(b"\x1b[J")
        })
    }

    /// Shows a text, through which the arrows move, until a key ends it.
    fn leaf(&mut self, text: &str) -> Result<(), CliError> {
        let (text, mut top, mut drawn) = (lines(text), 0_usize, None);
        while !self.context.interrupt.is_raised() {
            let height = size(self.context).1.saturating_sub(1).max(1);
            top = top.min(text.len().saturating_sub(height));
            if drawn.replace((top, height)) != Some((top, height)) {
                let shown: Vec<String> = text.iter().skip(top).take(height).cloned().collect();
                if !self.draw(&shown)? {
                    break;
                }
            }
            match self.keys.wait(NOTICE) {
                Some(Key::Up) => top = top.saturating_sub(1),
                Some(Key::Down) => top += 1,
                Some(Key::Quit | Key::Enter) => break,
                None => {}
            }
        }
        Ok(())
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
