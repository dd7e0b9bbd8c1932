//! Trying a batch again that got into another transaction's way.

use crate::store::{StoreError, StoreErrorKind};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

/// How often it is tried again.
const TRIES: u32 = 3;

/// The pause before the first of these; before each later one it is four times as long. A worker who goes through the rows of
/// a batch one by one, and moves each to another partition, is in the way of every try until he has gone by.
const PAUSE: Duration = Duration::from_millis(20);

/// What a batch has met so far.
#[derive(Default)]
pub(super) struct Conflicts {
    met: u32,
}

impl Conflicts {
    /// Whether the batch is to be tried again after that error: then it has waited already, with nothing open.
    pub(super) fn may_try_again(&mut self, error: &StoreError) -> bool {
        if error.kind != StoreErrorKind::Conflict || self.met == TRIES {
            return false;
        }
        std::thread::sleep(pause(self.met, RandomState::new().build_hasher().finish()));
        self.met += 1;
        true
    }
}

/// The pause after so many tries that were tries again, by a random number: from half to one and a half of the usual, so that
/// two who met once do not meet again.
fn pause(tries: u32, random: u64) -> Duration {
    let part = 0.5 + random as f64 / u64::MAX as f64;
    (PAUSE * 4_u32.saturating_pow(tries)).mul_f64(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn pauses_grow_and_differ() {
        let of = |tries| [0, u64::MAX / 2, u64::MAX].map(|random| pause(tries, random).as_millis());
        assert_eq!([of(0), of(1), of(2)], [[10, 20, 30], [40, 80, 120], [160, 320, 480]]);
    }

    #[test]
    fn only_conflicts_are_tried_again_and_not_at_once_and_not_for_ever() {
        let error = |kind| StoreError::new(kind, "no");
        let mut conflicts = Conflicts::default();
        assert!(!conflicts.may_try_again(&error(StoreErrorKind::Busy)));
        let begun = Instant::now();
        let tried = (0..10).take_while(|_| conflicts.may_try_again(&error(StoreErrorKind::Conflict))).count();
        assert_eq!(tried, 3);
        assert!(begun.elapsed() >= Duration::from_millis(10 + 40 + 160), "{:?}", begun.elapsed());
    }
}
