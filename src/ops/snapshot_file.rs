//! The file with a saved snapshot, which the next run compares with its own.

use super::OpsError;
use super::session::Snapshot;
use crate::model::{Clocks, Timestamp};
use crate::output::{FileMode, SNAPSHOT_SCHEMA, SavedSnapshot, replace_file};
use crate::policy::{EarlierSnapshot, SeenClaim};
use crate::preset::EARLIEST_MICROS;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The most claims in flight that are kept: a file of some 100 MB.
const MOST_CLAIMS: usize = 500_000;
const MOST_BYTES: u64 = 128 << 20;

/// A file with the last snapshot, or the place for the first one.
pub struct SnapshotFile {
    path: PathBuf,
    before: Option<SavedSnapshot>,
}

impl SnapshotFile {
    /// Reads the file, if there is one, and checks its content; an empty file counts as none.
    ///
    /// # Errors
    /// When it is not a regular file, others may write to it, it is too large, or it is no saved snapshot.
    pub fn read(path: &Path) -> Result<SnapshotFile, OpsError> {
        let nothing = SnapshotFile { path: path.to_owned(), before: None };
        let wrong = |why: String| wrong(path, &why);
        // Neither follow a link, which replacing the file would break, nor wait for a pipe.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match open(path, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(nothing),
            Err(Errno::LOOP) => return Err(wrong("is a link; name the file itself".to_owned())),
            Err(error) => return Err(wrong(format!("cannot be read: {}", io::Error::from(error)))),
        };
        let metadata = file.metadata().map_err(|error| wrong(format!("cannot be read: {error}")))?;
        if !metadata.is_file() {
            return Err(wrong("is no file".to_owned()));
        }
        if metadata.len() == 0 {
            return Ok(nothing);
        }
        if metadata.len() > MOST_BYTES {
            return Err(wrong(format!("is larger than {} MiB, so it is not a saved snapshot", MOST_BYTES >> 20)));
        }
        let saved: SavedSnapshot = serde_json::from_reader(BufReader::new(file)).map_err(|error| {
            let why: String = error.to_string().chars().take(200).collect();
            wrong(format!("is not a saved snapshot, or is incomplete: {why}"))
        })?;
        if saved.schema != SNAPSHOT_SCHEMA {
            let schema: String = saved.schema.chars().take(60).collect();
            return Err(wrong(format!("is of the form `{schema}`, not {SNAPSHOT_SCHEMA}")));
        }
        if metadata.mode() & 0o022 != 0 {
            let mode = metadata.mode() & 0o777;
            let why = format!("may be written by others (mode {mode:04o}), and what it says decides who is dead");
            return Err(wrong(why).hint(format!("chmod 600 {}", path.display())));
        }
        if ![0, geteuid().as_raw()].contains(&metadata.uid()) {
            return Err(wrong("belongs to another user, and what it says decides who is dead".to_owned()));
        }
        let plausible = |at: Timestamp| at.micros() >= EARLIEST_MICROS && !at.is_after(saved.store_time, Clocks::One);
        if !saved.claims.iter().all(|claim| plausible(claim.since_at) && plausible(claim.progress_since_at)) {
            return Err(wrong("has times that cannot be right".to_owned()));
        }
        Ok(SnapshotFile { path: path.to_owned(), before: Some(saved) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if there was no snapshot yet.
    pub fn is_first(&self) -> bool {
        self.before.is_none()
    }

    /// What the saved snapshot saw; `None` if there is none.
    pub fn earlier(&self, snapshot: &mut Snapshot) -> Result<Option<EarlierSnapshot>, OpsError> {
        let Some(before) = &self.before else { return Ok(None) };
        if let Some((what, there, here)) = before.target.difference(&snapshot.identified()?) {
            let there: String = there.chars().take(400).collect();
            let why = format!("is a snapshot of {what} {there}, not of {here}");
            return Err(wrong(&self.path, &why).hint("keep one snapshot file for each queue"));
        }
        let seen = before.claims.iter().map(|claim| (claim.key, *claim));
        Ok(Some(EarlierSnapshot { taken_at: before.store_time, seen: seen.collect() }))
    }

    /// Replaces the saved snapshot by this one, whole or not at all. Of two runs at once, the last one wins.
    pub fn save(&self, snapshot: &mut Snapshot, seen: &EarlierSnapshot) -> Result<(), OpsError> {
        if seen.seen.len() > MOST_CLAIMS {
            let (many, most) = (seen.seen.len(), MOST_CLAIMS);
            return Err(wrong(&self.path, &format!("would hold {many} claims in flight, more than {most}")));
        }
        let mut claims: Vec<SeenClaim> = seen.seen.values().copied().collect();
        claims.sort_by_key(|claim| claim.key);
        let saved = SavedSnapshot {
            schema: SNAPSHOT_SCHEMA.to_owned(),
            store_time: seen.taken_at,
            target: snapshot.identified()?,
            claims,
        };
        let replaced = replace_file(&self.path, FileMode::PRIVATE, |out| {
            serde_json::to_writer(&mut *out, &saved)?;
            out.write_all(b"\n")
        });
        replaced.map_err(|error| wrong(&self.path, &format!("cannot be written: {}", error.kind())))
    }
}

fn wrong(path: &Path, why: &str) -> OpsError {
    OpsError::File { message: format!("snapshot file {} {why}", path.display()), hint: None }
}
