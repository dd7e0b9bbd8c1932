use super::database::{Database, Row, now};
use super::record::{image, key_of};
use super::row::{Joined, joined};
use jobdoctor::model::{Cell, Claim, Key, Owner, RowImage, Timestamp};
use jobdoctor::preset::{Column, Jobs, LiveSchema, Runs};
use jobdoctor::store::{At, FinishedRun, Found, Holders, Reader, RowCount, Scan, Statement, StoreError, WantedRuns};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::time::Duration;

pub struct MemoryReader {
    at: At,
    tables: BTreeMap<&'static str, Vec<Row>>,
    live: LiveSchema,
}

impl MemoryReader {
    pub fn new(database: &Database) -> MemoryReader {
        let tables = database.snapshot();
        let names: Vec<String> = tables.keys().map(|name| (*name).to_owned()).collect();
        let live = database.live_schema(&names);
        let at = At { now: now(), server: None, identity: None };
        MemoryReader { at, tables, live }
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
    fn at(&self) -> &At {
        &self.at
    }

    /// It speaks no SQL: what is asked beyond the port finds nothing here.
    fn rows(
        &mut self,
        _: &Statement,
        _: Option<Duration>,
        _: &mut dyn FnMut(&mut [Cell]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        Ok(())
    }

    fn explain(&mut self, _: &Jobs, _: &Statement) -> Result<(), StoreError> {
        Ok(())
    }

    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError> {
        let tables = self.live.tables.iter().filter(|table| names.contains(&table.name));
        Ok(LiveSchema { tables: tables.cloned().collect(), ..self.live.clone() })
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
        scan: Scan<'_>,
        each: &mut dyn FnMut(Claim) -> ControlFlow<()>,
    ) -> Result<Holders, StoreError> {
        let spec = scan.jobs;
        let (rows, mut holders) = (scrambled(joined(spec, &self.tables)), Holders::default());
        for claim in rows.iter().filter(|row| row.in_flight()).map(|row| row.claim()) {
            holders.add(&claim.owner);
            if each(claim).is_break() {
                break;
            }
        }
        Ok(holders)
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

    fn images(&mut self, spec: &Jobs, columns: &[&Column], keys: &[Key]) -> Result<Vec<Option<RowImage>>, StoreError> {
        let rows = &self.tables[spec.queue.tables[&spec.claim.lock_table].name.as_str()];
        let find = |key: &Key| rows.iter().find(|row| key_of(spec, row) == *key);
        Ok(keys.iter().map(|key| find(key).map(|row| image(spec, columns, row))).collect())
    }
}
