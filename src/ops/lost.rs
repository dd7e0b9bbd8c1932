//! How often jobs were lost before, where their rows do not say: counted from what earlier runs have recorded.

use super::OpsError;
use super::history::{Records, belongs};
use super::session::Look;
use crate::journal::{self, Directory};
use crate::model::{Key, Move};
use std::collections::{BTreeSet, HashMap};

impl Look {
    /// The same look with losses counted: by the rows themselves; where they do not, by the queue's ledger; and where there is
    /// none, by the journals of this host, which know of its own runs only.
    ///
    /// # Errors
    /// When the ledger or a journal cannot be read.
    pub fn counting_losses(mut self, journals: Option<&Directory>) -> Result<Look, OpsError> {
        if self.counts_stalls {
            return Ok(self);
        }
        let ledger = Records { journals, look: Some(&mut self) }.ledger()?;
        let counts: HashMap<String, i64> = match (ledger, journals) {
            (Some(ledger), _) => self.reader.ledger_losses(&ledger, &self.target.table)?.into_iter().collect(),
            (None, Some(journals)) => of_journals(&mut self, journals)?,
            (None, None) => return Ok(self),
        };
        Ok(self
            .counting_stalls(Box::new(move |key: &Key| counts.get(&key.to_string()).map_or(0, |count| *count.max(&0)))))
    }
}

fn of_journals(look: &mut Look, journals: &Directory) -> Result<HashMap<String, i64>, OpsError> {
    let mut counts = HashMap::new();
    let mut undoes = BTreeSet::new();
    // Oldest first: what takes a run back comes after it.
    let mut runs = journals.runs()?;
    runs.sort();
    for run in runs {
        let Some((head, lines)) = journal::read(journals, &run)? else { continue };
        let is_other = head.target.engine != look.target.engine || head.target.table != look.target.table;
        if is_other || belongs(look, &run, &head.target).is_err() {
            continue;
        }
        // What takes a run back counts against it; what takes that back, for it again.
        let taken_back = head.undoes.as_ref().is_some_and(|undone| !undoes.contains(undone));
        if taken_back {
            undoes.insert(run);
        }
        journal::batches::<OpsError>(lines, &mut |batch| {
            let moved =
                batch.changes.iter().filter(|entry| batch.may_have_moved(entry) && entry.r#move == Move::Requeue);
            moved.for_each(|entry| *counts.entry(entry.id.clone()).or_default() += if taken_back { -1 } else { 1 });
            Ok(())
        })?;
    }
    Ok(counts)
}
