//! Histories by the thousand. Half of the seeds are the same in every run, the others are new each time, and
//! `JOBDOCTOR_HISTORY_SEED` plays one again, in every store and in every detail.

use super::clocks::{self, Ground, Story};
use super::history::History;
use super::play::play;
use super::practice::Practice;
use super::queue::Queue;
use super::shrink::{breaks, shrink};
use super::world::{World, postgres, sqlite};
use crate::support::dice::fresh_seed;
use crate::support::figures;
use crate::support::labs::Journal;
use std::fmt::Write;

/// One kind of world.
pub type Make = fn(Queue) -> World;

/// One kind of store: what histories and what stories happen in.
#[derive(Clone, Copy)]
pub struct Place {
    world: Make,
    ground: fn() -> Ground,
}

pub const WAL: Place = Place { world: wal, ground: || clocks::sqlite(Journal::Wal) };
pub const ROLLBACK: Place = Place { world: rollback, ground: || clocks::sqlite(Journal::Rollback) };
pub const POSTGRES: Place = Place { world: postgres, ground: clocks::postgres };

/// See there.
pub fn wal(queue: Queue) -> World {
    sqlite(Journal::Wal, queue)
}

/// See there.
pub fn rollback(queue: Queue) -> World {
    sqlite(Journal::Rollback, queue)
}

/// Seeds that once broke a promise, or that show something which few others do.
pub fn regressions() -> Vec<u64> {
    let lines = include_str!("regressions").lines();
    let seeds = lines.filter_map(|line| line.split('#').next()).map(str::trim).filter(|seed| !seed.is_empty());
    seeds.map(|seed| seed.parse().expect("a seed")).collect()
}

/// So many seeds: half of them from 0 on, the others from where nobody has chosen.
pub fn seeds(count: u64) -> impl Iterator<Item = u64> {
    let base = fresh_seed();
    #[allow(clippy::print_stderr, reason = "so that what is found can be played again")]
    {
        eprintln!("histories of the seeds 0..{} and {base}..{}", count / 2, base + count - count / 2);
    }
    regressions().into_iter().chain(0..count / 2).chain(base..base + count - count / 2)
}

/// Plays the seeds in a place of that kind, some as stories and the others as histories; all of them must keep every promise.
/// Gives how many they were.
pub fn keep_their_promises(place: Place, seeds: impl Iterator<Item = u64>, told: impl Fn(u64)) -> u64 {
    let (mut worlds, mut ground) = (Queue::ALL.map(place.world), (place.ground)());
    let practices = worlds.each_ref().map(Practice::sound);
    let mut count = 0;
    for seed in seeds {
        if clocks::is_story(seed) {
            clocks::must_hold(&mut ground, &Story::of(seed));
        } else {
            let history = History::of(seed);
            let at = Queue::ALL.iter().position(|queue| *queue == history.queue).unwrap();
            must_keep(&mut worlds[at], &practices[at], &history);
        }
        count += 1;
        told(count);
    }
    count
}

/// Fails with the shortest history that breaks what this one breaks.
pub fn must_keep(world: &mut World, practice: &Practice, history: &History) {
    let broken = breaks(world, practice, history);
    if let Some(first) = broken.first() {
        let shortest = shrink(world, practice, history, first.promise);
        panic!("{}", told(world, practice, &shortest));
    }
}

/// A history with all that can be said of it.
fn told(world: &mut World, practice: &Practice, history: &History) -> String {
    let mut text = format!("{}: JOBDOCTOR_HISTORY_SEED={}\n{history}", world.name, history.seed);
    for broken in breaks(world, practice, history) {
        writeln!(text, "broke {}: {}", broken.promise, broken.how).unwrap();
    }
    let played = play(world, practice, history);
    for batch in &played.batches {
        let steps: Vec<String> = batch.steps.iter().map(|step| format!("{} {}", step.action, step.key)).collect();
        writeln!(
            text,
            "doctor {}: {steps:?} after {}: {:?}, {:?}",
            batch.doctor, batch.mark, batch.outcomes, batch.stop
        )
        .unwrap();
    }
    played.log.iter().for_each(|entry| writeln!(text, "{entry:?}").unwrap());
    text
}

/// A number that whoever runs the tests sets.
#[expect(clippy::disallowed_methods, reason = "it is between whoever runs the tests and this one")]
fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|number| number.parse().unwrap_or_else(|_| panic!("{variable} is a number")))
}

/// The seed that somebody wants to see, if there is one: then it alone is played.
fn wanted() -> Option<u64> {
    number("JOBDOCTOR_HISTORY_SEED")
}

fn run(place: Place, count: u64, figure: &str) {
    if wanted().is_none() {
        figures::add(keep_their_promises(place, seeds(count), |_| ()), figure);
    }
}

#[test]
fn on_sqlite_with_a_wal() {
    run(WAL, 4_000, "histories on SQLite");
}

#[test]
fn on_sqlite_with_a_rollback_journal() {
    run(ROLLBACK, 2_000, "histories on SQLite");
}

#[test]
fn on_postgres() {
    run(POSTGRES, number("JOBDOCTOR_HISTORIES").unwrap_or(1_000), "histories on Postgres");
}

#[test]
#[allow(clippy::print_stdout, reason = "it is what was asked for")]
fn the_seed_that_was_asked_for() {
    let Some(seed) = wanted() else { return };
    let history = History::of(seed);
    for place in [WAL, ROLLBACK, POSTGRES] {
        if clocks::is_story(seed) {
            clocks::must_hold(&mut (place.ground)(), &Story::of(seed));
            continue;
        }
        let mut world = (place.world)(history.queue);
        let practice = Practice::sound(&world);
        println!("{}", told(&mut world, &practice, &history));
        must_keep(&mut world, &practice, &history);
    }
}

#[test]
fn the_same_seed_is_the_same_history() {
    for seed in 0..20 {
        assert_eq!(History::of(seed).to_string(), History::of(seed).to_string());
    }
    let mut world = wal(Queue::Lease);
    let practice = Practice::sound(&world);
    let mut outcomes = || {
        let history = History::of(6);
        let played = play(&mut world, &practice, &history);
        let outcomes: Vec<_> = played.batches.iter().map(|batch| (batch.doctor, batch.outcomes.clone())).collect();
        let changed: Vec<_> = played.log.iter().map(|entry| (entry.seq, entry.row.clone())).collect();
        (outcomes, changed)
    };
    assert_eq!(outcomes(), outcomes());
}
