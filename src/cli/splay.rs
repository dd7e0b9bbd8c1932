//! `--splay`: a random wait before a run begins.

use super::error::CliError;
use super::exit::Exit;
use super::ui::Ui;
use crate::store::Interrupt;
use signal_hook::consts::SIGINT;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant};

/// How long it takes at most until a signal is seen.
const BLINK: Duration = Duration::from_millis(20);

/// Sleeps for a random part of that time.
///
/// # Errors
/// When a signal ends it.
pub fn sleep(longest: Duration, interrupt: &Interrupt, ui: &Ui) -> Result<(), CliError> {
    let span = part(longest, RandomState::new().build_hasher().finish());
    let words = humantime::format_duration(Duration::from_millis(u64::try_from(span.as_millis()).unwrap_or(u64::MAX)));
    if ui.is_watched() {
        ui.note(&format!("beginning in {words} (--splay)"));
    } else {
        ui.detail(&format!("beginning in {words} (--splay)"));
    }
    let until = Instant::now() + span;
    loop {
        if interrupt.is_raised() {
            // Which signal it was is known at the end.
            return Err(CliError::new(Exit::Signal(SIGINT), "interrupted; nothing was written"));
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(BLINK));
    }
}

/// The part of a time that a random number stands for: none for 0, all but a moment for the largest.
fn part(longest: Duration, random: u64) -> Duration {
    let nanos = (longest.as_nanos() * u128::from(random)) >> 64;
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_from_none_to_all() {
        let longest = Duration::from_secs(3600);
        assert_eq!(part(longest, 0), Duration::ZERO);
        assert_eq!(part(longest, 1 << 63), longest / 2);
        assert!(part(longest, u64::MAX) < longest && part(longest, u64::MAX) > longest.mul_f64(0.999));
    }
}
