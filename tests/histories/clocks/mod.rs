//! Proof that evidence is read as it was meant: stories of workers that claim, beat, die and restart within fractions of a
//! second, written by clocks that differ into columns of every unit and under keys of every type. A story knows who lives.
//! The program does not: it sees the rows, a live-owner list or a restart sweep, and must move no living worker's job and
//! find every dead one's. See [`mutants`] for the proof that a broken rule would be noticed.

mod ground;
mod mutants;
mod play;
mod shape;
mod story;

pub use ground::{Ground, postgres, sqlite};
pub use play::must_hold;
pub use story::Story;

/// Whether a seed is that of a story; the others are those of histories.
pub fn is_story(seed: u64) -> bool {
    seed.is_multiple_of(4)
}
