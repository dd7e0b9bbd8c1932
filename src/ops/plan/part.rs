use crate::model::Step;
use crate::output::{Spool, StepJob};
use crate::preset::QueueSpec;
use std::io;

/// The steps on one queue spec, each with its document.
pub(in crate::ops) struct Part {
    /// The queue, or one of its waiting states.
    pub(in crate::ops) spec: QueueSpec,
    steps: Spool<Step>,
    jobs: Spool<StepJob>,
}

impl Part {
    pub(in crate::ops) fn new(spec: QueueSpec) -> Part {
        Part { spec, steps: Spool::default(), jobs: Spool::default() }
    }

    /// Adds a step, at its place by the last sign of life.
    pub(in crate::ops) fn push(&mut self, step: Step, job: StepJob) -> io::Result<()> {
        let place = job.job.order();
        self.steps.push(place, step)?;
        self.jobs.push(place, job)
    }

    /// Sorts the steps, longest silent first.
    pub(in crate::ops) fn sort(&mut self) {
        self.steps.sort();
        self.jobs.sort();
    }

    /// Keeps the first steps, and returns how many it dropped.
    pub(in crate::ops) fn truncate(&mut self, limit: usize) -> u64 {
        self.steps.truncate(limit).min(self.jobs.truncate(limit)) as u64
    }

    pub(in crate::ops) fn len(&self) -> usize {
        self.steps.len()
    }

    pub(in crate::ops) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The steps without their documents, in order.
    pub(in crate::ops) fn steps(&self) -> impl Iterator<Item = io::Result<Step>> {
        self.steps.iter()
    }

    /// The steps with their documents, in order.
    pub(in crate::ops) fn iter(&self) -> impl Iterator<Item = io::Result<(Step, StepJob)>> {
        self.steps.iter().zip(self.jobs.iter()).map(|(step, job)| Ok((step?, job?)))
    }

    /// The step at that place, counted from 0.
    pub(in crate::ops) fn get(&self, n: usize) -> Option<io::Result<(Step, StepJob)>> {
        let both = self.steps.get(n).zip(self.jobs.get(n));
        both.map(|(step, job)| Ok((step?, job?)))
    }

    /// Changes the document of each step; `change` gets its place.
    pub(in crate::ops) fn change_jobs(&mut self, mut change: impl FnMut(usize, &mut StepJob)) -> io::Result<()> {
        for (n, job) in std::mem::take(&mut self.jobs).iter().enumerate() {
            let mut job = job?;
            change(n, &mut job);
            self.jobs.push(n as i64, job)?;
        }
        Ok(())
    }

    pub(in crate::ops) fn take_jobs(&mut self) -> Spool<StepJob> {
        std::mem::take(&mut self.jobs)
    }
}
