//! The reader that is the same on every engine: streams of rows, projections into claims.

use super::session::{Session, query_count};
use super::sql::{self, Statement};
use super::{Found, Interrupt, Reader, Standby, StoreError, StoreErrorKind, Wanted};
use crate::model::{Cell, Claim, Key, Timestamp};
use crate::spec::{LiveSchema, QueueSpec};
use std::ops::ControlFlow;

/// Ids looked up in one statement.
const LOOKUP: usize = 1000;

/// What is done with each row of a stream.
pub(super) type Each<'a> = &'a mut dyn FnMut(&[Cell]) -> ControlFlow<()>;

/// What an engine adds to a [`Session`] so that it can be looked through.
pub(super) trait ReadSession: Session {
    /// Runs a statement and hands over its rows as they come, without keeping them, until it is told to stop.
    fn stream(&mut self, statement: &Statement, each: Each<'_>) -> Result<(), StoreError>;

    /// See [`Reader::live_schema`].
    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError>;
}

/// See the module.
pub(super) struct SqlReader<S> {
    pub(super) session: S,
    pub(super) now: Timestamp,
    pub(super) standby: Option<Standby>,
    pub(super) label: Option<String>,
    pub(super) interrupt: Interrupt,
}

impl<S: ReadSession> Reader for SqlReader<S> {
    fn now(&self) -> Timestamp {
        self.now
    }

    fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    fn standby(&self) -> Option<Standby> {
        self.standby
    }

    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError> {
        self.session.live_schema(names)
    }

    fn ask(&mut self, sql: &str) -> Result<bool, StoreError> {
        let rows = self.session.query(&Statement::plain(sql))?;
        let answer = rows.first().and_then(|row| row.first());
        Ok(!matches!(answer, None | Some(Cell::Null | Cell::Integer(0))))
    }

    fn states_in_use(&mut self, spec: &QueueSpec) -> Result<Vec<Cell>, StoreError> {
        let Some(statement) = sql::states_in_use(spec, self.session.dialect()) else { return Ok(Vec::new()) };
        Ok(self.session.query(&statement)?.into_iter().filter_map(|row| row.into_iter().next()).collect())
    }

    fn scan(&mut self, spec: &QueueSpec, wanted: &Wanted, each: &mut dyn FnMut(Claim)) -> Result<(), StoreError> {
        let dialect = self.session.dialect();
        let listings = match wanted {
            Wanted::All => sql::all(spec, dialect),
            Wanted::Suspects(cutoffs) => sql::suspects(spec, dialect, cutoffs),
        };
        for listing in &listings {
            let interrupt = self.interrupt.clone();
            self.session.stream(&listing.statement, &mut |row| {
                each(listing.projection.claim(row).0);
                if interrupt.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            if self.interrupt.is_raised() {
                return Err(StoreError::new(StoreErrorKind::Interrupted, "interrupted while reading"));
            }
        }
        Ok(())
    }

    fn find(&mut self, spec: &QueueSpec, ids: &[String]) -> Result<Vec<Found>, StoreError> {
        let keys: Vec<Key> = ids.iter().filter_map(|id| key_of(spec, id)).collect();
        let mut found = Vec::new();
        for chunk in keys.chunks(LOOKUP) {
            let keys: Vec<&Key> = chunk.iter().collect();
            let (statement, projection) = sql::find(spec, self.session.dialect(), &keys);
            for row in self.session.query(&statement)? {
                let (claim, in_flight) = projection.claim(&row);
                found.push(Found { claim, in_flight });
            }
        }
        Ok(found)
    }

    fn in_flight(&mut self, spec: &QueueSpec) -> Result<u64, StoreError> {
        let statement = sql::count(spec, self.session.dialect());
        query_count(&mut self.session, &statement)
    }
}

/// The key that an id from outside names; `None` if it cannot be one, so that no database is asked to cast it.
fn key_of(spec: &QueueSpec, id: &str) -> Option<Key> {
    let columns = &spec.claim.key;
    let parts: Vec<&str> = if columns.len() == 1 { vec![id] } else { id.splitn(columns.len(), '/').collect() };
    if parts.len() != columns.len() {
        return None;
    }
    let cells = columns.iter().zip(parts).map(|(column, part)| {
        let base = column.type_name.split('(').next().unwrap_or_default().trim();
        match base {
            "smallint" => part.parse::<i16>().ok().map(|n| Cell::Integer(n.into())),
            "integer" if spec.engine == crate::model::Engine::Postgres => {
                part.parse::<i32>().ok().map(|n| Cell::Integer(n.into()))
            }
            "bigint" | "integer" | "int" => match part.parse::<i64>() {
                Ok(number) => Some(Cell::Integer(number)),
                // SQLite keeps whatever was put into an integer column.
                Err(_) if spec.engine == crate::model::Engine::Sqlite => Some(Cell::Text(part.to_owned())),
                Err(_) => None,
            },
            "uuid" => is_uuid(part).then(|| Cell::Text(part.to_owned())),
            _ => Some(Cell::Text(part.to_owned())),
        }
    });
    cells.collect::<Option<Vec<Cell>>>().map(Key)
}

fn is_uuid(text: &str) -> bool {
    let digits = text.chars().filter(|c| c.is_ascii_hexdigit()).count();
    digits == 32 && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
}
