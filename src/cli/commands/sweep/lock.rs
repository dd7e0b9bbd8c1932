//! The sweep lock: one sweep of a queue at a time, on this host and among hosts.

use super::Args;
use super::scope::Scope;
use crate::cli::commands::pass::PassCommand;
use crate::cli::monitor::Metrics;
use crate::cli::{CliError, Context, Exit, Settings};
use crate::history::{JournalError, LockFile, Locked};
use crate::model::{Outcome, age};
use crate::ops::{self, LockOptions, Mode, Reclaimed, Snapshot};
use crate::output::advice;
use crate::store::{Limits, StoreError, StoreErrorKind, too_soon};
use std::time::{Duration, Instant};

/// Whether and how a sweep acquires the lock.
pub(super) struct LockRequest {
    /// False for a dry run, and for a restart sweep of some owners, because workers must always start.
    is_wanted: bool,
    applies: bool,
    /// How long it may wait for another sweep.
    pub(super) wait: Duration,
    /// The least time since the last sweep.
    min_interval: Option<Duration>,
}

/// The acquired lock; dropping it releases the lock of this host.
#[derive(Default)]
pub(super) struct HeldLock {
    file: Option<Locked>,
    /// The lock among hosts, which each batch acquires in its transaction.
    pub(super) options: Option<LockOptions>,
}

impl LockRequest {
    pub(super) fn of(args: &Args, scope: &Scope, settings: &Settings) -> LockRequest {
        let (unattended, target) = (&args.unattended, &settings.target);
        let may_wait = !scope.is_of_some_owners();
        // A read-only target is refused later, with its own message.
        let applies = args.act.mode() == Mode::Apply;
        let is_wanted = applies && may_wait && !target.read_only;
        // The target's interval is meant for its regular sweeps, not for restarts.
        let min_interval = unattended.min_interval.or(target.min_interval.filter(|_| !args.restart));
        LockRequest {
            is_wanted,
            applies,
            wait: unattended.lock_wait.or(target.lock_wait).filter(|_| is_wanted).unwrap_or_default(),
            min_interval: min_interval.filter(|_| may_wait),
        }
    }

    /// Acquires the lock of this host and checks the minimum interval. After a wait the snapshot is a new one.
    pub(super) fn acquire(
        &self,
        pass: &PassCommand<'_>,
        mut snapshot: Snapshot,
        metrics: &mut Metrics,
    ) -> Result<(Snapshot, HeldLock), CliError> {
        let context = pass.context;
        // A standby is refused later, with its own message.
        let is_standby = snapshot.target.standby.is_some();
        if !self.is_wanted || is_standby {
            if let Some(min_interval) = self.min_interval.filter(|_| !self.applies && !is_standby)
                && let Some(error) = called_off(context, &mut snapshot, None, min_interval)?
            {
                context.ui.warn(&format!("with --apply this would end with 75: {}", error.message));
            }
            return Ok((snapshot, HeldLock::default()));
        }
        let until = Instant::now() + self.wait;
        let tried = lock_file(context, &mut snapshot)?.and_then(|file| file.try_lock().map_err(no_lock));
        let (mut snapshot, mut lock) = match tried {
            Ok(Ok(lock)) => (snapshot, Ok(lock)),
            Ok(Err(file)) => {
                let table = snapshot.target.table.clone();
                // A snapshot must not stay open during the wait.
                drop(snapshot);
                let lock = wait(file, &table, until, &pass.limits).inspect_err(|_| metrics.has_yielded = true)?;
                (pass.snapshot()?, lock)
            }
            Err(why) => (snapshot, Err(why)),
        };
        match lock.as_mut().map(|lock| lock.held_since(snapshot.now())) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => context
                .ui
                .detail(&format!("this sweep holds this host's lock, but could not record itself there: {error}")),
            Err(why) => context.ui.detail(&format!("going on without a lock on this host: {why}")),
        }
        if let Some(min_interval) = self.min_interval
            && let Some(error) = called_off(context, &mut snapshot, Some(&lock), min_interval)?
        {
            metrics.has_yielded = true;
            return Err(error.into());
        }
        let options = LockOptions { min_interval: self.min_interval, until };
        Ok((snapshot, HeldLock { file: lock.ok(), options: Some(options) }))
    }
}

