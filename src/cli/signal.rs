//! SIGINT and SIGTERM: the first ends the run after the batch in hand, a second one at once.

use crate::store::Interrupt;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

/// The signal that was caught, if one was.
#[derive(Debug, Clone, Default)]
pub struct Caught(Arc<AtomicI32>);

impl Caught {
    /// The signal.
    pub fn signal(&self) -> Option<i32> {
        match self.0.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(signal),
        }
    }
}

/// Begins to watch for signals.
pub fn watch(interrupt: Interrupt) -> Caught {
    let caught = Caught::default();
    let seen = caught.clone();
    // Without a watcher a signal ends the program at once, which is safe too: the database rolls the batch back.
    if let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) {
        std::thread::spawn(move || {
            for signal in signals.forever() {
                if seen.0.swap(signal, Ordering::SeqCst) != 0 {
                    die_of(signal);
                }
                interrupt.raise();
            }
        });
    }
    caught
}

/// Ends the process by that signal, so that whoever started it sees how it ended.
pub fn die_of(signal: i32) {
    // If it fails, the exit code says the same.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}
