use std::time::Duration;

/// Slices of one batch: each is written by a statement of its own, and all the while the batch's locks stand in the workers'
/// way.
const SLICES: usize = 50;

/// How much later than now jobs that go back may run: all of them by `delay`, and each by a share of `jitter` beside, so that
/// they do not fall upon the workers at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delay {
    /// By so long for all; up to 7 days.
    pub delay: Option<Duration>,
    /// The window over which they are spread; up to 7 days.
    pub jitter: Option<Duration>,
}

impl Delay {
    /// True if anything was asked for.
    pub fn is_asked(&self) -> bool {
        self.delay.is_some() || self.jitter.is_some()
    }

    /// How long each of `count` jobs waits, which are the ones from `first` on of `of` jobs that go back. The window is cut
    /// into slices, and each slice waits until some instant of its own part of it, so that no part goes empty however long
    /// the run is; `chance` says where, from 0 to below 1. Empty where nothing was asked for.
    pub fn waits(&self, first: usize, count: usize, of: usize, mut chance: impl FnMut() -> f64) -> Vec<Duration> {
        if !self.is_asked() {
            return Vec::new();
        }
        let (delay, jitter) = (self.delay.unwrap_or_default(), self.jitter.unwrap_or_default());
        let of = of.max(first + count).max(1) as f64;
        let slices = count.clamp(1, SLICES);
        let mut waits = Vec::with_capacity(count);
        for slice in 0..slices {
            // As even as whole rows can be: 51 rows are 49 slices of one and one of two.
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
