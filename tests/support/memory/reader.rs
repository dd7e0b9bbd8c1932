use super::database::{Database, Row, now};
use super::row::{Joined, joined};
use jobdoctor::model::{Cell, Claim, Owner, Timestamp};
use jobdoctor::spec::{LiveSchema, QueueSpec};
use jobdoctor::store::{Found, Reader, StoreError, Wanted};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A snapshot that does not move.
pub struct MemoryReader {
    now: Timestamp,
    tables: BTreeMap<&'static str, Vec<Row>>,
    live: LiveSchema,
}

impl MemoryReader {
    /// What is committed now.
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

    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError> {
        let tables = self.live.tables.iter().filter(|table| names.contains(&table.name));
        Ok(LiveSchema { tables: tables.cloned().collect(), ..self.live.clone() })
    }

    fn ask(&mut self, sql: &str) -> Result<bool, StoreError> {
        panic!("the memory store speaks no SQL: {sql}")
    }

    fn states_in_use(&mut self, spec: &QueueSpec) -> Result<Vec<Cell>, StoreError> {
        let mut states: Vec<Cell> = Vec::new();
        for state in joined(spec, &self.tables).iter().map(Joined::state) {
            if !state.is_null() && !states.contains(&state) {
                states.push(state);
            }
        }
        Ok(states)
    }

    fn scan(&mut self, spec: &QueueSpec, _wanted: &Wanted, each: &mut dyn FnMut(Claim)) -> Result<(), StoreError> {
        let rows = scrambled(joined(spec, &self.tables));
        rows.iter().filter(|row| row.in_flight()).for_each(|row| each(row.claim()));
        Ok(())
    }

    fn find(&mut self, spec: &QueueSpec, ids: &[String]) -> Result<Vec<Found>, StoreError> {
        let rows = scrambled(joined(spec, &self.tables));
        let wanted = rows.iter().filter(|row| ids.contains(&row.key().to_string()));
        let found = wanted.map(|row| Found {
            claim: row.claim(),
            in_flight: row.in_flight(),
            names: vec![row.key().to_string()],
        });
        Ok(found.collect())
    }

    fn in_flight(&mut self, spec: &QueueSpec) -> Result<u64, StoreError> {
        Ok(joined(spec, &self.tables).iter().filter(|row| row.in_flight()).count() as u64)
    }

    /// One by one, as the contract allows: callers must add them up.
    fn holders(&mut self, spec: &QueueSpec, each: &mut dyn FnMut(Option<Owner>, u64)) -> Result<(), StoreError> {
        let rows = scrambled(joined(spec, &self.tables));
        rows.iter().filter(|row| row.in_flight()).for_each(|row| each(row.claim().owner, 1));
        Ok(())
    }
}
