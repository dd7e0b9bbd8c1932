//! Plays an order on the store and in the model, step by step, and says where the two part.

use super::fixture::{self, Queue};
use super::player::{Doctor, Player, outcome, worker};
use super::specs::Spec;
use super::step::{Event, Step};
use super::world::World;
use crate::readme::statements::{Database, postgres, sqlite};
use crate::support::doctor::{built_in, fit, mapping};
use crate::support::labs::{Lab, SqlLab};
use crate::support::tables::{JOBS, ORDERS, ORDERS_MAPPING, PINGS};
use jobdoctor::model::Engine;
use jobdoctor::preset::QueueSpec;
use std::path::Path;

/// Plays these orders with doctors that go by the mutant of the queue's specification; gives back what was not as the model has
/// it, one text for each order that went wrong.
pub(super) fn violations(
    lab: &dyn SqlLab,
    spec: &Spec,
    orders: &[Vec<usize>],
    mutant: impl Fn(QueueSpec) -> QueueSpec,
) -> Vec<String> {
    Stage::new(lab, spec, mutant, false).play_all(orders)
}

/// The same with doctors that forget the owners' rows.
pub(super) fn violations_of_the_blind(lab: &dyn SqlLab, spec: &Spec, orders: &[Vec<usize>]) -> Vec<String> {
    Stage::new(lab, spec, |spec| spec, true).play_all(orders)
}

struct Stage<'a> {
    lab: &'a dyn SqlLab,
    spec: &'a Spec,
    queue: QueueSpec,
    blind: bool,
    onlooker: Database,
    players: Vec<Box<dyn Player>>,
}

impl<'a> Stage<'a> {
    fn new(lab: &'a dyn SqlLab, spec: &'a Spec, mutant: impl Fn(QueueSpec) -> QueueSpec, blind: bool) -> Stage<'a> {
        lab.clear();
        match spec.queue {
            Queue::Lease => lab.create(&[JOBS]),
            Queue::Orders => lab.create(&[ORDERS, PINGS]),
        }
        let preset = match spec.queue {
            Queue::Lease => built_in("lease"),
            Queue::Orders => mapping(ORDERS_MAPPING),
        };
        let queue = mutant(fit(&*Lab::store(lab), &preset));
        let onlooker = match lab.engine() {
            Engine::Postgres => postgres(&lab.address()),
            Engine::Sqlite => sqlite(Path::new(&lab.address())),
        };
        Stage { lab, spec, queue, blind, onlooker, players: Vec::new() }
    }

    fn play_all(mut self, orders: &[Vec<usize>]) -> Vec<String> {
        let mut wrong = Vec::new();
        for order in orders {
            if let Err(what) = self.play(order) {
                wrong.push(format!("order {order:?}: {what}"));
                // Whatever they were in the middle of.
                self.players.clear();
            }
        }
        wrong
    }

    fn enter(&mut self) {
        if self.players.is_empty() {
            let player = |steps: &Vec<Step>| -> Box<dyn Player> {
                match steps.first() {
                    Some(Step::Snapshot) => Box::new(Doctor::new(self.lab, &self.queue, self.blind)),
                    _ => worker(self.lab),
                }
            };
            self.players = self.spec.sessions.iter().map(player).collect();
        }
    }

    fn play(&mut self, order: &[usize]) -> Result<(), String> {
        fixture::plant(self.lab, self.spec.queue);
        self.enter();
        let mut world = World::new(self.lab.engine(), self.spec.queue, self.players.len());
        let mut left: Vec<usize> = order.to_vec();
        let mut taken = vec![0; self.players.len()];
        let mut told = String::new();
        while !left.is_empty() {
            let next = left.iter().position(|session| !world.waits(*session)).expect("somebody can go on");
            let session = left.remove(next);
            let step = &self.spec.sessions[session][taken[session]];
            taken[session] += 1;
            let expected = world.step(session, step);
            self.players[session].begin(step, self.lab);
            told += &format!("\n  session {session}: {step}: ");
            self.compare(session, &expected, &mut told)?;
            for (session, expected) in world.go_on() {
                told += &format!("\n  session {session} goes on: ");
                self.compare(session, &expected, &mut told)?;
            }
        }
        let image: Vec<String> =
            (self.onlooker)(&fixture::query(self.lab, self.spec.queue)).concat().into_iter().flatten().collect();
        if image == world.image() {
            return Ok(());
        }
        Err(format!("{told}\n  in the tables: {image:#?}\n  should be: {:#?}", world.image()))
    }

    fn compare(&mut self, session: usize, expected: &Event, told: &mut String) -> Result<(), String> {
        let event = outcome(&mut *self.players[session], expected);
        *told += &format!("{event:?}");
        if event == *expected { Ok(()) } else { Err(format!("{told}, and should be {expected:?}")) }
    }
}
