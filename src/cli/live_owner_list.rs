//! The list of living owners, as it comes from a file or through a pipe.

use super::error::CliError;
use super::exit::Exit;
use super::input::{Input, Source};
use crate::model::{Timestamp, age};
use crate::ops::Snapshot;
use crate::output::format::count;
use crate::policy::{LiveOwners, LiveOwnersError, Living};
use crate::store::Interrupt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Lines named in a warning.
const SHOWN: usize = 5;
/// A list older than this is mentioned.
const OLD: Duration = Duration::from_secs(600);

/// A list, and when it was made by the machine's own clock: the claims that count are those made before.
pub struct LiveOwnerList {
    live_owners: Arc<LiveOwners>,
    /// When reading it began.
    began: Instant,
    /// How old the file was then; nothing for a pipe.
    age: Duration,
}

impl LiveOwnerList {
    /// Reads it. A pipe is waited for until it ends, the time limit runs out, or a signal comes.
    ///
    /// # Errors
    /// When it cannot be read, is too long, no UTF-8, or empty: an empty pipe is far more likely a command that failed than a
    /// fleet that died.
    pub fn read(path: &Path, interrupt: &Interrupt, patience: Duration) -> Result<LiveOwnerList, CliError> {
        let source = Source { what: "the list of living owners", flag: "--alive-from", path };
        let Input { text, began, age } = source.read(interrupt, patience)?;
        let wrong = |exit: Exit, why: &str| CliError::new(exit, format!("{} {why}", source.name()));
        let live_owners = LiveOwners::parse(&text).map_err(|error| {
            let wrong = wrong(Exit::Usage, &error.to_string());
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

    /// The list as a snapshot may use it. Only the store's clock counts, so the time since it was made is taken off the snapshot's.
    pub fn living(&self, snapshot: &Snapshot) -> Living {
        Living { live_owners: Arc::clone(&self.live_owners), made_at: self.made_at(snapshot.now()) }
    }

    /// What to know about it: lines that name no owner, and its age.
    pub fn warnings(&self) -> Vec<String> {
        let unread = self.live_owners.unread();
        let lines: Vec<String> = unread.iter().take(SHOWN).map(usize::to_string).collect();
        let more = if unread.len() > SHOWN { ", ..." } else { "" };
        let unread = (!unread.is_empty()).then(|| {
            format!(
                "{} of the list of living owners name no owner: {}{more}",
                count(unread.len() as u64, "line", "lines"),
                lines.join(", ")
            )
        });
        let old = (self.age > OLD).then(|| {
            format!("the list of living owners is {} old: claims made since then are skipped by it", age(self.age))
        });
        unread.into_iter().chain(old).collect()
    }

    fn made_at(&self, now: Timestamp) -> Timestamp {
        now.minus(self.began.elapsed()).minus(self.age)
    }
}
