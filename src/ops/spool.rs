//! The lines of a whole list, kept on disk while a plan or a run goes on.

use super::passes::Hashes;
use crate::model::{Outcome, Step};
use crate::output::StepJob;
use crate::output::format::Lines;
use std::io;

/// The steps that a plan has no room for, for a list that is whole.
pub struct Spool {
    /// JSON, each under the hash of its job's key.
    lines: Lines<u64>,
    /// How many of them are of the draft.
    drafted: usize,
    /// The outcome of those that no pass comes to; `None` for a dry run.
    outcome: Option<Outcome>,
    /// None yet: its hashes are those of the lines.
    pub(super) tried: Hashes,
}

impl Spool {
    pub fn new(is_dry: bool) -> Spool {
        let outcome = (!is_dry).then_some(Outcome::NotTried);
        Spool { lines: Lines::default(), drafted: 0, outcome, tried: Hashes::default() }
    }

    /// For the steps of later passes alone, of which none was drafted.
    pub(super) fn emptied(self) -> Spool {
        Spool { lines: Lines::default(), drafted: 0, ..self }
    }

    /// Adds a step that is drafted, and may be carried out by a later pass.
    pub(super) fn draft(&mut self, step: &Step, mut job: StepJob) {
        job.outcome = self.outcome;
        self.lines.add(job.job.order(), self.tried.hash(step.key.exact()), |out| json(out, &job));
        self.drafted += 1;
    }

    /// Leaves out what `--limit` leaves out, of the steps that were drafted since there were so many.
    pub(super) fn limit(&mut self, since: usize, most: u64) {
        self.lines.cut(since, usize::try_from(most).unwrap_or(usize::MAX));
        self.drafted = self.lines.count();
    }

    pub(super) fn drafted(&self) -> usize {
        self.drafted
    }

    /// Adds a step that was carried out.
    pub(super) fn end(&mut self, job: &StepJob) {
        self.lines.add(job.job.order(), 0, |out| json(out, job));
    }

    /// The lines of a plan that is only printed.
    pub(super) fn planned(mut self) -> io::Result<Lines<u64>> {
        self.lines.sort(usize::MAX)?;
        Ok(self.lines)
    }

    /// The lines of a run: of what was drafted, the steps that it did not come to, of which it knows how many.
    pub(super) fn ended(mut self, tried: &Hashes, not_tried: u64) -> io::Result<Lines<u64>> {
        let (mut n, mut left) = (0, not_tried);
        self.lines.retain(|hash| {
            n += 1;
            let is_left = n > self.drafted || left > 0 && !tried.has_hash(hash);
            left -= u64::from(is_left && n <= self.drafted);
            is_left
        });
        self.planned()
    }
}

fn json(out: &mut Vec<u8>, job: &StepJob) -> io::Result<()> {
    Ok(serde_json::to_writer(out, job)?)
}
