//! Mutants of the rules of evidence: each is the program, told or shown something that only a broken rule would make of the
//! truth. Some story must catch each of them, and soon.

use super::ground::{Ground, postgres, sqlite};
use super::is_story;
use super::play::{ALIVE, Broken, DOUBLE, Habit, LOST_ID, MISSED, breaks, must_hold, shrink};
use super::story::{Kind, Story};
use crate::support::dice::one_in;
use crate::support::figures;
use crate::support::labs::Journal;
use jobdoctor::model::{Claim, Key, OwnerRow, Reading, Timestamp};
use jobdoctor::policy::{Policy, RestartScope};
use jobdoctor::preset::{Column, Liveness, QueueSpec};
use std::time::Duration;

/// Within so many stories of its kind a mutant must be caught.
const STORIES: usize = 500;

struct Mutant {
    name: &'static str,
    /// In what kind of story the rule matters.
    kind: Kind,
    /// The promise that it breaks.
    breaks: &'static str,
    habit: Habit,
}

fn mutant(name: &'static str, kind: Kind, breaks: &'static str, make: fn(&mut Habit)) -> Mutant {
    let mut habit = Habit::sound();
    make(&mut habit);
    Mutant { name, kind, breaks, habit }
}

/// A rule that counts what is earlier by less than so much as earlier is the sound one with a later bound.
fn later(at: &mut Timestamp, seconds: u64) {
    *at = at.plus(Duration::from_secs(seconds));
}

fn list_is_later(policy: &mut Policy, seconds: u64) {
    if let Some(living) = &mut policy.living {
        later(&mut living.made_at, seconds);
    }
}

fn sweep_is_later(policy: &mut Policy, seconds: u64) {
    if let Some(restart) = &mut policy.restart {
        later(&mut restart.began, seconds);
        restart.before.iter_mut().for_each(|before| later(before, seconds));
        if let RestartScope::NotListed(living) = &mut restart.scope {
            later(&mut living.made_at, seconds);
        }
    }
}

fn start_is_later(claim: &mut Claim, seconds: u64) {
    if let OwnerRow::Present { started: Reading::At(started), .. } = &mut claim.owner_row {
        later(started, seconds);
    }
}

/// Without the signs of life on the claim's own row, as if they did not count.
fn hide_own_row(spec: &QueueSpec, claim: &mut Claim) {
    let own =
        spec.liveness.iter().zip(&mut claim.signs).filter(|(source, _)| !matches!(source, Liveness::Owner { .. }));
    own.for_each(|(_, sign)| sign.at = Reading::Absent);
}

