//! Spreads the times at which requeued jobs may run again.

use std::time::Duration;

/// The most slices of one batch: each is a statement of its own, and the batch's locks block the workers meanwhile.
const SLICES: usize = 50;

/// How much later than now requeued jobs may run: `delay`, plus a share of `jitter` for each job, so that they do not
/// all start at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delay {
    /// For all jobs; up to 7 days.
    pub delay: Option<Duration>,
    /// The window over which they are spread; up to 7 days.
    pub jitter: Option<Duration>,
}

impl Delay {
    /// True if anything was asked for.
    pub fn is_asked(&self) -> bool {
        self.delay.is_some() || self.jitter.is_some()
    }

    /// How long each of `count` jobs waits: those from number `first` on, of `of` requeued jobs. The window is cut into
    /// slices, and each slice gets an instant of its own part, so that no part stays empty however long the run is;
    /// `chance` picks it, from 0 to below 1. Empty without a delay or jitter.
    pub fn waits(&self, first: usize, count: usize, of: usize, mut chance: impl FnMut() -> f64) -> Vec<Duration> {
        if !self.is_asked() {
            return Vec::new();
        }
        let (delay, jitter) = (self.delay.unwrap_or_default(), self.jitter.unwrap_or_default());
        let of = of.max(first + count).max(1) as f64;
        let slices = count.clamp(1, SLICES);
        let mut waits = Vec::with_capacity(count);
        for slice in 0..slices {
            // As even as whole rows allow: 51 rows are 49 slices of one and one of two.
            let (begin, end) = (slice * count / slices, (slice + 1) * count / slices);
            let at = (first + begin) as f64 + (end - begin) as f64 * chance().clamp(0.0, 1.0);
            waits.extend(std::iter::repeat_n(delay + jitter.mul_f64((at / of).clamp(0.0, 1.0)), end - begin));
        }
        waits
    }
}
