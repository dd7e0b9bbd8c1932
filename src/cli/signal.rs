//! SIGINT and SIGTERM: the first ends the run after its batch, the second rolls the batch back, a third kills.

use super::{CliError, Exit};
use crate::output::format::count;
use crate::store::Interrupt;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

/// The signal that was caught, if one was.
#[derive(Debug, Clone, Default)]
pub struct Caught(Arc<AtomicI32>);

impl Caught {
    pub fn signal(&self) -> Option<i32> {
        Some(self.0.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
    }
}

/// Begins to watch for signals. A batch in hand delays the end: `report` gets the signal and the number of its jobs.
pub fn watch(interrupt: Interrupt, report: impl Fn(i32, usize) + Clone + Send + 'static) -> Caught {
    let caught = Caught::default();
    let seen = caught.clone();
    // Without a watcher a signal ends the program at once, which is safe too: the database rolls the batch back.
    if let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) {
        std::thread::spawn(move || {
            for signal in signals.forever() {
                if seen.0.swap(signal, Ordering::SeqCst) != 0 {
                    if !interrupt.roll_back() {
                        die_of(signal);
                    }
                    continue;
                }
                interrupt.raise();
                let jobs = interrupt.in_hand();
                if jobs > 0 {
                    let report = report.clone();
                    // A stderr that takes nothing must not keep the next signal waiting.
                    std::thread::spawn(move || report(signal, jobs));
                }
            }
        });
    }
    caught
}

/// Ends the process by that signal, so that its parent sees how it ended.
pub fn die_of(signal: i32) {
    // If it fails, the exit code says the same.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}

/// What a signal does to a batch of so many jobs, and what another one would do.
pub fn batch_in_hand(signal: i32, jobs: usize) -> String {
    let again = if signal == SIGINT { "press Ctrl-C again" } else { "send SIGTERM again" };
    format!("finishing the batch in hand ({}); {again} to roll it back", count(jobs as u64, "job", "jobs"))
}

/// Sleeps before anything is written.
pub fn sleep(span: Duration, interrupt: &Interrupt) -> Result<(), CliError> {
    match interrupt.sleep(span) {
        // The program ends by the signal that was caught, whichever it was.
        true => Err(CliError::new(Exit::Signal(SIGINT), "interrupted; nothing was written")),
        false => Ok(()),
    }
}
