//! How often jobs were lost before, where their rows do not say: counted from what earlier runs have recorded.

use super::OpsError;
use super::history::{Records, belongs};
use super::session::Snapshot;
use super::stalls::CountStalls;
use crate::history::{self, Directory};
use crate::model::{Action, Claim, Engine, Loss};
use crate::preset::ident::literal;
use std::collections::{BTreeSet, HashMap};

impl Snapshot {
    /// The same snapshot with losses counted: by the rows themselves; where they do not, by the queue's ledger; and where there is
    /// none, by the journals of this host, which know of its own runs only.
    ///
    /// # Errors
    /// When the ledger or a journal cannot be read.
    pub fn counting_losses(mut self, journals: Option<&Directory>) -> Result<Snapshot, OpsError> {
        if self.counts_stalls() {
            return Ok(self);
        }
        // Then nothing tells the losses of a deleted job from those of a new one under its id.
        if self.spec.attempts.column.is_none() && self.reuses_ids()? {
            return Ok(self);
        }
        let ledger = Records { journals, snapshot: Some(&mut self) }.ledger()?;
        let mut losses = Losses::default();
        match (ledger, journals) {
            (Some(ledger), _) => {
                self.reader.ledger_losses(&ledger, &self.target.table, &mut |loss| losses.add(&loss))?;
            }
            (None, Some(journals)) => of_journals(&mut self, journals, &mut losses)?,
            (None, None) => return Ok(self),
        }
        Ok(self.counting_stalls(Box::new(losses)))
    }
}

impl Snapshot {
    /// True where the key is a rowid, and the highest one is free again once its row is gone.
    fn reuses_ids(&mut self) -> Result<bool, OpsError> {
        let table = self.spec.tables.get(&self.spec.claim.lock_table).filter(|_| self.spec.engine == Engine::Sqlite);
        let (Some(table), [key]) = (table, self.spec.claim.key.as_slice()) else { return Ok(false) };
        let (name, key) = (literal(&table.name), literal(&key.name));
        Ok(self.reader.ask(&format!(
            "SELECT EXISTS (SELECT 1 FROM pragma_table_xinfo({name}, 'main') WHERE name = {key} COLLATE NOCASE
                 AND pk = 1 AND type = 'INTEGER' COLLATE NOCASE)
             AND NOT EXISTS (SELECT 1 FROM main.sqlite_schema
                 WHERE type = 'table' AND name = {name} COLLATE NOCASE AND sql LIKE '%autoincrement%')"
        ))?)
    }
}

/// Losses by job, as records tell of them.
#[derive(Default)]
struct Losses(HashMap<String, Lost>);

/// What is known of the job that had a key last.
#[derive(Default)]
struct Lost {
    times: i64,
    kind: Option<String>,
    attempts: Option<i64>,
}

impl Lost {
    /// False if a job of that kind with so many attempts must be another one under the same key: SQLite gives the id of a
    /// deleted row to a new one. A job keeps its kind, and its attempts never become fewer.
    fn may_be(&self, kind: Option<&str>, attempts: Option<i64>) -> bool {
        self.kind.as_deref() == kind && attempts.zip(self.attempts).is_none_or(|(now, then)| now >= then)
    }
}

impl Losses {
    /// One more, later than all before.
    fn add(&mut self, loss: &Loss) {
        let lost = self.0.entry(loss.key.exact()).or_default();
        if !lost.may_be(loss.kind.as_deref(), loss.attempts_before) {
            lost.times = 0;
        }
        lost.times += if loss.taken_back { -1 } else { 1 };
        (lost.kind, lost.attempts) = (loss.kind.clone(), loss.attempts_after);
    }
}

impl CountStalls for Losses {
    fn stalls_of(&self, claim: &Claim) -> i64 {
        let attempts = claim.attempts.as_integer();
        let lost = self.0.get(&claim.key.exact()).filter(|lost| lost.may_be(claim.kind.as_deref(), attempts));
        lost.map_or(0, |lost| lost.times.max(0))
    }
}

fn of_journals(snapshot: &mut Snapshot, journals: &Directory, losses: &mut Losses) -> Result<(), OpsError> {
    let mut heads = Vec::new();
    for run in journals.runs()? {
        let Some((head, _)) = history::read(journals, &run)? else { continue };
        let is_other = head.target.engine != snapshot.target.engine || head.target.table != snapshot.target.table;
        if !is_other && belongs(snapshot, &run, &head.target).is_ok() {
            heads.push((head.time, run));
        }
    }
    // Oldest first: what takes a run back comes after it, and attempts grow. Names of runs know no fractions of a second.
    heads.sort_by(|(a, a_run), (b, b_run)| (a.micros(), a_run).cmp(&(b.micros(), b_run)));
    let mut undoes = BTreeSet::new();
    for (_, run) in heads {
        let Some((head, lines)) = history::read(journals, &run)? else { continue };
        // What takes a run back counts against it; what takes that back, for it again.
        let taken_back = head.undoes.as_ref().is_some_and(|undone| !undoes.contains(undone));
        if taken_back {
            undoes.insert(run);
        }
        history::batches::<OpsError>(lines, &mut |batch| {
            let moved =
                batch.changes.iter().filter(|entry| batch.may_have_moved(entry) && entry.action == Action::Requeue);
            moved.for_each(|entry| {
                losses.add(&Loss {
                    key: entry.key.clone(),
                    kind: entry.kind.clone(),
                    attempts_before: entry.attempts_before,
                    attempts_after: entry.attempts_after,
                    taken_back,
                });
            });
            Ok(())
        })?;
    }
    Ok(())
}
