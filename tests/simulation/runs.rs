//! Histories from a seed that each run prints and that no two runs share.

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
use std::ops::Range;
use std::sync::LazyLock;

pub type Make = fn(Queue) -> World;

pub fn wal(queue: Queue) -> World {
    sqlite(Journal::Wal, queue)
}

pub fn rollback(queue: Queue) -> World {
    sqlite(Journal::Rollback, queue)
}

/// Names the variable and the command that begin a run with that history.
fn command(seed: u64) -> String {
    format!("JOBDOCTOR_HISTORY_SEED={seed} cargo test --test tests -- simulation::runs")
}

/// So many seeds from the first one of this run on: a fresh one, or that of JOBDOCTOR_HISTORY_SEED.
pub fn seeds(count: u64) -> Range<u64> {
    static FIRST: LazyLock<u64> = LazyLock::new(|| {
        #[expect(clippy::disallowed_methods, reason = "it is between whoever runs the tests and this one")]
        let wanted = std::env::var("JOBDOCTOR_HISTORY_SEED").ok();
        let seed = wanted.map_or_else(fresh_seed, |seed| seed.parse().expect("JOBDOCTOR_HISTORY_SEED is a number"));
        // Past the harness, which keeps to itself what a test that passes prints.
        std::io::Write::write_all(&mut std::io::stderr(), format!("histories: {}\n", command(seed)).as_bytes())
            .expect("stderr");
        seed
    });
    *FIRST..*FIRST + count
}

/// Plays the seeds in worlds of that kind: all must keep every promise. Gives how many they were.
pub fn keep_their_promises(make: Make, seeds: Range<u64>) -> u64 {
    let mut worlds = Queue::ALL.map(make);
    let practices = worlds.each_ref().map(Practice::sound);
    let count = seeds.end - seeds.start;
    for history in seeds.map(History::of) {
        let at = Queue::ALL.iter().position(|queue| *queue == history.queue).unwrap();
        must_keep(&mut worlds[at], &practices[at], &history);
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
    let mut text = format!("{}: {}\n{history}", world.name, command(history.seed));
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

fn run(make: Make, count: u64, figure: &str) {
    figures::add(keep_their_promises(make, seeds(count)), figure);
}

#[test]
fn on_sqlite_with_a_wal() {
    run(wal, 200, "histories on SQLite");
}

#[test]
fn on_sqlite_with_a_rollback_journal() {
    run(rollback, 100, "histories on SQLite");
}

#[test]
fn on_postgres() {
    run(postgres, 200, "histories on Postgres");
}

#[test]
fn the_same_seed_is_the_same_history() {
    let mut world = wal(Queue::Lease);
    let practice = Practice::sound(&world);
    let mut outcomes = || {
        let played = play(&mut world, &practice, &History::of(6));
        let outcomes: Vec<_> = played.batches.iter().map(|batch| (batch.doctor, batch.outcomes.clone())).collect();
        let changed: Vec<_> = played.log.iter().map(|entry| (entry.seq, entry.row.clone())).collect();
        (outcomes, changed)
    };
    assert_eq!(outcomes(), outcomes());
}
