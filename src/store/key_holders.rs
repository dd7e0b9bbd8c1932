//! Finds the rows that keep jobs from the unique key which an action would write.

use super::session::Session;
use super::{StoreError, sql};
use crate::model::{Cell, Engine, Key, RowError, Timestamp};
use crate::preset::{ActionSpec, QueueSpec};

/// The jobs, by their place among the keys, whose rows the action cannot write because a row that is there holds a
/// unique key already; each with the refusal that the database would give, naming that row. Only the keys of `refusals`
/// are looked at, if there are any.
pub(super) fn key_holders<S: Session>(
    session: &mut S,
    spec: &QueueSpec,
    action: &ActionSpec,
    keys: &[&Key],
    refusals: &[RowError],
    (now, reason): (Timestamp, &str),
) -> Result<Vec<(usize, RowError)>, StoreError> {
    let mut found = Vec::new();
    let dialect = session.dialect();
    let Some(statement) = sql::unique_keys(spec, dialect).filter(|_| !keys.is_empty()) else { return Ok(found) };
    let code = match dialect.engine() {
        Engine::Postgres => "23505",
        Engine::Sqlite => "SQLITE_CONSTRAINT_UNIQUE",
    };
    let rows = session.query(&statement)?;
    for index in rows.iter().filter_map(|row| sql::unique_key(spec, dialect, action, row)) {
        let mut of_index = refusals.iter().filter(|refusal| refusal.constraint.as_ref() == Some(&index.constraint));
        if !refusals.is_empty() && of_index.next().is_none() {
            continue;
        }
        for row in session.query(&sql::key_holders(spec, dialect, action, &index, keys, (now, reason)))? {
            let [Cell::Integer(n), holder @ ..] = row.as_slice() else { continue };
            let message = format!("job {} has its unique key already", Key(holder.to_vec()));
            let (sqlstate, constraint) = (Some(code.to_owned()), Some(index.constraint.clone()));
            let place = usize::try_from(*n).ok().and_then(|n| n.checked_sub(1));
            found.extend(place.map(|place| (place, RowError { sqlstate, constraint, message })));
        }
    }
    Ok(found)
}
