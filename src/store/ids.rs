//! Looks up jobs by ids that an operator typed: which keys an id may mean, and which jobs have them.

use super::port::Found;
use super::reader::{LOOKUP, SqlReader};
use super::session::ReadSession;
use super::{StoreError, StoreErrorKind, sql};
use crate::model::{Cell, Claim, Engine, Key, read_id, unhex};
use crate::preset::{Column, Jobs};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// 2^53: from here on floating point numbers do not hold every integer.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl<S: ReadSession> SqlReader<S> {
    pub(super) fn find_ids(&mut self, jobs: &Jobs, ids: &[String]) -> Result<Vec<Found>, StoreError> {
        let meant = self.keys_meant(jobs, ids)?;
        let mut named: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut keys: Vec<Key> = Vec::new();
        for (key, id) in meant {
            let names = named.entry(key.exact()).or_default();
            if names.is_empty() {
                keys.push(key);
            }
            if !names.contains(id) {
                names.push(id.clone());
            }
        }
        let mut found: Vec<Found> = (self.rows_of(jobs, &keys)?.into_iter())
            .map(|(claim, in_flight)| {
                let names = named.get(&claim.key.exact()).cloned().unwrap_or_default();
                Found { claim, in_flight, names }
            })
            .collect();
        // An id means the job that is printed like that. Only if there is none, it means a job with that as another
        // spelling; a quoted id has no other.
        let printed: BTreeSet<String> = found.iter().map(|found| found.claim.key.to_string()).collect();
        let columns = jobs.claim.key.len();
        for Found { claim, names, .. } in &mut found {
            let id = claim.key.to_string();
            names.retain(|name| *name == id || !(printed.contains(name) || is_quoted(name, columns)));
        }
        found.retain(|found| !found.names.is_empty());
        Ok(found)
    }

    /// The keys that these ids may mean, each with its id.
    fn keys_meant<'i>(&mut self, jobs: &Jobs, ids: &'i [String]) -> Result<Vec<(Key, &'i String)>, StoreError> {
        let engine = self.session.dialect().engine();
        let columns = &jobs.claim.key;
        let keys = ids.iter().flat_map(|id| keys_of(engine, columns, id).into_iter().map(move |key| (key, id)));
        let meant: Vec<_> = keys.collect();
        if engine == Engine::Sqlite || columns.iter().all(|column| read_by_server(column).is_none()) {
            return Ok(meant);
        }
        let mut read = Vec::new();
        for chunk in meant.chunks(LOOKUP) {
            self.read_by_server(columns, chunk, &mut read)?;
        }
        Ok(read)
    }

    /// Has the server read keys of a type that only it can read. A text that is no value of its type fails the whole
    /// statement, so the halves are then tried.
    fn read_by_server<'i>(
        &mut self,
        columns: &[Column],
        keys: &[(Key, &'i String)],
        read: &mut Vec<(Key, &'i String)>,
    ) -> Result<(), StoreError> {
        let statement = sql::canonical(columns, keys.iter().map(|(key, _)| key));
        match self.within(Duration::MAX, |reader| reader.session.query(&statement)) {
            Err(error) if error.kind == StoreErrorKind::RowData => {
                let half = keys.len() / 2;
                let (first, second) = keys.split_at(half);
                if half > 0 {
                    self.read_by_server(columns, first, read)?;
                    self.read_by_server(columns, second, read)?;
                }
                Ok(())
            }
            Err(error) => Err(error),
            Ok(rows) => {
                for row in rows {
                    let Some((Cell::Integer(n), cells)) = row.split_first() else { continue };
                    let key = usize::try_from(n - 1).ok().and_then(|n| keys.get(n));
                    read.extend(key.map(|(_, id)| (Key(cells.to_vec()), *id)));
                }
                Ok(())
            }
        }
    }

    pub(super) fn rows_of(&mut self, jobs: &Jobs, keys: &[Key]) -> Result<Vec<(Claim, bool)>, StoreError> {
        let mut found = Vec::new();
        for chunk in keys.chunks(LOOKUP) {
            let keys: Vec<&Key> = chunk.iter().collect();
            let (statement, projection) = sql::find(jobs, self.session.dialect(), &keys);
            let mut rows = self.session.query(&statement)?;
            let claims = rows.iter_mut().map(|row| projection.claim(row));
            // A collation or an affinity may match another key, which may be in another chunk.
            let wanted: BTreeSet<String> = chunk.iter().map(Key::exact).collect();
            found.extend(claims.filter(|(claim, _)| wanted.contains(&claim.key.exact())));
            self.check_interrupt()?;
        }
        Ok(found)
    }
}

fn is_quoted(id: &str, columns: usize) -> bool {
    id.contains('"') && read_id(id, columns).is_some()
}

/// The keys that an id may mean, spelled as the database gives them; none if it cannot be a key. A value may hold the
/// slash that separates the columns, so every way to split an id that is typed without quotes counts.
fn keys_of(engine: Engine, columns: &[Column], id: &str) -> Vec<Key> {
    let parts = read_id(id, columns.len()).filter(|_| id.contains('"'));
    let splits = parts.map_or_else(|| splits(id, columns.len()), |parts| vec![parts]);
    let keys = splits.iter().flat_map(|parts| {
        columns.iter().zip(parts).fold(vec![Vec::new()], |keys: Vec<Vec<Cell>>, (column, part)| {
            let cells = cells_of(engine, column, part);
            keys.iter()
                .flat_map(|key| cells.iter().map(|cell| [key.as_slice(), std::slice::from_ref(cell)].concat()))
                .collect()
        })
    });
    keys.map(Key).collect()
}

/// Every way to split an id at slashes into so many parts.
fn splits(id: &str, columns: usize) -> Vec<Vec<String>> {
    if columns < 2 {
        return if columns == 0 { Vec::new() } else { vec![vec![id.to_owned()]] };
    }
    let cuts = id.match_indices('/').filter_map(|(at, _)| Some((id.get(..at)?, id.get(at + 1..)?)));
    let splits = cuts.flat_map(|(first, rest)| {
        splits(rest, columns - 1).into_iter().map(move |rest| [vec![first.to_owned()], rest].concat())
    });
    splits.collect()
}

fn cells_of(engine: Engine, column: &Column, part: &str) -> Vec<Cell> {
    match engine {
        Engine::Sqlite => stored(part),
        Engine::Postgres => spelled(column, part).into_iter().map(Cell::Text).collect(),
    }
}

/// SQLite keeps values of any type in most columns, so an id may mean every value with that spelling.
fn stored(part: &str) -> Vec<Cell> {
    let trimmed = part.trim();
    let mut cells = vec![Cell::Text(part.to_owned())];
    cells.extend((trimmed != part).then(|| Cell::Text(trimmed.to_owned())));
    let integer = trimmed.parse::<i64>().ok();
    let real = trimmed.parse::<f64>().ok().filter(|real| real.is_finite() || matches!(trimmed, "inf" | "-inf"));
    let is_exact = |real: &f64| real.abs() < EXACT;
    let whole = real.filter(|real| is_exact(real) && real.fract() == 0.0);
    cells.extend(integer.or_else(|| format!("{:.0}", whole?).parse().ok()).map(Cell::Integer));
    cells.extend(real.filter(|real| integer.is_none() || is_exact(real)).map(Cell::Real));
    let bytes = unhex(trimmed).or_else(|| unhex(&uuid(trimmed)?.replace('-', "")));
    if let Some(bytes) = bytes {
        if std::str::from_utf8(&bytes).is_err() {
            cells.push(Cell::BrokenText(bytes.clone()));
        }
        cells.push(Cell::Bytes(bytes));
    }
    cells
}

/// On Postgres a column has one type, and its values are read as text.
fn spelled(column: &Column, part: &str) -> Vec<String> {
    let trimmed = part.trim();
    match column.type_name.as_str() {
        // No text on Postgres has a NUL.
        _ if part.contains('\0') => Vec::new(),
        "smallint" => trimmed.parse::<i16>().map(|n| n.to_string()).into_iter().collect(),
        "integer" => trimmed.parse::<i32>().map(|n| n.to_string()).into_iter().collect(),
        "bigint" => trimmed.parse::<i64>().map(|n| n.to_string()).into_iter().collect(),
        "uuid" => uuid(trimmed).into_iter().collect(),
        _ if trimmed == part => vec![part.to_owned()],
        _ => vec![part.to_owned(), trimmed.to_owned()],
    }
}

/// The type to cast an id to if only the server can read it: the column's type without length or precision, to which a
/// cast would silently truncate. `None` for text columns and those that [`spelled`] reads.
pub(super) fn read_by_server(column: &Column) -> Option<String> {
    let name = column.type_name.as_str();
    let bare = match (name.find('('), name.find(')')) {
        (Some(begin), Some(end)) if !name.contains('"') => format!("{}{}", name.get(..begin)?, name.get(end + 1..)?),
        _ => name.to_owned(),
    };
    match bare.as_str() {
        "" | "smallint" | "integer" | "bigint" | "uuid" => None,
        "text" | "character varying" | "character" | "bpchar" | "name" | "\"char\"" => None,
        "bit" => Some("bit varying".to_owned()),
        _ => Some(bare),
    }
}

/// A UUID as Postgres writes it, in lower case with four hyphens. Accepts capitals, no hyphens, braces, and a URN.
fn uuid(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let bare = lower.strip_prefix("urn:uuid:").unwrap_or(&lower);
    let bare = bare.strip_prefix('{').and_then(|bare| bare.strip_suffix('}')).unwrap_or(bare);
    let digits = bare.replace('-', "");
    if digits.len() != 32 || !digits.chars().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    let parts: Vec<&str> =
        [0..8, 8..12, 12..16, 16..20, 20..32].into_iter().filter_map(|part| digits.get(part)).collect();
    let uuid = parts.join("-");
    (bare.len() == 32 || bare == uuid).then_some(uuid)
}
