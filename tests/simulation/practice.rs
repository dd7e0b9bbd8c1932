//! How the doctors of a history go about their work: as the program does, or, for a broken mutant, not quite.

use super::log::Rows;
use super::world::{World, doctor_name, limits};
use crate::support::doctor::steps_seen;
use jobdoctor::model::{BatchReport, Step};
use jobdoctor::policy::Policy;
use jobdoctor::preset::Jobs;
use jobdoctor::store::StoreError;
use std::rc::Rc;

pub struct Practice {
    /// The queue as they look at it.
    pub looks: Jobs,
    /// The queue as they write to it: the same.
    pub applies: Jobs,
    /// What they do to a plan before it is applied: nothing.
    pub plan: fn(&mut Vec<Step>),
    /// What they do to a report before it is told: nothing.
    pub report: fn(&mut BatchReport<StoreError>),
}

impl Practice {
    pub fn sound(world: &World) -> Practice {
        Practice { looks: world.spec.clone(), applies: world.spec.clone(), plan: |_| (), report: |_| () }
    }

    /// A snapshot: the plan, and all rows as they were at that instant, read by hand.
    pub fn look(&self, world: &mut World, doctor: usize) -> Plan {
        let mut reader = world
            .looks
            .reader(&limits(&doctor_name(doctor)), &[])
            .unwrap_or_else(|error| panic!("{}: {error}", world.name));
        let mut steps = steps_seen(&mut *reader, &self.looks, &Policy::default());
        drop(reader);
        (self.plan)(&mut steps);
        // One kind of action after the other, as batches want them.
        steps.sort_by_key(|step| step.action);
        Plan { judged: Rc::new(world.sessions.rows()), steps }
    }
}

#[derive(Clone)]
pub struct Plan {
    pub judged: Rc<Rows>,
    pub steps: Vec<Step>,
}

impl Plan {
    pub fn next(&mut self, at_most: usize) -> Vec<Step> {
        let Some(first) = self.steps.first().map(|step| step.action) else { return Vec::new() };
        let of_one_action = self.steps.iter().take_while(|step| step.action == first).count();
        self.steps.drain(..at_most.min(of_one_action)).collect()
    }
}
