//! The reader that is the same on every engine: pages by key, projections into claims.

use super::session::{Session, query_count};
use super::sql::{self, Listing};
use super::{Found, Interrupt, Reader, StoreError, StoreErrorKind, Wanted};
use crate::model::{Cell, Claim, Key, Timestamp};
use crate::spec::{LiveSchema, QueueSpec};

/// Rows a page. Large enough that round trips do not count, small enough that memory stays flat.
const PAGE: usize = 1000;

/// What an engine adds to a [`Session`] so that it can be looked through.
pub(super) trait ReadSession: Session {
    /// See [`Reader::live_schema`].
    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError>;
}

/// See the module.
pub(super) struct SqlReader<S> {
    pub(super) session: S,
    pub(super) now: Timestamp,
    pub(super) interrupt: Interrupt,
}

impl<S: ReadSession> SqlReader<S> {
    fn pages(&mut self, listing: &Listing<'_>, each: &mut dyn FnMut(Claim)) -> Result<(), StoreError> {
        let mut mark: Option<Vec<Cell>> = None;
        loop {
            if self.interrupt.is_raised() {
                return Err(StoreError::new(StoreErrorKind::Interrupted, "interrupted while reading"));
            }
            let (statement, projection) = listing.page(mark.as_deref(), PAGE);
            let rows = self.session.query(&statement)?;
            for row in &rows {
                each(projection.claim(listing.projected(row)).0);
            }
            match rows.last() {
                Some(last) if rows.len() == PAGE => mark = Some(listing.mark(last).to_vec()),
                _ => return Ok(()),
            }
        }
    }
}

impl<S: ReadSession> Reader for SqlReader<S> {
    fn now(&self) -> Timestamp {
        self.now
    }

    fn live_schema(&mut self, names: &[String]) -> Result<LiveSchema, StoreError> {
        self.session.live_schema(names)
    }

    fn ask(&mut self, sql: &str) -> Result<bool, StoreError> {
        let rows = self.session.query(&sql::Statement::plain(sql))?;
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
        listings.iter().try_for_each(|listing| self.pages(listing, each))
    }

    fn find(&mut self, spec: &QueueSpec, ids: &[String]) -> Result<Vec<Found>, StoreError> {
        let keys: Vec<Key> = ids.iter().filter_map(|id| key_of(spec, id)).collect();
        let mut found = Vec::new();
        for chunk in keys.chunks(PAGE) {
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
