//! The command lines that go on from a plan or a run.

use crate::cli::context::Context;
use crate::cli::next_command::shell_word;
use crate::ops::PlanSource;
use crate::output::{NextCommands, Reclaim};
use crate::policy::Digest;
use std::path::Path;

/// Options that say which jobs, and what is done to them: a saved plan has all of that in it.
const SELECTING: [&str; 12] =
    ["from-file", "host", "id", "kind", "limit", "older", "owner", "queue", "rule", "save-plan", "state", "to"];

/// The next commands after this one.
pub(in crate::cli::commands) struct Next<'a> {
    pub(in crate::cli::commands) context: &'a Context,
    /// The command.
    pub(in crate::cli::commands) name: &'static str,
    /// What the plan is about.
    pub(in crate::cli::commands) asked: &'a PlanSource,
    /// Where it was saved.
    pub(in crate::cli::commands) save_plan: Option<&'a Path>,
}

impl NextCommands for Next<'_> {
    fn override_brake(&self, flag: &str) -> String {
        self.context.next_command(self.name, &["--apply", flag])
    }

    fn apply_exactly(&self, document: &Reclaim) -> String {
        match (self.save_plan, self.asked) {
            (Some(path), _) => {
                let path = shell_word(&path.display().to_string());
                self.context.next_command_without(self.name, &SELECTING, &["--plan", &path, "--apply"])
            }
            (None, PlanSource::Saved(..)) => self.context.next_command(self.name, &["--apply"]),
            (None, PlanSource::Selection(_)) => {
                let digest = document.digest.get(..Digest::SHORT).unwrap_or(&document.digest);
                self.context.next_command(self.name, &["--expect", digest, "--apply"])
            }
        }
    }

    fn explain(&self) -> String {
        self.context.next_command(self.name, &[])
    }

    fn history(&self, run_id: &str) -> String {
        self.context.on_same_queue(&["history", run_id], &[])
    }

    fn undo(&self, run_id: &str) -> String {
        self.context.on_same_queue(&["undo", run_id], &[])
    }
}
