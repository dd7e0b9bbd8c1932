//! Spreads the times at which requeued jobs may run again.

use std::time::Duration;

/// The most slices of one batch: each is a statement of its own, and the batch's locks block the workers meanwhile.
const SLICES: usize = 50;

/// How much later than now requeued jobs may run: `delay`, plus a share of `jitter` for each job, so that they do not all
/// start at once.
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
    /// slices, and each slice gets an instant of its own part, so that no part stays empty however long the run is; `chance`
    /// picks it, from 0 to below 1. Empty without a delay or jitter.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const fn seconds(n: u64) -> Option<Duration> {
        Some(Duration::from_secs(n))
    }

    #[test]
    fn nothing_asked_is_no_wait_at_all() {
        assert!(Delay::default().waits(0, 10, 10, || 0.5).is_empty());
    }

    #[test]
    fn a_delay_alone_is_the_same_for_all() {
        let later = Delay { delay: seconds(30), jitter: None };
        assert_eq!(later.waits(0, 700, 700, || 0.99), vec![Duration::from_secs(30); 700]);
    }

    #[test]
    fn each_of_a_few_rows_has_an_instant_of_its_own_part_of_the_window() {
        let later = Delay { delay: seconds(10), jitter: seconds(100) };
        for chance in [0.0, 0.25, 0.999] {
            let waits = later.waits(0, 50, 50, || chance);
            for (n, wait) in waits.iter().enumerate() {
                let at = wait.as_secs_f64() - 10.0;
                let begin = n as f64 * 2.0;
                assert!(at >= begin - 1e-6 && at < begin + 2.0, "{n}: {at}");
            }
        }
    }

    #[test]
    fn a_batch_has_at_most_fifty_instants_and_they_never_go_back() {
        let later = Delay { delay: None, jitter: seconds(1000) };
        for count in [1, 49, 50, 51, 99, 499, 500, 501] {
            let waits = later.waits(0, count, count, || 0.5);
            let instants: BTreeSet<Duration> = waits.iter().copied().collect();
            assert_eq!(waits.len(), count);
            assert_eq!(instants.len(), count.min(50), "{count}");
            assert!(waits.is_sorted());
        }
    }

    /// The second batch goes on where the first one ended: one window for the whole run.
    #[test]
    fn the_whole_run_shares_one_window() {
        let later = Delay { delay: seconds(5), jitter: seconds(90) };
        let batches = [
            later.waits(0, 500, 1500, || 0.9),
            later.waits(500, 500, 1500, || 0.0),
            later.waits(1000, 500, 1500, || 1.0),
        ];
        let secs = |wait: Option<&Duration>| wait.map_or(0.0, |wait| wait.as_secs_f64() - 5.0);
        assert!(secs(batches[0].last()) < 30.0 && secs(batches[1].first()) >= 30.0 - 1e-6);
        assert!(secs(batches[1].last()) < 60.0 && secs(batches[2].first()) >= 60.0);
        assert!(secs(batches[2].last()) <= 90.0);
    }
}
