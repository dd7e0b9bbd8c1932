//! How long things may take, and what ends them sooner.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

/// Bounds on what one command may take.
#[derive(Debug, Clone)]
pub struct Limits {
    /// When everything must have ended.
    pub deadline: Instant,
    /// How long connecting may take.
    pub connect: Duration,
    /// How long to wait for another session's lock on the database or a table. Row locks are never waited for.
    pub lock: Duration,
    /// What the connection calls itself, where the engine shows it.
    pub application_name: String,
    /// True if what is looked at is going to be written: of several servers, one that takes writes is meant.
    pub for_writing: bool,
    /// Set by a signal: end soon.
    pub interrupt: Interrupt,
}

impl Limits {
    /// What is left of the time limit; zero once it has passed.
    pub fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// The same for so long from now and no longer, whatever the operator has said: for finding out what became of a commit,
    /// and for ending a statement.
    pub(super) fn for_at_most(&self, time: Duration) -> Limits {
        Limits { deadline: Instant::now() + time, interrupt: Interrupt::default(), ..self.clone() }
    }
}

/// A flag that a signal raises. Readers give up at once when they see it; writers finish the batch in hand.
#[derive(Clone, Default)]
pub struct Interrupt {
    raised: Arc<AtomicBool>,
    cancels: Arc<Mutex<Vec<Registered>>>,
}

/// What ends a query that is under way.
type Cancel = Box<dyn Fn() + Send>;
/// The same while the reader whose it is is there.
type Registered = (Weak<()>, Cancel);

impl Interrupt {
    /// Raises it, and ends the queries under way.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::SeqCst);
        if let Ok(cancels) = self.cancels.lock() {
            cancels.iter().filter(|(of, _)| of.strong_count() > 0).for_each(|(_, cancel)| cancel());
        }
    }

    /// Whether it was raised.
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::SeqCst)
    }

    /// Registers what ends a query, for readers; forgotten once the reader that holds `of` is gone, because some commands look
    /// again and again.
    pub(super) fn on_raise(&self, of: &Arc<()>, cancel: Cancel) {
        if let Ok(mut cancels) = self.cancels.lock() {
            cancels.retain(|(of, _)| of.strong_count() > 0);
            cancels.push((Arc::downgrade(of), cancel));
        }
    }
}

impl std::fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interrupt").field("raised", &self.is_raised()).finish_non_exhaustive()
    }
}
