//! What was done: from the journal of this host and, where a database is at hand that has one, from its ledger.

mod list;
mod load;
mod one;

pub use list::history;
pub(super) use list::{last_moved, last_run};
pub use one::history_run;

pub(super) use load::{Loaded, load};
pub(super) use one::{COMPARED, RowNow, belongs, compared, undone_by};

use crate::history::{self, Directory, is_run_id};
use crate::model::RunHead;
use crate::ops::{OpsError, Snapshot};
use crate::output::advice;
use crate::preset::LedgerSpec;
use crate::preset::ident::{qualified, quoted};
use crate::store::{StoreError, StoreErrorKind};
use std::collections::BTreeSet;

/// So many runs are named where one is meant and several fit.
const SHOWN: usize = 5;

pub struct Records<'a> {
    /// The journals of this host; `None` where no environment variable says where.
    pub journals: Option<&'a Directory>,
    /// A snapshot of a database, if one is at hand.
    pub snapshot: Option<&'a mut Snapshot>,
}

impl Records<'_> {
    /// The ledger of the database at hand, if it has one that can be read.
    pub(in crate::ops) fn ledger(&self) -> Result<Option<LedgerSpec>, OpsError> {
        let Some(ledger) = self.snapshot.as_ref().and_then(|snapshot| snapshot.jobs.queue.ledger.clone()) else {
            return Ok(None);
        };
        let name = format!("{}.{}", ledger.table.schema, ledger.table.name);
        if !ledger.lacks.is_empty() {
            let message = format!("the ledger {name} lacks columns: {}", ledger.lacks.join(", "));
            return Err(StoreError::new(StoreErrorKind::Unfit, message).hint(advice::FOREIGN_LEDGER).into());
        }
        if !ledger.may_read {
            let role = self.snapshot.as_ref().and_then(|snapshot| snapshot.live.role.clone()).unwrap_or_default();
            let table = qualified(&ledger.table.schema, &ledger.table.name);
            let grant = format!("GRANT SELECT ON {table} TO {}", quoted(&role));
            let message = format!("may not read the ledger {name}");
            return Err(StoreError::new(StoreErrorKind::Denied, message).hint(grant).into());
        }
        Ok(Some(ledger))
    }

    /// The run that is meant: its whole id, or as much of the beginning as no other run shares.
    pub(in crate::ops) fn find(&mut self, prefix: &str) -> Result<String, OpsError> {
        let mut found: BTreeSet<String> = BTreeSet::new();
        if let Some(journals) = self.journals {
            found.extend(journals.runs()?.into_iter().filter(|run| run.starts_with(prefix)));
        }
        if found.contains(prefix) {
            return Ok(prefix.to_owned());
        }
        let ledger = match self.ledger() {
            // A run that this host has a journal of needs no ledger.
            Err(_) if !found.is_empty() => None,
            ledger => ledger?,
        };
        if let (Some(ledger), Some(snapshot)) = (ledger, self.snapshot.as_mut()) {
            let ids = snapshot.reader.ledger_run_ids(&ledger, prefix, SHOWN + 1)?;
            found.extend(ids.into_iter().filter(|run| is_run_id(run)));
        }
        if found.contains(prefix) {
            return Ok(prefix.to_owned());
        }
        let mut runs = found.iter();
        match (runs.next(), runs.next()) {
            (Some(only), None) => Ok(only.clone()),
            (None, _) => Err(self.unknown(prefix).into()),
            (Some(_), Some(_)) => {
                let shown: Vec<&str> = found.iter().take(SHOWN).map(String::as_str).collect();
                let more = if found.len() > SHOWN { ", ..." } else { "" };
                let message = format!("several runs begin with {prefix}: {}{more}", shown.join(", "));
                Err(OpsError::usage(message, "give more of the id"))
            }
        }
    }

    /// The head of a run, as the journal of this host records it; `None` if that has no such run, or cannot be read.
    pub fn recorded_head(&mut self, prefix: &str) -> Option<RunHead> {
        let run_id = self.find(prefix).ok()?;
        Some(history::read(self.journals?, &run_id).ok()??.0)
    }

    /// The error for a run that no record knows.
    pub fn unknown(&self, prefix: &str) -> StoreError {
        let journal = match self.journals {
            Some(journals) => format!("in {}", journals.path().display()),
            None => "on this host, where there is no place for journals (HOME is not set)".to_owned(),
        };
        let ledger = match self.snapshot.as_ref().map(|snapshot| snapshot.jobs.queue.ledger.is_some()) {
            Some(true) => ", and none in the ledger",
            Some(false) => ", and the database has no ledger",
            None => "",
        };
        StoreError::new(StoreErrorKind::Missing, format!("there is no run {prefix} {journal}{ledger}"))
            .hint(advice::WHERE_RUNS_ARE)
    }
}
