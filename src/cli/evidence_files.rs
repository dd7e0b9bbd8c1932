//! What is known beside the rows: a list of living owners, and a saved snapshot.

use super::args::EvidenceArgs;
use super::context::Context;
use super::error::CliError;
use super::exit::Exit;
use super::live_owner_list::LiveOwnerList;
use super::settings::Settings;
use crate::ops::{self, Snapshot, SnapshotFile};
use crate::policy::Policy;
use crate::preset::{Liveness, QueueSpec};
use std::sync::Arc;
use std::time::Duration;

/// See the module.
pub struct EvidenceFiles {
    /// The list.
    pub list: Option<LiveOwnerList>,
    snapshot_file: Option<SnapshotFile>,
}

impl EvidenceFiles {
    /// Reads both, ahead of the database: what is wrong with them is said before anything is looked at.
    ///
    /// # Errors
    /// When one of them cannot be used.
    pub fn read(
        args: &EvidenceArgs,
        settings: &Settings,
        context: &Context,
        time: Duration,
    ) -> Result<EvidenceFiles, CliError> {
        let snapshot_file = args.snapshot_file.as_deref().map(SnapshotFile::read).transpose()?;
        let patience = settings.stated_timeout().unwrap_or(time);
        let list = args
            .alive_from
            .as_deref()
            .map(|path| LiveOwnerList::read(path, &context.interrupt, patience))
            .transpose()?;
        for warning in list.iter().flat_map(LiveOwnerList::warnings) {
            context.ui.warn_about_setup(&warning);
        }
        Ok(EvidenceFiles { list, snapshot_file })
    }

    /// Adds them to a policy, saves this snapshot, and says why the list may be the wrong one. `speaks` is false where nothing is
    /// to be said that is no trouble.
    ///
    /// # Errors
    /// When the store cannot be read, or the snapshot cannot be compared or saved.
    pub fn judge(
        &self,
        snapshot: &mut Snapshot,
        policy: Policy,
        context: &Context,
        speaks: bool,
    ) -> Result<(Policy, Option<String>), CliError> {
        if self.list.is_none() && self.snapshot_file.is_none() {
            return Ok((policy, None));
        }
        let living = self.list.as_ref().filter(|_| policy.restart.is_none()).map(|list| list.living(snapshot));
        let policy = Policy { living, ..policy };
        let survey = ops::survey(snapshot, policy.list(), self.snapshot_file.as_ref())?;
        if let (Some(file), Some(now)) = (&self.snapshot_file, &survey.now) {
            file.save(snapshot, now)?;
            if file.is_first() && speaks {
                let path = file.path().display();
                context.ui.note(&format!("saved a first snapshot in {path}; the next run compares with it"));
            }
            if !changes_with_life(&snapshot.spec) {
                context.ui.warn_about_setup(&format!(
                    "jobs of preset {} show nothing that changes while they run, so a snapshot file proves nothing: name columns \
                     that do, with `progress` in a mapping",
                    snapshot.spec.preset
                ));
            }
        }
        Ok((Policy { looks: survey.before.map(Arc::new), ..policy }, survey.wrong_list))
    }
}

impl EvidenceFiles {
    /// Refuses to act on `--rule no_progress` where it could never fire.
    ///
    /// # Errors
    /// When there is no second snapshot to compare with, or nothing that shows progress.
    pub fn can_show_progress(&self, snapshot: &Snapshot) -> Result<(), CliError> {
        if self.snapshot_file.is_none() {
            return Err(CliError::new(Exit::Usage, "--rule no_progress needs two snapshots to compare")
                .hint("add --snapshot-file FILE, the same in each run"));
        }
        if snapshot.spec.claim.progress.is_empty() {
            let preset = &snapshot.spec.preset;
            let message = format!("--rule no_progress: preset {preset} names no columns that show progress");
            return Err(
                CliError::new(Exit::Usage, message).hint("name them with `progress` in the [claim] of a mapping")
            );
        }
        Ok(())
    }
}

/// Whether anything in the queue's tables changes while a job is worked on.
fn changes_with_life(spec: &QueueSpec) -> bool {
    let beats = |source: &Liveness| matches!(source, Liveness::Heartbeat { .. } | Liveness::Owner { .. });
    !spec.claim.progress.is_empty() || spec.liveness.iter().any(beats)
}
