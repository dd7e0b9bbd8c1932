//! Sweeps of one queue: one at a time on this host, and in turns with those of others.

use super::Reclaiming;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::record::locks;
use crate::journal::{JournalError, LockFile, Locked};
use crate::ops::{self, Look, OpsError, Reclaimed, Turns};
use crate::store::{Limits, StoreError, StoreErrorKind, held};
use std::time::{Duration, Instant};

/// What a run has taken; it lets go of it as it ends.
#[derive(Default)]
pub(super) struct Standing {
    lock: Option<Locked>,
    /// What its batches are asked.
    pub(super) turns: Option<Turns>,
}

impl Reclaiming<'_> {
    /// How long it may wait for others.
    pub(super) fn lock_wait(&self) -> Duration {
        let said = self.unattended.as_ref().filter(|_| self.takes_turns());
        said.and_then(|said| said.args.lock_wait.or(self.settings.target.lock_wait)).unwrap_or_default()
    }

    /// How long one sweep keeps the next one off. What the target says of that is not meant for restarts.
    fn hold(&self) -> Option<Duration> {
        let said = self.unattended.as_ref().filter(|said| said.takes_turns)?;
        said.args.hold.or(self.settings.target.hold.filter(|_| !said.is_restart))
    }

    fn takes_turns(&self) -> bool {
        // A target that is read-only is refused in its own words.
        self.act.apply
            && !self.settings.target.read_only
            && self.unattended.as_ref().is_some_and(|said| said.takes_turns)
    }

    /// Tells monitoring that all is well, although this run does nothing.
    fn stands_back(&self) {
        self.metrics.iter().for_each(|metrics| metrics.stands_back());
    }

    /// Takes this host's lock on the queue, for as long as what it gives back lives; and says whether another sweep was here
    /// too short a time ago. The look is a new one if the lock had to be waited for.
    ///
    /// # Errors
    /// When another sweep is at work, or was just now. Nothing was written then.
    pub(super) fn stand_in_line(
        &self,
        context: &Context,
        limits: &Limits,
        mut look: Look,
        look_again: &dyn Fn() -> Result<Look, OpsError>,
    ) -> Result<(Look, Standing), CliError> {
        if !self.takes_turns() {
            if let Some(hold) = self.hold().filter(|_| !self.act.apply)
                && let Some(error) = called_off(context, &mut look, None, hold)?
            {
                context.ui.warn(&format!("with --apply this would end with 75: {}", error.message));
            }
            return Ok((look, Standing::default()));
        }
        let until = Instant::now() + self.lock_wait();
        let tried = lock_file(context, &mut look)?.map(|file| file.and_then(LockFile::try_lock));
        let (mut look, mut lock) = match tried {
            None => (look, None),
            Some(Ok(Ok(lock))) => (look, Some(lock)),
            Some(Ok(Err(file))) => {
                let table = look.target.table.clone();
                // A snapshot must not stay open for so long.
                drop(look);
                let lock = wait(file, &table, until, limits).inspect_err(|_| self.stands_back())?;
                (look_again()?, lock)
            }
            Some(Err(error)) => {
                context.ui.detail(&format!("going on without a lock on this host: {error}"));
                (look, None)
            }
        };
        if let Some(Err(error)) = lock.as_mut().map(|lock| lock.held_since(look.now())) {
            context.ui.detail(&format!("the lock of this host is taken, but not signed: {error}"));
        }
        let hold = self.hold();
        if let Some(hold) = hold
            && let Some(error) = called_off(context, &mut look, lock.as_ref(), hold)?
        {
            self.stands_back();
            return Err(error.into());
        }
        Ok((look, Standing { lock, turns: Some(Turns { hold, until }) }))
    }
}

impl Standing {
    /// Takes down for the next run that this one has moved something.
    pub(super) fn ended(&mut self, context: &Context, done: &Reclaimed) {
        let moved = done.document.summary.outcomes.as_ref().is_some_and(|outcomes| outcomes.moved > 0);
        let Some(lock) = self.lock.as_mut().filter(|_| moved) else { return };
        if let Err(error) = lock.swept(done.document.store_time) {
            context.ui.detail(&format!("the next run on this host will not know of this one: {error}"));
        }
    }
}

/// The file of the lock, or why there is none; `None` where there is no place for it.
fn lock_file(context: &Context, look: &mut Look) -> Result<Option<Result<LockFile, JournalError>>, CliError> {
    let Some(directory) = locks(&context.environment) else {
        context.ui.detail("going on without a lock on this host: HOME is not set, and JOBDOCTOR_STATE_DIR neither");
        return Ok(None);
    };
    // What a database is called differs from one command line to the next.
    let database = look.reader.identity()?.unwrap_or_else(|| look.target.database.clone());
    Ok(Some(LockFile::open(&directory, &[&look.target.engine, &database, &look.target.table])))
}

/// Waits for a lock that somebody has. `None` if it cannot be had on this file system after all.
fn wait(mut file: LockFile, table: &str, until: Instant, limits: &Limits) -> Result<Option<Locked>, CliError> {
    loop {
        if limits.interrupt.is_raised() {
            return Err(
                StoreError::new(StoreErrorKind::Interrupted, "interrupted while waiting for another sweep").into()
            );
        }
        let left = until.min(limits.deadline).saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(busy(&file, table));
        }
        std::thread::sleep(ops::pause().min(left));
        file = match file.try_lock() {
            Ok(Ok(lock)) => return Ok(Some(lock)),
            Ok(Err(file)) => file,
            Err(_) => return Ok(None),
        };
    }
}

fn busy(file: &LockFile, table: &str) -> CliError {
    let note = file.note();
    let process = note.process.map(|process| format!("process {process}"));
    let since = note.since_at.map(|since| format!("since {since}"));
    let who = [process, since].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let who = if who.is_empty() { who } else { format!(" ({who})") };
    let message = format!("another sweep of {table} is at work on this host{who}; nothing was written");
    CliError::new(Exit::TryAgain, message)
        .hint("it does the same work; run again later, or let this one wait with --lock-wait 30s")
}

/// Why there is to be no sweep yet, if so: by the queue's ledger, which every host sees; else by this host's lock.
fn called_off(
    context: &Context,
    look: &mut Look,
    lock: Option<&Locked>,
    hold: Duration,
) -> Result<Option<StoreError>, CliError> {
    if ops::tells_of_sweeps(look) {
        return Ok(ops::called_off(look, hold)?);
    }
    let table = look.target.table.clone();
    context.ui.warn_about_setup(&format!(
        "--hold knows only of sweeps from this host: {table} has no ledger; `{}` makes one",
        context.on_same_queue(&["init", "--ledger"], &[])
    ));
    let last = match lock {
        Some(lock) => lock.note().last_sweep_at,
        // For a dry run, which takes no lock, and makes no file.
        None => None,
    };
    Ok(last.and_then(|last| held(&table, last, hold, look.now())))
}
