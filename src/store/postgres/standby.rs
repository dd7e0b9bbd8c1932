use super::session::PostgresSession;
use crate::model::{Cell, Timestamp};
use crate::store::session::Session;
use crate::store::sql::Statement;
use crate::store::{Standby, StoreError};
use std::time::Duration;

/// Whether it is one, when the last transaction it has replayed was committed, and whether it has replayed all that it has
/// been sent by a primary that still sends, as far as the role may see that: a receiver asks for a sign of life when it has
/// heard nothing for half a minute. The last alone means that it is up to date: an idle primary commits nothing for
/// hours.
const QUESTION: &str = "SELECT pg_catalog.pg_is_in_recovery(), \
    CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_last_xact_replay_timestamp() END, \
    CASE WHEN pg_catalog.pg_is_in_recovery() \
    THEN pg_catalog.pg_last_wal_receive_lsn() = pg_catalog.pg_last_wal_replay_lsn() \
    AND EXISTS (SELECT FROM pg_catalog.pg_stat_wal_receiver WHERE status IS NULL \
    OR status = 'streaming' AND last_msg_receipt_time > pg_catalog.clock_timestamp() - interval '1 minute') END";

/// What a server says of itself; `None` if it is no standby.
pub(super) fn ask(session: &mut PostgresSession, now: Timestamp) -> Result<Option<Standby>, StoreError> {
    let rows = session.query(&Statement::plain(QUESTION))?;
    let Some([Cell::Integer(1), replayed, follows]) = rows.first().map(Vec::as_slice) else { return Ok(None) };
    if *follows == Cell::Integer(1) {
        return Ok(Some(Standby { lag: Some(Duration::ZERO) }));
    }
    let replayed = match replayed {
        Cell::Instant(micros) => Timestamp::from_micros(*micros),
        _ => None,
    };
    Ok(Some(Standby { lag: replayed.map(|replayed| now.since(replayed)) }))
}
