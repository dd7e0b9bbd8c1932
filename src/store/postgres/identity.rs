use super::session::PostgresSession;
use crate::model::Cell;
use crate::store::StoreError;
use crate::store::session::Session;
use crate::store::sql::Statement;

/// Asked first, because a refusal would end the transaction of the snapshot.
const MAY_ASK: &str = "SELECT pg_catalog.has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE')";
/// The number that a cluster gets when it is made, which its standbys share: a failover changes nothing about it.
const CLUSTER: &str = "SELECT system_identifier::text || '/' || pg_catalog.current_database() \
    FROM pg_catalog.pg_control_system()";

/// The cluster and the database in it; `None` where this role may not ask.
pub(super) fn identity(session: &mut PostgresSession) -> Result<Option<String>, StoreError> {
    let may = session.query(&Statement::plain(MAY_ASK))?;
    if may.first().and_then(|row| row.first()) != Some(&Cell::Integer(1)) {
        return Ok(None);
    }
    let rows = session.query(&Statement::plain(CLUSTER))?;
    Ok(rows.first().and_then(|row| row.first()).and_then(Cell::to_text))
}
