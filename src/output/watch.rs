use super::format::Inert;
use super::{Diagnosis, Filter, Job, StaleSummary, Target};
use crate::model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};

/// `jobdoctor.stale-watch/v1`: one line of `stale --watch -o jsonl`. A head comes first; then for each snapshot the jobs that appeared
/// or are gone, and the snapshot itself.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum WatchLine<'a> {
    /// The first line.
    Head(WatchHead<'a>),
    /// A finding that the previous snapshot did not have; in the first snapshot, every finding.
    Appeared(&'a Job),
    /// A finding of the previous snapshot that this one does not have, as it was then. Its row is not read again.
    Gone(&'a Job),
    /// The end of a snapshot, with its counts.
    Snapshot(WatchSnapshot<'a>),
    /// A snapshot that failed and is tried again; nothing is known of the time since the last one.
    Failed(WatchFailed),
}

/// The body of [`WatchLine::Head`].
#[derive(Serialize, JsonSchema)]
pub struct WatchHead<'a> {
    /// `jobdoctor.stale-watch/v1`.
    pub schema: &'static str,
    /// Which queue.
    pub target: &'a Target,
    /// What was asked for.
    pub filter: &'a Filter,
    /// The pause between two snapshots.
    pub interval_seconds: f64,
}

/// The body of [`WatchLine::Snapshot`].
#[derive(Serialize, JsonSchema)]
pub struct WatchSnapshot<'a> {
    /// The store's own time of this snapshot.
    #[schemars(with = "String")]
    pub store_time: Timestamp,
    /// How many appeared.
    pub appeared: u64,
    /// How many are gone.
    pub gone: u64,
    /// The counts.
    pub summary: &'a StaleSummary,
    /// The diagnoses.
    pub diagnoses: &'a [Diagnosis],
    /// The caveats of this snapshot.
    pub warnings: &'a [String],
}

/// The body of [`WatchLine::Failed`].
#[derive(Serialize, JsonSchema)]
pub struct WatchFailed {
    /// The exit code of `stale` without `--watch`.
    pub code: u8,
    /// The name of the exit code.
    pub kind: String,
    /// What happened.
    pub message: String,
    /// The store's time of the last snapshot that did not fail.
    #[schemars(with = "Option<String>")]
    pub last_snapshot_at: Option<Timestamp>,
    /// The time since the last snapshot that succeeded, by this host's clock.
    pub without_snapshot_seconds: f64,
}

impl WatchLine<'_> {
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(Inert(out), self)?;
        out.write_all(b"\n")
    }
}