fn mutants() -> Vec<Mutant> {
    vec![
        mutant("drops the unit of a list", Kind::List, ALIVE, |habit| habit.policy = |policy| list_is_later(policy, 1)),
        mutant("drops the tolerance of a list", Kind::List, ALIVE, |habit| {
            habit.policy = |policy| list_is_later(policy, 60);
        }),
        mutant("compares a list to the microsecond", Kind::List, ALIVE, |habit| {
            habit.policy = |policy| list_is_later(policy, 61);
        }),
        mutant("reads the first word of each line", Kind::NotListed, ALIVE, |habit| {
            habit.list = |list| {
                let first = |line: &str| line.split([' ', '\t', ',']).next().unwrap_or_default().to_owned() + "\n";
                list.lines().map(first).collect()
            };
        }),
        mutant("lets a list outrank a running lease", Kind::List, ALIVE, |habit| habit.claim = hide_own_row),
        mutant("lets a restart outrank a running lease", Kind::Plain, ALIVE, |habit| habit.claim = hide_own_row),
        mutant("drops the tolerance of a start", Kind::Plain, ALIVE, |habit| {
            habit.claim = |_, claim| start_is_later(claim, 60);
        }),
        mutant("compares a start to the microsecond", Kind::Plain, ALIVE, |habit| {
            habit.claim = |_, claim| start_is_later(claim, 61);
        }),
        mutant("never asks when an owner started", Kind::Plain, MISSED, |habit| {
            habit.claim = |_, claim| {
                if let OwnerRow::Present { started, .. } = &mut claim.owner_row {
                    *started = Reading::Absent;
                }
            };
        }),
        mutant("drops the unit of a sweep of named owners", Kind::Named, ALIVE, |habit| {
            habit.policy = |policy| sweep_is_later(policy, 1);
        }),
        mutant("drops the unit of a sweep of all owners", Kind::All, ALIVE, |habit| {
            habit.policy = |policy| sweep_is_later(policy, 1);
        }),
        mutant("drops the unit of a deployment", Kind::Before, ALIVE, |habit| {
            habit.policy = |policy| sweep_is_later(policy, 1);
        }),
        mutant("takes NULL for an early claim time", Kind::All, ALIVE, |habit| {
            habit.claim = |_, claim| {
                if claim.claimed_at == Reading::Absent {
                    claim.claimed_at = Reading::At(Timestamp::parse("2026-01-01T00:00:00Z").expect("an instant"));
                }
            };
        }),
        mutant("gives a sweep a tolerance", Kind::All, MISSED, |habit| {
            habit.policy = |policy| {
                if let Some(restart) = &mut policy.restart {
                    restart.began = restart.began.minus(Duration::from_secs(60));
                }
            };
        }),
        mutant("allows two rows under one key", Kind::All, DOUBLE, |habit| {
            habit.spec = |spec| {
                let alias = spec.claim.lock.clone();
                spec.claim.key = vec![Column { alias, name: "n".to_owned(), type_name: "integer".to_owned() }];
            };
        }),
        mutant("looks ids up as texts", Kind::Plain, LOST_ID, |habit| {
            habit.find = |reader, spec, ids| {
                let keys: Vec<Key> = ids.iter().map(|id| Key::from_text(id)).collect();
                let is_single = spec.claim.key.len() == 1;
                let found = if is_single { reader.find_keys(spec, &keys).unwrap_or_default() } else { Vec::new() };
                found.into_iter().map(|(claim, _)| claim).collect()
            };
        }),
    ]
}

impl Mutant {
    fn caught(&self, ground: &mut Ground) -> Option<(usize, Story)> {
        let broken = |(promise, _): &Broken| *promise == self.breaks;
        let stories =
            (0..).filter(|seed| is_story(*seed)).map(Story::of).filter(|story| story.kind == self.kind).take(STORIES);
        (1..).zip(stories).find(|(_, story)| breaks(ground, story, &self.habit).iter().any(broken))
    }
}

#[allow(clippy::print_stdout, reason = "how soon each is caught is worth knowing")]
fn are_caught(mut ground: Ground, mutants: Vec<Mutant>) {
    let mut count = 0;
    for mutant in mutants {
        let Mutant { name, breaks, habit, .. } = &mutant;
        let Some((needed, story)) = mutant.caught(&mut ground) else {
            panic!("{}: no story caught the program that {name} within {STORIES}", ground.name);
        };
        let jobs = shrink(&mut ground, &story, habit, breaks).jobs.len();
        println!(
            "{:26} {name:46} caught by story {needed}, of seed {}, {jobs} of its jobs: {breaks}",
            ground.name, story.seed
        );
        // And it is the mutant that is caught, not the story that breaks whatever comes.
        must_hold(&mut ground, &story);
        count += 1;
    }
    figures::add(count, "mutants caught");
}

#[test]
fn every_one_is_caught_on_sqlite() {
    are_caught(sqlite(Journal::Wal), mutants());
}

#[test]
fn some_are_caught_on_postgres() {
    are_caught(postgres(), one_in(3, mutants()));
}

mod nightly {
    use super::*;

    #[test]
    fn every_one_is_caught_on_postgres() {
        are_caught(postgres(), mutants());
    }
}
