//! What is needed to record what was done: the whole row of a job, and the ledger.

use super::Binder;
use crate::preset::queue::*;

impl Binder<'_> {
    /// The columns of the claim's own table, as far as this role may read them.
    pub(super) fn row(&self) -> Vec<Column> {
        let live = self.tables.get(&self.lock_table);
        let columns = live.into_iter().flat_map(|live| &live.columns).filter(|column| column.readable);
        let bound = columns.map(|column| Column {
            alias: self.lock.clone(),
            name: column.name.clone(),
            type_name: column.type_name.clone(),
        });
        bound.collect()
    }

    /// The ledger in the schema of the claim's own table, if there is one.
    pub(super) fn ledger(&self) -> Option<LedgerSpec> {
        let schema = &self.tables.get(&self.lock_table)?.schema;
        let live = self.live.table(Some(schema), LEDGER)?;
        let lacks = LEDGER_COLUMNS.iter().filter(|(name, _)| live.column(name).is_none());
        Some(LedgerSpec {
            table: Table { schema: live.schema.clone(), name: live.name.clone() },
            lacks: lacks.map(|(name, _)| (*name).to_owned()).collect(),
            may_insert: live.may_insert,
            may_read: live.columns.iter().all(|column| column.readable),
        })
    }
}
