use super::{Diagnosis, Filter, Job, StaleSummary, Target};
use crate::model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};

/// `jobdoctor.stale-watch/v1`: one line of `stale --watch -o jsonl`. First a head; of each snapshot what appeared and what is
/// gone, then the snapshot itself.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum WatchLine<'a> {
    /// The first line.
    Head(WatchHead<'a>),
    /// A finding that the snapshot before did not have; in the first snapshot, every one.
    Appeared(&'a Job),
    /// A finding that the snapshot before had and this one has not, as it was then. What became of it is not looked for.
    Gone(&'a Job),
    /// The end of a snapshot, and its counts.
    Snapshot(WatchSnapshot<'a>),
    /// A snapshot that failed; nothing is known of the time since the last one. It is tried again.
    Failed(WatchFailed),
}

/// See [`WatchLine::Head`].
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

/// See [`WatchLine::Snapshot`].
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
    /// What is likely to have happened.
    pub diagnoses: &'a [Diagnosis],
    /// What keeps this snapshot from being trusted whole.
    pub warnings: &'a [String],
}

/// See [`WatchLine::Failed`].
#[derive(Serialize, JsonSchema)]
pub struct WatchFailed {
    /// The exit code that `stale` would have ended with.
    pub code: u8,
    /// A word for it.
    pub kind: String,
    /// What happened.
    pub message: String,
    /// The store's time of the last snapshot that did not fail.
    #[schemars(with = "Option<String>")]
    pub last_snapshot_at: Option<Timestamp>,
    /// For how long there has been none, by this machine's clock.
    pub without_snapshot_seconds: f64,
}

impl WatchLine<'_> {
    /// Writes it as a line.
    ///
    /// # Errors
    /// When the writer fails.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.write_all(b"\n")
    }
}
