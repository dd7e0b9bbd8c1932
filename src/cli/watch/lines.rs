//! `stale --watch -o jsonl`.

use super::{LastSnapshot, Viewer};
use crate::cli::error::CliError;
use crate::cli::secret::masked;
use crate::cli::ui::Ui;
use crate::output::{WatchFailed, WatchHead, WatchLine, WatchSnapshot};
use std::io::{self, Write};
use std::time::Duration;

/// For programs: a line for each job that appeared or is gone, and one for each snapshot.
pub(super) struct Lines<'a> {
    ui: &'a Ui,
    interval: Duration,
    has_begun: bool,
}

impl Lines<'_> {
    pub(super) fn begin(ui: &Ui, interval: Duration) -> Lines<'_> {
        Lines { ui, interval, has_begun: false }
    }

    fn write(&self, last: &LastSnapshot, out: &mut dyn Write) -> io::Result<()> {
        let document = &last.diff.document;
        if !self.has_begun {
            let head = WatchHead {
                schema: "jobdoctor.stale-watch/v1",
                target: &document.head.target,
                filter: &document.head.filter,
                interval_seconds: self.interval.as_secs_f64(),
            };
            WatchLine::Head(head).write(out)?;
        }
        let mut appeared = 0;
        for job in last.diff.findings() {
            let job = job?;
            if last.diff.is_new(&job) {
                appeared += 1;
                WatchLine::Appeared(&job).write(out)?;
            }
        }
        last.diff.gone.iter().try_for_each(|job| WatchLine::Gone(&job?).write(out))?;
        let snapshot = WatchSnapshot {
            store_time: document.head.store_time,
            appeared,
            gone: last.diff.gone.len() as u64,
            summary: &document.summary,
            diagnoses: &document.diagnoses,
            warnings: &last.warnings,
        };
        WatchLine::Snapshot(snapshot).write(out)
    }
}

impl Viewer for Lines<'_> {
    fn snapshot(&mut self, last: &LastSnapshot) -> Result<bool, CliError> {
        let has_reader = self.ui.report_part(|out| self.write(last, out))?;
        self.has_begun = true;
        Ok(has_reader)
    }

    fn failed(&mut self, last: &LastSnapshot, error: &CliError) -> Result<bool, CliError> {
        let failed = WatchFailed {
            code: error.exit.code(),
            kind: error.exit.name().to_owned(),
            message: masked(&error.message),
            last_snapshot_at: Some(last.diff.document.head.store_time),
            without_snapshot_seconds: last.at.elapsed().as_secs_f64(),
        };
        self.ui.report_part(|out| WatchLine::Failed(failed).write(out))
    }
}
