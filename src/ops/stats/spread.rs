//! Percentiles of run times in little memory.

use std::collections::BTreeMap;
use std::time::Duration;

/// The distribution of run times: each counts in a bucket that is 2 % wide, so a percentile is exact to 1 %. The
/// longest is exact.
#[derive(Debug, Clone, Default)]
pub struct Spread {
    fine: BTreeMap<u32, u64>,
    /// One more than [`EDGES`], for what is beyond the last.
    coarse: [u64; EDGES.len() + 1],
    count: u64,
    longest: Duration,
}

/// The upper edges of the buckets that documents show, in seconds.
pub const EDGES: [f64; 17] =
    [0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 21_600.0, 86_400.0];

/// How much larger each bucket is than the one before it.
const GROWTH: f64 = 1.02;

impl Spread {
    pub fn add(&mut self, run: Duration) {
        *self.fine.entry(bucket(run)).or_default() += 1;
        let seconds = run.as_secs_f64();
        let edge = EDGES.iter().position(|edge| seconds <= *edge).unwrap_or(EDGES.len());
        if let Some(count) = self.coarse.get_mut(edge) {
            *count += 1;
        }
        self.count += 1;
        self.longest = self.longest.max(run);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// The longest; `None` without runs.
    pub fn longest(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.longest)
    }

    /// The run time that `of_hundred` percent did not exceed (nearest rank); `None` without runs.
    pub fn percentile(&self, of_hundred: u64) -> Option<Duration> {
        let rank = self.count.saturating_mul(of_hundred).div_ceil(100).max(1);
        if rank >= self.count {
            return self.longest();
        }
        let mut seen = 0;
        for (bucket, count) in &self.fine {
            seen += count;
            if seen >= rank {
                return Some(middle(*bucket).min(self.longest));
            }
        }
        None
    }

    /// Counts by upper edge in seconds; the last has none.
    pub fn buckets(&self) -> impl Iterator<Item = (Option<f64>, u64)> {
        let edges = EDGES.iter().copied().map(Some).chain([None]);
        edges.zip(self.coarse)
    }
}

/// Microseconds up to one share the first bucket.
fn bucket(run: Duration) -> u32 {
    let micros = run.as_micros() as f64;
    if micros < 1.0 { 0 } else { (micros.ln() / GROWTH.ln()).floor() as u32 + 1 }
}

/// The time in the middle of a bucket, by ratio.
fn middle(bucket: u32) -> Duration {
    match bucket.checked_sub(1) {
        None => Duration::ZERO,
        Some(n) => Duration::try_from_secs_f64(GROWTH.powf(f64::from(n) + 0.5) / 1e6).unwrap_or(Duration::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn of_none_nothing_is_known() {
        let spread = Spread::default();
        assert_eq!((spread.percentile(50), spread.longest(), spread.count()), (None, None, 0));
        assert!(spread.buckets().all(|(_, count)| count == 0));
    }

    #[test]
    fn buckets_have_their_edges_inside() {
        let mut spread = Spread::default();
        [0, 1_000, 1_001, 60_000, 86_400_001].into_iter().map(Duration::from_millis).for_each(|run| spread.add(run));
        let filled: Vec<_> = spread.buckets().filter(|(_, count)| *count > 0).collect();
        let expected = [(Some(0.01), 1), (Some(1.0), 1), (Some(2.0), 1), (Some(60.0), 1), (None, 1)];
        assert_eq!(filled, expected);
        assert_eq!(spread.percentile(20), Some(Duration::ZERO));
        assert_eq!(spread.percentile(100), Some(Duration::from_millis(86_400_001)));
    }

    proptest! {
        #[test]
        fn percentiles_are_exact_to_one_percent(
            micros in proptest::collection::vec(prop_oneof![0_u64..5, 0..5_000_000_u64, 0..300_000_000_000_000_u64], 1..400),
            of_hundred in 1_u64..=100,
        ) {
            let mut spread = Spread::default();
            micros.iter().for_each(|micros| spread.add(Duration::from_micros(*micros)));
            let mut sorted = micros;
            sorted.sort_unstable();
            let rank = (sorted.len() as u64 * of_hundred).div_ceil(100).max(1) as usize;
            let (exact, told) = (sorted[rank - 1] as f64, spread.percentile(of_hundred).unwrap().as_secs_f64() * 1e6);
            // Tolerance: 1 %, or 1 us for shorter times.
            prop_assert!((told - exact).abs() <= exact * 0.01 + 1.0, "{told} for {exact}");
            prop_assert_eq!(spread.longest(), sorted.last().map(|micros| Duration::from_micros(*micros)));
            prop_assert_eq!(spread.buckets().map(|(_, count)| count).sum::<u64>(), sorted.len() as u64);
        }
    }
}
