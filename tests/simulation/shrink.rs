//! Makes a history that breaks a promise as short as it can be: whatever can be left out while the same promise is still
//! broken is left out.

use super::check::{Broken, check};
use super::history::History;
use super::play::play;
use super::practice::Practice;
use super::world::World;

pub fn breaks(world: &mut World, practice: &Practice, history: &History) -> Vec<Broken> {
    let played = play(world, practice, history);
    check(world.queue, world.second, &played)
}

/// The shortest one found that still breaks that promise.
pub fn shrink(world: &mut World, practice: &Practice, history: &History, promise: &str) -> History {
    let mut still = |history: &History| breaks(world, practice, history).iter().any(|broken| broken.promise == promise);
    let mut shortest = history.clone();
    loop {
        let before = (shortest.deeds.len(), shortest.jobs.len());
        shorten(&mut shortest, &mut still, |history| &mut history.deeds);
        shorten(&mut shortest, &mut still, |history| &mut history.jobs);
        if (shortest.deeds.len(), shortest.jobs.len()) == before {
            return shortest;
        }
    }
}

/// Leaves out halves, quarters, and at last single ones.
fn shorten<T>(shortest: &mut History, still: &mut impl FnMut(&History) -> bool, part: fn(&mut History) -> &mut Vec<T>) {
    let mut size = part(shortest).len().div_ceil(2);
    while size > 0 {
        let mut from = 0;
        while from < part(shortest).len() {
            let mut without = shortest.clone();
            let items = part(&mut without);
            items.drain(from..(from + size).min(items.len()));
            if still(&without) {
                *shortest = without;
            } else {
                from += size;
            }
        }
        size /= 2;
    }
}