impl HeldLock {
    /// Records the time of a sweep that moved jobs, for the minimum interval.
    pub(super) fn record_sweep(&mut self, context: &Context, done: &Reclaimed) {
        let moved = done.document.by_queue.keys().any(|(.., outcome)| *outcome == Outcome::Moved);
        let Some(file) = self.file.as_mut().filter(|_| moved) else { return };
        if let Err(error) = file.swept(done.document.head.store_time) {
            context.ui.detail(&format!(
                "the time of this sweep could not be recorded for the next one on this host: {error}"
            ));
        }
    }
}

/// The lock file, or why there is none.
fn lock_file(context: &Context, snapshot: &mut Snapshot) -> Result<Result<LockFile, String>, CliError> {
    let Some(directory) = context.environment.locks() else {
        return Ok(Err("neither JOBDOCTOR_STATE_DIR nor HOME is set".to_owned()));
    };
    // Command lines may name one database differently.
    let database = snapshot.reader.at().identity.clone().unwrap_or_else(|| snapshot.target.database.clone());
    Ok(LockFile::open(&directory, &[&snapshot.target.engine, &database, &snapshot.target.table]).map_err(no_lock))
}

fn no_lock(error: JournalError) -> String {
    match error {
        // The error's own text is about journals.
        JournalError::NotPrivate { path, why } => format!("{}: {why}", path.display()),
        other => other.to_string(),
    }
}

/// Waits for a lock that another sweep holds; the inner error is why this file system has no locks.
fn wait(mut file: LockFile, table: &str, until: Instant, limits: &Limits) -> Result<Result<Locked, String>, CliError> {
    let mut has_waited = false;
    loop {
        let left = until.min(limits.deadline).saturating_duration_since(Instant::now());
        if limits.interrupt.sleep(ops::pause().min(left)) {
            let why = "interrupted while waiting for another sweep";
            return Err(StoreError::new(StoreErrorKind::Interrupted, why).into());
        }
        if left.is_zero() {
            return Err(busy(&file, table, has_waited));
        }
        has_waited = true;
        file = match file.try_lock() {
            Ok(Ok(lock)) => return Ok(Ok(lock)),
            Ok(Err(file)) => file,
            Err(error) => return Ok(Err(no_lock(error))),
        };
    }
}

fn busy(file: &LockFile, table: &str, has_waited: bool) -> CliError {
    let note = file.note();
    let process = note.process.map(|process| format!("process {process}"));
    let since = note.since_at.map(|since| format!("since {since}"));
    let who = [process, since].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let who = if who.is_empty() { who } else { format!(" ({who})") };
    let message = format!("another sweep of {table} is running on this host{who}; nothing was written");
    CliError::new(Exit::TryAgain, message).hint(match has_waited {
        true => advice::WAITED,
        false => "it does the same work; run again later, or wait for it with --lock-wait 30s",
    })
}

/// The error of a sweep that comes too early, by the ledger of all hosts or by this host's lock; a dry run has none.
fn called_off(
    context: &Context,
    snapshot: &mut Snapshot,
    lock: Option<&Result<Locked, String>>,
    min_interval: Duration,
) -> Result<Option<StoreError>, CliError> {
    if let Some(error) = ops::ignored_ledger(snapshot).filter(|_| lock.is_some()) {
        return Err(error.into());
    }
    let Some(unusable) = ops::why_ledger_is_unusable(snapshot) else {
        return Ok(ops::called_off(snapshot, min_interval)?);
    };
    let remedy = match snapshot.jobs.queue.ledger {
        None => format!("`{}` creates one", context.on_same_queue(&["init", "--ledger"], &[])),
        Some(_) => format!("`{}` says what to fix", context.on_same_queue(&["check"], &[])),
    };
    if let Some(Err(why)) = lock {
        // A flag without effect is worth more than a warning about the setup.
        context.ui.warn(&format!(
            "--min-interval {} has no effect: {unusable}, and this host cannot record its sweeps: {why}; {remedy}, or set \
             JOBDOCTOR_STATE_DIR to a directory that only this user can write",
            age(min_interval)
        ));
        return Ok(None);
    }
    context.ui.warn_about_setup(&format!("--min-interval sees only the sweeps of this host: {unusable}; {remedy}"));
    let last = lock.and_then(|lock| lock.as_ref().ok()).and_then(|lock| lock.note().last_sweep_at);
    Ok(last.and_then(|last| too_soon(&snapshot.target.table, last, min_interval, snapshot.now())))
}
