//! How often a job was lost before: in a column of its row, or counted by somebody else.

use super::OpsError;
use super::session::Snapshot;
use crate::model::{Claim, Key, LedgerRow, LedgerRun, Loss, Owner, RowImage, Timestamp};
use crate::policy::{Draft, Policy, why_failed};
use crate::report;
use crate::spec::{Column, LedgerSpec, LiveSchema, QueueSpec, Runs, Template};
use crate::store::{Found, Reader, Refusal, Run, Standby, StoreError, Tally, Wanted, WantedRuns};
use std::time::Duration;

/// Whoever counts, outside of the row, how often jobs were lost.
pub trait CountStalls {
    /// How often the job of that claim was lost before, as far as this source knows; 0 if it has never heard of it.
    fn stalls_of(&self, claim: &Claim) -> i64;
}

impl<F: Fn(&Claim) -> i64> CountStalls for F {
    fn stalls_of(&self, claim: &Claim) -> i64 {
        self(claim)
    }
}

impl Snapshot {
    /// The same snapshot with losses counted by `source`, where the rows do not count them.
    #[must_use]
    pub fn counting_stalls(self, source: Box<dyn CountStalls>) -> Snapshot {
        if self.counts_stalls {
            return self;
        }
        let Snapshot { reader, .. } = self;
        let reader: Box<dyn Reader> = Box::new(Counting { reader, source });
        Snapshot { reader, counts_stalls: true, ..self }
    }
}

/// Refuses a budget that nothing counts, which would never be spent.
pub(super) fn must_be_counted(snapshot: &Snapshot, policy: &Policy) -> Result<(), OpsError> {
    match policy.max_stalls {
        Some(_) if !snapshot.counts_stalls => Err(OpsError::usage(
            format!("--max-stalls: nothing counts how often a job of preset {} was lost before", snapshot.spec.preset),
            "leave it out, in the config file too; a mapping can name a column that its requeue counts up: \
             `stalls` in [attempts]. On SQLite a run counts losses only where attempts are counted or the key is AUTOINCREMENT",
        )),
        _ => Ok(()),
    }
}

/// Says with a job that its budget fails it.
pub(super) fn explain(job: &mut report::Job, claim: &Claim, policy: &Policy, draft: &Draft) {
    let why = why_failed(claim, policy, draft);
    job.reasons.extend(why.map(|detail| report::Reason { rule: "max_stalls".to_owned(), proves: None, detail }));
}

/// A reader whose claims know what the source counts. Every other method is handed on to the reader behind it.
struct Counting {
    reader: Box<dyn Reader>,
    source: Box<dyn CountStalls>,
}

impl Counting {
    fn count(source: &dyn CountStalls, claim: &mut Claim) {
        claim.stalls = Some(source.stalls_of(claim));
    }
}

impl Reader for Counting {
    fn now(&self) -> Timestamp {
        self.reader.now()
    }

    fn label(&self) -> Option<&str> {
        self.reader.label()
    }

    fn standby(&self) -> Option<Standby> {
        self.reader.standby()
    }

    fn up_since(&mut self) -> Result<Option<Timestamp>, StoreError> {
        self.reader.up_since()
    }

    fn holders(&mut self, spec: &QueueSpec, each: &mut dyn FnMut(Option<Owner>, u64)) -> Result<(), StoreError> {
        self.reader.holders(spec, each)
    }

    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError> {
        self.reader.live_schema(names)
    }

    fn ask(&mut self, sql: &str) -> Result<bool, StoreError> {
        self.reader.ask(sql)
    }

    fn number(&mut self, spec: &QueueSpec, sql: &Template) -> Result<u64, StoreError> {
        self.reader.number(spec, sql)
    }

    fn states_in_use(&mut self, spec: &QueueSpec) -> Result<Vec<crate::model::Cell>, StoreError> {
        self.reader.states_in_use(spec)
    }

    fn scan(&mut self, spec: &QueueSpec, wanted: &Wanted, each: &mut dyn FnMut(Claim)) -> Result<(), StoreError> {
        let source = self.source.as_ref();
        self.reader.scan(spec, wanted, &mut |mut claim| {
            Counting::count(source, &mut claim);
            each(claim);
        })
    }

    fn rehearse(&mut self, spec: &QueueSpec, reason: &str) -> Result<Vec<Refusal>, StoreError> {
        self.reader.rehearse(spec, reason)
    }

    fn find_keys(&mut self, spec: &QueueSpec, keys: &[Key]) -> Result<Vec<(Claim, bool)>, StoreError> {
        let mut found = self.reader.find_keys(spec, keys)?;
        found.iter_mut().for_each(|(claim, _)| Counting::count(self.source.as_ref(), claim));
        Ok(found)
    }

    fn find(&mut self, spec: &QueueSpec, ids: &[String]) -> Result<Vec<Found>, StoreError> {
        let mut found = self.reader.find(spec, ids)?;
        for found in &mut found {
            Counting::count(self.source.as_ref(), &mut found.claim);
        }
        Ok(found)
    }

    fn tally(&mut self, spec: &QueueSpec, by_kind: bool) -> Result<Vec<Tally>, StoreError> {
        self.reader.tally(spec, by_kind)
    }

    fn finished(
        &mut self,
        spec: &QueueSpec,
        runs: &Runs,
        wanted: &WantedRuns,
        each: &mut dyn FnMut(Run),
    ) -> Result<(), StoreError> {
        self.reader.finished(spec, runs, wanted, each)
    }

    fn identity(&mut self) -> Result<Option<String>, StoreError> {
        self.reader.identity()
    }

    fn images(
        &mut self,
        spec: &QueueSpec,
        columns: &[&Column],
        keys: &[Key],
    ) -> Result<Vec<Option<RowImage>>, StoreError> {
        self.reader.images(spec, columns, keys)
    }

    fn ledger_runs(&mut self, ledger: &LedgerSpec, limit: u64) -> Result<Vec<LedgerRun>, StoreError> {
        self.reader.ledger_runs(ledger, limit)
    }

    fn ledger_run_ids(&mut self, ledger: &LedgerSpec, prefix: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        self.reader.ledger_run_ids(ledger, prefix, limit)
    }

    fn ledger_losses(
        &mut self,
        ledger: &LedgerSpec,
        job_table: &str,
        each: &mut dyn FnMut(Loss),
    ) -> Result<(), StoreError> {
        self.reader.ledger_losses(ledger, job_table, each)
    }

    fn last_sweep(&mut self, spec: &QueueSpec, within: Duration) -> Result<Option<Timestamp>, StoreError> {
        self.reader.last_sweep(spec, within)
    }

    fn ledger_rows(
        &mut self,
        ledger: &LedgerSpec,
        run_id: &str,
        each: &mut dyn FnMut(LedgerRow),
    ) -> Result<(), StoreError> {
        self.reader.ledger_rows(ledger, run_id, each)
    }

    fn in_flight(&mut self, spec: &QueueSpec) -> Result<u64, StoreError> {
        self.reader.in_flight(spec)
    }
}
