//! The same as in every run, as often as a night allows. `fuzz/run` goes on where these end.

use super::damage::{Variety, flip_bits};
use super::generated::try_texts;
use super::rows::try_rows;
use crate::support::dice::fresh_seed;

#[test]
fn two_hundred_thousand_texts() {
    try_texts(200_000);
}

#[test]
fn two_hundred_thousand_rows() {
    try_rows(200_000);
}

/// Other bits every night.
#[test]
fn ten_thousand_flipped_bits() {
    let seed = fresh_seed();
    for variety in Variety::ALL {
        println!("seed {seed} in {variety:?}");
        flip_bits(variety, 10_000 / Variety::ALL.len(), seed);
    }
}
