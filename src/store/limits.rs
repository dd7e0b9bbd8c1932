//! Time limits, the interrupt that ends work sooner, and the pauses that it ends.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

/// How soon a pause ends once the interrupt is raised.
const NOTICE: Duration = Duration::from_millis(20);

/// Gives a random number, with which copies of the program that collided keep from colliding again. It protects no
/// secret.
pub fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Gives a random number from 0 to below 1.
pub fn chance() -> f64 {
    (random() >> 11) as f64 / (1_u64 << 53) as f64
}

#[derive(Clone)]
pub struct Limits {
    /// When the command must have ended.
    pub deadline: Instant,
    pub connect: Duration,
    /// How long to wait for another session's lock on the database or a table. No row lock is waited for.
    pub lock: Duration,
    /// The connection's name, if the engine has one.
    pub application_name: String,
    /// True if a write follows: of several servers, the writable one is chosen.
    pub for_writing: bool,
    /// True for `check` and `history`, which judge no claim to act on it: they also read a file that has a second name.
    pub inspects: bool,
    pub interrupt: Interrupt,
}

impl Limits {
    /// The time left; zero after the deadline.
    pub fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// A copy with a deadline of its own and no interrupt, for resolving a commit and for cancelling a statement.
    pub(super) fn for_at_most(&self, time: Duration) -> Limits {
        Limits { deadline: Instant::now() + time, interrupt: Interrupt::default(), ..self.clone() }
    }
}

/// A flag that a signal raises. Readers give up at once; writers finish the current batch, unless a second signal asks
/// them to roll it back.
#[derive(Clone, Default)]
pub struct Interrupt {
    raised: Arc<AtomicBool>,
    rolls_back: Arc<AtomicBool>,
    /// Jobs in the batches in hand; several targets may be at work.
    in_hand: Arc<AtomicUsize>,
    /// Jobs that committed batches moved, and those whose commit was not answered.
    moved: Arc<AtomicUsize>,
    unknown: Arc<AtomicUsize>,
    has_begun: Arc<AtomicBool>,
    cancels: Arc<Mutex<Vec<Registered>>>,
}

type Cancel = Box<dyn Fn() + Send>;
/// A cancel callback, valid while its reader is alive.
type Registered = (Weak<()>, Cancel);

impl Interrupt {
    /// Raises the flag and cancels the running queries.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::SeqCst);
        if let Ok(cancels) = self.cancels.lock() {
            cancels.iter().filter(|(alive, _)| alive.strong_count() > 0).for_each(|(_, cancel)| cancel());
        }
    }

    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::SeqCst)
    }

    /// Sleeps for that time, or until the flag is raised; true if it is.
    pub fn sleep(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if self.is_raised() || left.is_zero() {
                return self.is_raised();
            }
            std::thread::sleep(left.min(NOTICE));
        }
    }

    /// Has writers roll the batch in hand back at once. False if no batch was ever begun, or if this was asked before.
    pub fn roll_back(&self) -> bool {
        self.has_begun.load(Ordering::SeqCst) && !self.rolls_back.swap(true, Ordering::SeqCst)
    }

    pub fn rolls_back(&self) -> bool {
        self.rolls_back.load(Ordering::SeqCst)
    }

    /// Counts a batch of so many jobs as in hand until the guard is dropped. Ask [`Interrupt::is_raised`] afterwards:
    /// then a signal finds the batch, or the batch the signal.
    pub fn begin_batch(&self, jobs: usize) -> BatchInHand {
        self.in_hand.fetch_add(jobs, Ordering::SeqCst);
        self.has_begun.store(true, Ordering::SeqCst);
        BatchInHand { interrupt: self.clone(), jobs }
    }

    /// Counts what became of the jobs of a batch in hand, for an end that has no report.
    pub fn end_batch(&self, moved: usize, unknown: usize) {
        self.moved.fetch_add(moved, Ordering::SeqCst);
        self.unknown.fetch_add(unknown, Ordering::SeqCst);
    }

    pub fn moved(&self) -> usize {
        self.moved.load(Ordering::SeqCst)
    }

    /// Jobs of which it is not known whether they were moved: those in hand included.
    pub fn unknown(&self) -> usize {
        self.unknown.load(Ordering::SeqCst) + self.in_hand()
    }

    pub fn in_hand(&self) -> usize {
        self.in_hand.load(Ordering::SeqCst)
    }

    /// Registers a reader's cancel callback, which is dropped after the reader that holds `alive`: some commands take
    /// many snapshots.
    pub(super) fn on_raise(&self, alive: &Arc<()>, cancel: Cancel) {
        if let Ok(mut cancels) = self.cancels.lock() {
            cancels.retain(|(alive, _)| alive.strong_count() > 0);
            cancels.push((Arc::downgrade(alive), cancel));
        }
    }
}

/// A batch that a writer executes, counted in [`Interrupt::in_hand`].
pub struct BatchInHand {
    interrupt: Interrupt,
    jobs: usize,
}

impl Drop for BatchInHand {
    fn drop(&mut self) {
        self.interrupt.in_hand.fetch_sub(self.jobs, Ordering::SeqCst);
    }
}
