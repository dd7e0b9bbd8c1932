//! Decides when an owner that still counts as alive is late.

use std::time::Duration;

/// The share of its allowance, in percent, from which on a claim is late.
const LATE: u128 = 80;

/// True if a claim that was silent for `used` has used most of the silence that it is allowed.
pub(super) fn is_late(used: Duration, allowance: Duration) -> bool {
    used.as_nanos() * 100 >= allowance.as_nanos() * LATE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lease of 60 s, and both sides of the boundary.
    #[test]
    fn late_begins_at_four_fifths() {
        let is_late = |used, allowance| super::is_late(Duration::from_millis(used), Duration::from_millis(allowance));
        assert!(is_late(49_000, 60_000) && is_late(48_000, 60_000) && is_late(90_000, 60_000));
        assert!(!is_late(47_999, 60_000) && !is_late(0, 60_000));
        assert!(super::is_late(Duration::MAX, Duration::MAX), "the largest values do not overflow");
    }
}
