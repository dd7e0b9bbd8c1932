//! Files of earlier runs and of other programs, read as untrusted input: live-owner lists, snapshots and plans.

use super::args::EvidenceArgs;
use super::atomic_file::{AtomicFile, FileKind};
use super::input::{Input, Source};
use super::{CliError, Context, Exit, OrEnd, Settings};
use crate::model::age;
use crate::ops::{self, OddList, Snapshot, SnapshotFile};
use crate::output::format::{count, json};
use crate::output::{FileMode, SavedPlan};
use crate::policy::{LiveOwners, LiveOwnersError, Living, Policy};
use crate::preset::{Jobs, Liveness};
use crate::store::Interrupt;
use anyhow::Context as _;
use std::fs::OpenOptions;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Line numbers named in a warning.
const SHOWN: usize = 5;
/// A list older than this is worth a warning.
const OLD: Duration = Duration::from_secs(600);

pub struct EvidenceFiles {
    pub live_owners: Option<LiveOwnerList>,
    snapshot_file: Option<SnapshotFile>,
}

impl EvidenceFiles {
    /// Reads the files, before the database is read.
    pub fn read(args: &EvidenceArgs, settings: &Settings, context: &Context, time: Duration) -> Result<Self, CliError> {
        let snapshot_file = args.snapshot_file.as_deref().map(SnapshotFile::read).transpose()?;
        let patience = settings.stated_timeout().unwrap_or(time);
        let read = |path: &Path| LiveOwnerList::read(path, &context.interrupt, patience);
        let live_owners = args.alive_from.as_deref().map(read).transpose()?;
        for warning in live_owners.iter().flat_map(LiveOwnerList::warnings) {
            context.ui.warn_about_setup(&warning);
        }
        Ok(EvidenceFiles { live_owners, snapshot_file })
    }

    /// Adds the evidence to a policy and saves this snapshot. The second value is what is odd about the list.
    /// `is_noted` is false where a note would disturb.
    pub fn add_to(
        &self,
        snapshot: &mut Snapshot,
        policy: Policy,
        context: &Context,
        is_noted: bool,
    ) -> Result<(Policy, OddList), CliError> {
        if self.live_owners.is_none() && self.snapshot_file.is_none() {
            return Ok((policy, OddList::default()));
        }
        let living = self.live_owners.as_ref().filter(|_| policy.restart.is_none()).map(|list| list.living(snapshot));
        let policy = Policy { living, ..policy };
        let prescan = ops::prescan(snapshot, policy.list(), self.snapshot_file.as_ref())?;
        if let (Some(file), Some(now)) = (&self.snapshot_file, &prescan.now) {
            file.save(snapshot, now)?;
            if file.is_first() && is_noted {
                let path = file.path().display();
                context.ui.note(&format!("saved a first snapshot in {path}; the next run compares with it"));
            }
            if !changes_with_life(&snapshot.jobs) {
                let preset = &snapshot.jobs.queue.preset;
                context.ui.warn_about_setup(&format!(
                    "preset {preset} has no column that changes while a job runs, so a snapshot file proves nothing: name such \
                     columns with `progress` in a mapping"
                ));
            }
        }
        Ok((Policy { earlier: prescan.before.map(Arc::new), ..policy }, prescan.list))
    }

    /// Refuses `--rule no_progress` where it could never fire.
    pub fn check_progress(&self, snapshot: &Snapshot) -> Result<(), CliError> {
        if self.snapshot_file.is_none() {
            return Err(CliError::usage("--rule no_progress needs two snapshots to compare")
                .hint("add --snapshot-file FILE, the same in each run"));
        }
        if snapshot.jobs.claim.progress.is_empty() {
            let preset = &snapshot.jobs.queue.preset;
            let message = format!("--rule no_progress: preset {preset} names no columns that show progress");
            return Err(CliError::usage(message).hint("name them with `progress` in the [claim] of a mapping"));
        }
        Ok(())
    }
}

/// True if the queue's tables have a column that changes while a job runs.
fn changes_with_life(jobs: &Jobs) -> bool {
    let beats = |source: &Liveness| matches!(source, Liveness::Heartbeat { .. } | Liveness::Owner { .. });
    !jobs.claim.progress.is_empty() || jobs.liveness.iter().any(beats)
}

