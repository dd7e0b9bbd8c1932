//! `stale --watch`: snapshot after snapshot, each a short transaction on a connection of its own, so that a database
//! that was away is found again.

mod terminal;

use super::context::Context;
use super::error::CliError;
use super::exit::Exit;
use super::settings::Settings;
use crate::ops::{Selection, Snapshot, SnapshotDiff};
use crate::output::Stale;
use crate::output::format::Format;
use crate::policy::Policy;
use crate::store::Store;
use std::time::{Duration, Instant};
use terminal::Terminal;

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
    /// Refuses an output that cannot be watched, before anything is opened.
    pub fn check_output(context: &Context, format: Format) -> Result<(), CliError> {
        let is_drawn = matches!(format, Format::Table | Format::Wide) && context.ui.is_terminal();
        let (what, hint) = match is_drawn {
            true if !context.is_dumb() => return Ok(()),
            true => {
                ("--watch redraws the terminal, but this one cannot move its cursor (TERM=dumb)", "leave --watch out")
            }
            false => ("--watch needs a table on a terminal", "a script can run `jobdoctor stale -o jsonl` in a loop"),
        };
        Err(CliError::new(Exit::Usage, what).hint(hint))
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

/// The caveats of a snapshot: "could not read" must never read as "nothing found".
fn warnings(snapshot: &Snapshot, document: &Stale) -> Vec<String> {
    let standby = "this is a standby: it shows the past, and silence is measured up to that moment";
    let standby = snapshot.target.standby.as_ref().map(|_| standby.to_owned());
    standby.into_iter().chain(document.head.warnings.iter().cloned()).collect()
}
