use super::database::{Database, Row, now};
use super::record::{image, key_of};
use super::row::{Joined, joined};
use jobdoctor::model::{
    Cell, Claim, Key, LedgerRow, LedgerRun, LockHolder, Loss, Owner, OwnerRow, RowError, RowImage, Timestamp,
    WaitingSide,
};
use jobdoctor::preset::{
    ActionSpec, Column, DueSpec, Jobs, LedgerSpec, LiveSchema, Runs, Shown, Template, WaitingSpec, WrittenAt,
};
use jobdoctor::store::{
    Detail, FinishedRun, Found, Holders, LiveServer, Reader, Refusal, RowCount, StoreError, Wanted, WantedRuns,
};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::time::Duration;

pub struct MemoryReader {
    now: Timestamp,
    tables: BTreeMap<&'static str, Vec<Row>>,
    live: LiveSchema,
}

impl MemoryReader {
    pub fn new(database: &Database) -> MemoryReader {
        let tables = database.snapshot();
        let names: Vec<String> = tables.keys().map(|name| (*name).to_owned()).collect();
        let live = database.live_schema(&names);
        MemoryReader { now: now(), tables, live }
    }
}

/// No promised order means no order that anybody could get used to.
fn scrambled<'d>(mut rows: Vec<Joined<'d>>) -> Vec<Joined<'d>> {
    rows.sort_by_cached_key(|row| {
        let mut hasher = DefaultHasher::new();
        row.key().to_string().hash(&mut hasher);
        hasher.finish()
    });
    rows
}

impl Reader for MemoryReader {
    fn now(&self) -> Timestamp {
        self.now
    }

    fn server(&self) -> Option<&LiveServer> {
        None
    }

    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError> {
        let tables = self.live.tables.iter().filter(|table| names.contains(&table.name));
        Ok(LiveSchema { tables: tables.cloned().collect(), ..self.live.clone() })
    }

    fn ask(&mut self, sql: &str) -> Result<bool, StoreError> {
        panic!("the memory store speaks no SQL: {sql}")
    }

    fn texts(&mut self, _sql: &str) -> Result<Vec<Vec<String>>, StoreError> {
        Ok(Vec::new())
    }

    fn sample(&mut self, sql: &str, _: Duration) -> Result<Vec<Vec<Cell>>, StoreError> {
        panic!("the memory store speaks no SQL: {sql}")
    }

    fn number(&mut self, _: &Jobs, sql: &Template) -> Result<u64, StoreError> {
        panic!("the memory store speaks no SQL: {sql:?}")
    }

    fn ended(&mut self, _: &Jobs, _: Timestamp) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    /// It has no unique keys but those of its rows.
    fn key_holders(&mut self, _: &Jobs, _: &ActionSpec, _: &[Key]) -> Result<Vec<(usize, RowError)>, StoreError> {
        Ok(Vec::new())
    }

    fn row_locks(&mut self, _: &Jobs, _: &[(Key, Option<Cell>)]) -> Result<Vec<LockHolder>, StoreError> {
        Ok(Vec::new())
    }

    fn long_locks(&mut self, _: &Jobs) -> Result<Vec<LockHolder>, StoreError> {
        Ok(Vec::new())
    }

    fn explain_actions(&mut self, _spec: &Jobs) -> Result<Vec<Refusal>, StoreError> {
        Ok(Vec::new())
    }

    fn ends_as_interrupted(&mut self, _: &Jobs, _: &Jobs) -> Result<Option<WrittenAt>, StoreError> {
        Ok(None)
    }

    fn states_in_use(&mut self, spec: &Jobs) -> Result<Vec<Cell>, StoreError> {
        let mut states: Vec<Cell> = Vec::new();
        for state in joined(spec, &self.tables).iter().map(Joined::state) {
            if !state.is_null() && !states.contains(&state) {
                states.push(state);
            }
        }
        Ok(states)
    }

    fn count_in_states(&mut self, spec: &Jobs, states: &[String], most: u64) -> Result<u64, StoreError> {
        let is_in = |joined: &&Joined<'_>| states.contains(&joined.state().to_string());
        Ok((joined(spec, &self.tables).iter().filter(is_in).count() as u64).min(most))
    }

    fn scan_until(
        &mut self,
        spec: &Jobs,
        _wanted: &Wanted,
        _detail: Detail,
        _most: Option<u64>,
        _waiting: Option<(&WaitingSpec, &mut WaitingSide)>,
        each: &mut dyn FnMut(Claim) -> ControlFlow<()>,
    ) -> Result<Holders, StoreError> {
        let (rows, mut holders) = (scrambled(joined(spec, &self.tables)), Holders::default());
        for claim in rows.iter().filter(|row| row.in_flight()).map(|row| row.claim()) {
            holders.add(&claim.owner);
            if each(claim).is_break() {
                break;
            }
        }
        Ok(holders)
    }

    /// It has no times without a zone.
    fn shown(&mut self, spec: &Jobs) -> Result<Shown, StoreError> {
        let mut shown = Shown::default();
        for row in joined(spec, &self.tables).iter().filter(|row| spec.judges_missing_owners() && row.in_flight()) {
            let claim = row.claim();
            let newest = Timestamp::newest(claim.claimed_at.at(), claim.heartbeat.at());
            if let (OwnerRow::Missing { .. }, Some(owner), Some(at)) = (claim.owner_row, claim.owner, newest) {
                let seen = shown.missing_owners.entry(owner.id).or_insert(at);
                *seen = Timestamp::newest(Some(*seen), Some(at)).unwrap();
            }
        }
        Ok(shown)
    }