/// A live-owner list and its age; claims made after the list are not judged by it.
pub struct LiveOwnerList {
    live_owners: Arc<LiveOwners>,
    /// When reading it began.
    began: Instant,
    /// The age of the file then; zero for a pipe.
    age: Duration,
}

impl LiveOwnerList {
    /// Reads the list. A pipe is read until it ends, the time limit runs out, or a signal comes.
    pub fn read(path: &Path, interrupt: &Interrupt, patience: Duration) -> Result<LiveOwnerList, CliError> {
        let source = Source::list("the live-owner list in", "--alive-from", path);
        let Input { text, began, age } = source.read(interrupt, patience)?;
        let live_owners = LiveOwners::parse(&text).map_err(|error| {
            let wrong = CliError::usage(format!("{} {error}", source.name()));
            match error {
                LiveOwnersError::Empty => wrong.hint(
                    "an empty list is more likely a command that failed than a fleet that died; if every worker is stopped, \
                     sweep with --restart --all-owners",
                ),
                LiveOwnersError::Titles => wrong.hint("write names alone, as in: kubectl get pods -o name"),
            }
        })?;
        Ok(LiveOwnerList { live_owners: Arc::new(live_owners), began, age })
    }

    /// The list with its instant by the database's clock: its age is subtracted from the snapshot's `now`.
    pub fn living(&self, snapshot: &Snapshot) -> Living {
        let made_at = snapshot.now().minus(self.began.elapsed()).minus(self.age);
        Living { live_owners: Arc::clone(&self.live_owners), made_at }
    }

    /// The warnings about the list: lines that name no owner, and a great age.
    pub fn warnings(&self) -> Vec<String> {
        let unread = self.live_owners.unread();
        let lines: Vec<String> = unread.iter().take(SHOWN).map(usize::to_string).collect();
        let more = if unread.len() > SHOWN { ", ..." } else { "" };
        let (total, lines) = (count(unread.len() as u64, "line", "lines"), lines.join(", "));
        let unread =
            (!unread.is_empty()).then(|| format!("{total} of the live-owner list name no owner: {lines}{more}"));
        let old = (self.age > OLD)
            .then(|| format!("the live-owner list is {} old: later claims are not judged by it", age(self.age)));
        unread.into_iter().chain(old).collect()
    }
}

/// A larger file is no plan: a step takes about 400 bytes.
const LARGEST: u64 = 1 << 30;

/// Only its user may read it, because preconditions hold lease tokens.
static PLAN: FileKind = FileKind {
    flag: "--save-plan",
    name: "plan",
    holds: "plans",
    mode: FileMode::PRIVATE,
    recognize: |text| text.contains(SavedPlan::SCHEMA),
};

/// Reads a plan. Whether it fits the queue is checked later.
pub(super) fn read_plan(path: &Path) -> Result<SavedPlan, CliError> {
    let name = plan_name(path);
    // Without waiting for the writer of a pipe.
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let is_missing = opened.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    let exit = if is_missing { Exit::NoInput } else { Exit::Config };
    let file = opened.with_context(|| format!("{name} cannot be read")).or_end(exit)?;
    let plan: SavedPlan = serde_json::from_reader(BufReader::new(file.take(LARGEST))).map_err(|error| {
        CliError::new(Exit::Config, format!("{name} is not a plan: {error}"))
            .hint("make one with `jobdoctor reclaim --save-plan FILE`")
    })?;
    if plan.schema != SavedPlan::SCHEMA {
        let message = format!("{name} is not a plan: its schema is `{}`, not `{}`", plan.schema, SavedPlan::SCHEMA);
        return Err(CliError::new(Exit::Config, message));
    }
    Ok(plan)
}

/// Writes a plan; it replaces only another plan.
pub(super) fn write_plan(path: &Path, plan: &SavedPlan) -> Result<(), CliError> {
    AtomicFile::at(path, &PLAN)?.write(|out| json(plan, out))
}

pub(super) fn plan_name(path: &Path) -> String {
    format!("plan {}", path.display())
}
