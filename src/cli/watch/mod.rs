//! `stale --watch`: look after look, each with a connection and a `now` of its own. A snapshot is a short transaction, so that
//! poolers and workers hardly notice; whatever was away between two of them is found again.

mod frame;
mod lines;
mod terminal;

use super::context::Context;
use super::error::CliError;
use super::exit::Exit;
use super::settings::Settings;
use crate::ops::{self, Selection, Snapshot, SnapshotDiff};
use crate::output::Stale;
use crate::output::format::Format;
use crate::policy::Policy;
use crate::store::Store;
use std::time::{Duration, Instant};

/// How soon a signal, or a terminal of another size, is seen.
const NOTICE: Duration = Duration::from_millis(100);
/// How long one snapshot may take unless told: a picture must not be old without saying so.
const READING: Duration = Duration::from_secs(10);

/// What is watched, and how.
pub struct Watch<'a> {
    /// The settings in force.
    pub settings: &'a Settings,
    /// Which claims.
    pub selection: Selection,
    /// What is stuck.
    pub policy: Policy,
    /// The pause between two snapshots.
    pub interval: Duration,
    /// True if no jobs are listed, only what is likely to have happened.
    pub summary: bool,
    /// How it is shown.
    pub format: Format,
}

/// What a snapshot that succeeded has to say.
struct LastSnapshot {
    diff: SnapshotDiff,
    /// What keeps it from being trusted whole.
    warnings: Vec<String>,
    at: Instant,
}

/// Who is told.
trait Viewer {
    /// A snapshot succeeded. False if nobody listens any more.
    fn snapshot(&mut self, seen: &LastSnapshot) -> Result<bool, CliError>;

    /// A snapshot failed, and will be tried again. False if nobody listens any more.
    fn failed(&mut self, last: &LastSnapshot, error: &CliError) -> Result<bool, CliError>;

    /// Time passes.
    fn tick(&mut self, _last: &LastSnapshot) -> Result<bool, CliError> {
        Ok(true)
    }
}

impl Watch<'_> {
    /// Refuses what cannot be watched, before anything is opened.
    ///
    /// # Errors
    /// When the output is neither a terminal nor lines of JSON.
    pub fn fits(context: &Context, format: Format) -> Result<(), CliError> {
        let is_drawn = matches!(format, Format::Table | Format::Wide);
        let what = match (format, context.ui.is_terminal()) {
            (Format::Jsonl, _) => return Ok(()),
            (_, true) if is_drawn && context.is_dumb() => {
                "--watch redraws the terminal, and this one cannot be drawn on (TERM=dumb)"
            }
            (_, true) if is_drawn => return Ok(()),
            _ => "--watch redraws a table on a terminal, or writes lines with -o jsonl; this is neither",
        };
        let hint = "-o jsonl writes a line for what appears, what is gone, and each snapshot";
        Err(CliError::new(Exit::Usage, what).hint(hint))
    }

    /// Looks until a signal comes or nobody listens any more.
    ///
    /// # Errors
    /// When the first snapshot fails, as `stale` would; later ones are tried again.
    pub fn run(mut self, context: &Context) -> Result<Exit, CliError> {
        let database = self.settings.database()?;
        context.say_setup(&database);
        let store = database.store()?;
        // Which jobs are new cannot be told of a list that was cut.
        let rows = self.selection.limit.take();
        let (document, warnings) = self.snapshot(context, store.as_ref(), true)?;
        let mut last = LastSnapshot { diff: SnapshotDiff::first(document)?, warnings, at: Instant::now() };
        let mut viewer: Box<dyn Viewer> = match self.format {
            Format::Jsonl => Box::new(lines::Lines::begin(&context.ui, self.interval)),
            format => Box::new(terminal::Terminal::begin(context, self.interval, rows, format)),
        };
        let mut listens = viewer.snapshot(&last)?;
        while listens && self.pause(context, viewer.as_mut(), &last)? {
            listens = match self.snapshot(context, store.as_ref(), false) {
                Ok((document, warnings)) => {
                    last = LastSnapshot { diff: last.diff.then(document)?, warnings, at: Instant::now() };
                    viewer.snapshot(&last)?
                }
                Err(_) if context.interrupt.is_raised() => break,
                Err(error) => viewer.failed(&last, &error)?,
            };
        }
        Ok(Exit::Done)
    }

    fn snapshot(&self, context: &Context, store: &dyn Store, first: bool) -> Result<(Stale, Vec<String>), CliError> {
        let limits = self.settings.limits("stale --watch", READING, &context.interrupt, false);
        let mut snapshot = self.settings.session(store, &limits).snapshot()?;
        if first && self.format == Format::Jsonl {
            context.say_where(&snapshot);
        }
        let document = match self.summary {
            true => ops::stale_diagnoses(&mut snapshot, &self.selection, &self.policy)?,
            false => ops::stale(&mut snapshot, &self.selection, &self.policy)?,
        };
        let warnings = warnings(&mut snapshot, document.summary.in_flight)?;
        Ok((document, warnings))
    }

    /// False if it is time to end.
    fn pause(&self, context: &Context, viewer: &mut dyn Viewer, last: &LastSnapshot) -> Result<bool, CliError> {
        let until = Instant::now() + self.interval;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if context.interrupt.is_raised() || left.is_zero() {
                return Ok(!context.interrupt.is_raised());
            }
            std::thread::sleep(left.min(NOTICE));
            if !viewer.tick(last)? {
                return Ok(false);
            }
        }
    }
}

/// What keeps a snapshot from being trusted whole: "could not look" must never read as "nothing found".
fn warnings(snapshot: &mut Snapshot, in_flight: u64) -> Result<Vec<String>, CliError> {
    let mut warnings = Vec::new();
    if snapshot.target.standby.is_some() {
        warnings.push("this is a standby: it shows what was, and silence is counted up to there".to_owned());
    }
    if in_flight == 0 {
        let states = snapshot.unfamiliar_states()?;
        if !states.is_empty() {
            let (table, preset) = (&snapshot.target.table, &snapshot.target.preset);
            let states = states.join(", ");
            warnings.push(format!("rows of {table} are in states that preset {preset} does not have: {states}"));
        }
    }
    Ok(warnings)
}
