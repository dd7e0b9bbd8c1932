//! SQLite files that were damaged, in every way that disks and copies have: the program never panics, says so or tells what
//! SQLite itself reads in them, changes nothing while it looks, and moves no claim that SQLite reads as alive.

mod doctored;
mod oracle;
mod pristine;
mod trial;

pub use pristine::Variety;

use super::TRIED;
use crate::support::dice::Dice;
use crate::support::figures;
use doctored::{flipped, headers, journals, pages, truncated};
use trial::{Trial, through_the_program};

/// Flips bits of a file, one or a few at a time, so many times.
pub fn flip_bits(variety: Variety, times: usize, seed: u64) {
    let (whole, mut dice) = (variety.files(), Dice::of(seed));
    for n in 0..times {
        let name = format!("{variety:?}, seed {seed}, flip {n}");
        Trial::of(&name, variety, flipped(&whole, &mut dice)).holds();
    }
    figures::add(times as u64, TRIED);
}

/// The same bits each time.
const SEED: u64 = 20_261_121;

#[test]
fn bits_that_flipped() {
    for variety in Variety::ALL {
        flip_bits(variety, 200 / Variety::ALL.len(), SEED);
    }
}

/// So many of a list, from all over it.
fn some(damaged: Vec<(String, pristine::Files)>, most: usize) -> Vec<(String, pristine::Files)> {
    let step = damaged.len().div_ceil(most).max(1);
    damaged.into_iter().step_by(step).collect()
}

fn each(variety: Variety, damaged: Vec<(String, pristine::Files)>) {
    // The rest is for the night, which flips more bits than there are pages.
    let damaged = some(damaged, 20);
    let tried = damaged.len() as u64;
    for (name, files) in damaged {
        Trial::of(&format!("{variety:?}, {name}"), variety, files).holds();
    }
    figures::add(tried, TRIED);
}

#[test]
fn files_that_were_cut_off() {
    for variety in Variety::ALL {
        each(variety, truncated(&variety.files()));
    }
}

#[test]
fn headers_of_garbage() {
    for variety in Variety::ALL {
        each(variety, headers(&variety.files(), &mut Dice::of(SEED)));
    }
}

#[test]
fn pages_of_noughts() {
    for variety in Variety::ALL {
        each(variety, pages(&variety.files()));
    }
}

#[test]
fn logs_and_journals_of_garbage() {
    each(Variety::Table, journals(&Variety::Table.files(), &mut Dice::of(SEED)));
    each(Variety::Log, journals(&Variety::Log.files(), &mut Dice::of(SEED)));
    each(Variety::Hot, journals(&Variety::Hot.files(), &mut Dice::of(SEED)));
}

/// Some of all this again, as an operator would meet it.
#[test]
fn by_the_program() {
    let mut tried = 0;
    for variety in Variety::ALL {
        let (whole, mut dice) = (variety.files(), Dice::of(SEED + 1));
        let mut damaged: Vec<_> = (0..4).map(|n| (format!("flip {n}"), flipped(&whole, &mut dice))).collect();
        damaged.extend(some(truncated(&whole), 4));
        damaged.extend(some(pages(&whole), 4));
        damaged.extend(journals(&whole, &mut dice).into_iter().take(2));
        for (name, files) in &damaged {
            through_the_program(&format!("{variety:?}, {name}"), variety, files);
            tried += 1;
        }
    }
    figures::add(tried, TRIED);
}

/// What these tests rest on: of the whole file the oracle and the program say the same, and the program finds the dead.
#[test]
fn of_a_whole_file_everything_is_told() {
    for variety in Variety::ALL {
        let name = format!("{variety:?}, whole");
        let trial = Trial::of(&name, variety, variety.files());
        let (found, _) = trial.holds();
        match variety {
            Variety::Hot => assert_eq!(found, None, "a hot journal is not for looking past"),
            _ => assert_eq!(found, Some(pristine::DEAD), "{variety:?}"),
        }
    }
}

/// A program that takes what it cannot read for nothing, or that judges by a lease of yesterday, must be caught.
#[test]
fn catches_a_program_that_sees_nothing_and_one_that_moves_the_living() {
    let variety = Variety::Table;
    let trial = Trial::of("mutant", variety, variety.files());
    let told = trial.look().expect("it is whole");
    let sees_nothing = trial::Told { in_flight: told.in_flight, ..trial::Told::default() };
    let mut moves_the_living = told.clone();
    moves_the_living.stuck.insert(pristine::FIRST_LIVE.to_string());
    for (mutant, is_caught) in [(&sees_nothing, true), (&moves_the_living, true), (&told, false)] {
        let said = std::panic::catch_unwind(|| trial.compare(mutant));
        assert_eq!(said.is_err(), is_caught);
    }
    // And one that goes on where SQLite cannot.
    let cut = pristine::Files { main: variety.files().main[..2048].to_vec(), ..pristine::Files::default() };
    let trial = Trial::of("mutant of a cut file", variety, cut);
    assert!(std::panic::catch_unwind(|| trial.compare(&sees_nothing)).is_err());
    figures::add(3, "mutants caught");
}
