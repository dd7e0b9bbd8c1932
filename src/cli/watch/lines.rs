use super::{LastSnapshot, Viewer};
use crate::cli::error::CliError;
use crate::cli::secret::masked;
use crate::cli::ui::Ui;
use crate::output::{WatchFailed, WatchHead, WatchLine, WatchSnapshot};
use std::io::{self, Write};
use std::time::Duration;

/// For programs: a line for each thing that happens, and one for each snapshot, at once.
pub(super) struct Lines<'a> {
    ui: &'a Ui,
    interval: Duration,
    begun: bool,
}

impl Lines<'_> {
    pub(super) fn begin(ui: &Ui, interval: Duration) -> Lines<'_> {
        Lines { ui, interval, begun: false }
    }

    fn write(&self, seen: &LastSnapshot, out: &mut dyn Write) -> io::Result<()> {
        let document = &seen.diff.document;
        if !self.begun {
            let head = WatchHead {
                schema: "jobdoctor.stale-watch/v1",
                target: &document.target,
                filter: &document.filter,
                interval_seconds: self.interval.as_secs_f64(),
            };
            WatchLine::Head(head).write(out)?;
        }
        let mut appeared = 0;
        for job in seen.diff.findings() {
            let job = job?;
            if seen.diff.is_new(&job) {
                appeared += 1;
                WatchLine::Appeared(&job).write(out)?;
            }
        }
        seen.diff.gone.iter().try_for_each(|job| WatchLine::Gone(&job?).write(out))?;
        let snapshot = WatchSnapshot {
            store_time: document.store_time,
            appeared,
            gone: seen.diff.gone.len() as u64,
            summary: &document.summary,
            diagnoses: &document.diagnoses,
            warnings: &seen.warnings,
        };
        WatchLine::Snapshot(snapshot).write(out)
    }
}

impl Viewer for Lines<'_> {
    fn snapshot(&mut self, seen: &LastSnapshot) -> Result<bool, CliError> {
        let listens = self.ui.report_on(|out| self.write(seen, out))?;
        self.begun = true;
        Ok(listens)
    }

    fn failed(&mut self, last: &LastSnapshot, error: &CliError) -> Result<bool, CliError> {
        let failed = WatchFailed {
            code: error.exit.code(),
            kind: error.exit.name().to_owned(),
            message: masked(&error.message),
            last_snapshot_at: Some(last.diff.document.store_time),
            without_snapshot_seconds: last.at.elapsed().as_secs_f64(),
        };
        self.ui.report_on(|out| WatchLine::Failed(failed).write(out))
    }
}