    fn due_before(&mut self, _: &DueSpec, _: Option<&str>, _: Timestamp) -> Result<u64, StoreError> {
        Ok(0)
    }

    fn find(&mut self, spec: &Jobs, ids: &[String]) -> Result<Vec<Found>, StoreError> {
        let rows = scrambled(joined(spec, &self.tables));
        let wanted = rows.iter().filter(|row| ids.contains(&row.key().to_string()));
        let found = wanted.map(|row| Found {
            claim: row.claim(),
            in_flight: row.in_flight(),
            names: vec![row.key().to_string()],
        });
        Ok(found.collect())
    }

    fn find_keys(&mut self, spec: &Jobs, keys: &[Key]) -> Result<Vec<(Claim, bool)>, StoreError> {
        let rows = scrambled(joined(spec, &self.tables));
        Ok(rows.iter().filter(|row| keys.contains(&row.key())).map(|row| (row.claim(), row.in_flight())).collect())
    }

    fn in_flight(&mut self, spec: &Jobs) -> Result<u64, StoreError> {
        Ok(joined(spec, &self.tables).iter().filter(|row| row.in_flight()).count() as u64)
    }

    /// One by one, as the contract allows: callers must add them up.
    fn count_by_owner(&mut self, spec: &Jobs, each: &mut dyn FnMut(Option<&Owner>, u64)) -> Result<(), StoreError> {
        let rows = scrambled(joined(spec, &self.tables));
        rows.iter().filter(|row| row.in_flight()).for_each(|row| each(row.claim().owner.as_ref(), 1));
        Ok(())
    }

    fn count_by_state(&mut self, spec: &Jobs, by_kind: bool) -> Result<Vec<RowCount>, StoreError> {
        let mut counts: Vec<RowCount> = Vec::new();
        for row in scrambled(joined(spec, &self.tables)) {
            let (queue, kind) = row.queue_and_kind();
            let (kind, state) = (kind.filter(|_| by_kind), row.state());
            let known = counts.iter_mut().find(|t| (&t.queue, &t.kind, &t.state) == (&queue, &kind, &state));
            match known {
                Some(count) => count.rows += 1,
                None => counts.push(RowCount { queue, kind, state, rows: 1 }),
            }
        }
        Ok(counts)
    }

    fn finished(
        &mut self,
        spec: &Jobs,
        runs: &Runs,
        wanted: &WantedRuns,
        each: &mut dyn FnMut(FinishedRun),
    ) -> Result<(), StoreError> {
        let mut found: Vec<FinishedRun> =
            scrambled(joined(spec, &self.tables)).iter().filter_map(|row| row.finished(runs)).collect();
        match wanted {
            // What ended a little earlier, or nobody knows when, may come as well.
            WantedRuns::Since(since) => {
                let since = since.minus(std::time::Duration::from_secs(1));
                found.retain(|run| run.ended.at().is_none_or(|ended| ended.micros() >= since.micros()));
            }
            WantedRuns::Newest(n, _) => {
                found.retain(|run| run.ended.at().is_some());
                found.sort_by_key(|run| std::cmp::Reverse(run.ended.at().map(Timestamp::micros)));
                found.truncate(*n as usize);
                found.reverse();
            }
        }
        found.into_iter().for_each(each);
        Ok(())
    }

    fn identity(&mut self) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    fn images(&mut self, spec: &Jobs, columns: &[&Column], keys: &[Key]) -> Result<Vec<Option<RowImage>>, StoreError> {
        let rows = &self.tables[spec.queue.tables[&spec.claim.lock_table].name.as_str()];
        let find = |key: &Key| rows.iter().find(|row| key_of(spec, row) == *key);
        Ok(keys.iter().map(|key| find(key).map(|row| image(spec, columns, row))).collect())
    }

    // The reference store has no ledger.

    fn ledger_runs(&mut self, ledger: &LedgerSpec, _limit: u64) -> Result<Vec<LedgerRun>, StoreError> {
        panic!("the memory store has no ledger: {ledger:?}")
    }

    fn ledger_run_ids(&mut self, ledger: &LedgerSpec, _: &str, _: usize) -> Result<Vec<String>, StoreError> {
        panic!("the memory store has no ledger: {ledger:?}")
    }

    fn ledger_losses(&mut self, ledger: &LedgerSpec, _: &str, _: &mut dyn FnMut(Loss)) -> Result<(), StoreError> {
        panic!("the memory store has no ledger: {ledger:?}")
    }

    fn last_sweep(&mut self, _: &Jobs, _: Duration) -> Result<Option<Timestamp>, StoreError> {
        Ok(None)
    }

    fn ledger_rows(
        &mut self,
        ledger: &LedgerSpec,
        _: &str,
        _: &mut dyn FnMut(Result<LedgerRow, String>),
    ) -> Result<(), StoreError> {
        panic!("the memory store has no ledger: {ledger:?}")
    }
}
