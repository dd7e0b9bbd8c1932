//! Where a queue's tables are, which of their columns this role may read, and the ledger next to them.

use super::{Binder, Place};
use crate::preset::SpecError;
use crate::preset::document::{ClaimFrom, Document};
use crate::preset::live::{LiveSchema, LiveTable};
use crate::preset::probe::Tables;
use crate::preset::queue::{Ignored, LEDGER, LEDGER_COLUMNS, LedgerSpec};
use crate::preset::table_name::meanings;
use crate::preset::template::Column;
use crate::preset::template::Piece;

/// The schema the queue lives in, and each logical table's live counterpart.
pub(in crate::preset) fn physical_tables<'a>(
    document: &Document,
    live: &'a LiveSchema,
    place: &Place,
) -> Result<(String, Tables<'a>), SpecError> {
    let main = match &document.claim.from {
        ClaimFrom::Table(table) => Some(table.text.clone()),
        ClaimFrom::From(from) => from.sql.0.iter().find_map(|piece| match piece {
            Piece::Name(name) => Some(name.clone()),
            _ => None,
        }),
    };
    let physical = |logical: &str, physical: &str| match (&place.table, &main) {
        (Some(table), Some(main)) if main == logical => table.clone(),
        _ => physical.to_owned(),
    };
    let own_schema = document.schema.as_deref().filter(|_| live.engine.has_schemas());
    let explicit = place.schema.as_deref().or(own_schema);
    // Without a word about the schema, the claim's own table decides: the others live where it does.
    let own = main.as_ref().and_then(|main| {
        let named = document.tables.iter().find(|(logical, _)| logical == main);
        let name = named.map_or_else(|| main.clone(), |(logical, name)| physical(logical, name));
        live.table_meant(explicit, &name).map(|table| (name, table))
    });
    let schema = match (explicit, own) {
        (Some(schema), Some((name, table))) if table.schema != schema => {
            let message =
                format!("table `{name}` is in schema {}, and another schema is named: {schema}", table.schema);
            return Err(SpecError::whole(&format!("preset {}", document.name), message));
        }
        (Some(schema), _) => schema.to_owned(),
        (None, own) => own.map_or_else(String::new, |(_, table)| table.schema.clone()),
    };
    let within = (!schema.is_empty()).then_some(schema.as_str());
    let tables = document
        .tables
        .iter()
        .map(|(logical, name)| (logical.clone(), live.table_meant(within, &physical(logical, name))))
        .collect();
    Ok((schema, tables))
}

pub(super) fn missing_table(document: &str, name: &str, live: &LiveSchema, schema: &str) -> SpecError {
    let qualified = meanings(name).into_iter().find_map(|(schema, name)| Some((schema?, name)));
    let (schema, name) = qualified.as_ref().map_or((schema, name), |(schema, name)| (schema.as_str(), name.as_str()));
    let elsewhere = live.schemas_of(name);
    let message = match (elsewhere.as_slice(), schema) {
        ([], "") => format!("there is no table `{name}` in this database"),
        ([], schema) => format!("there is no table `{name}` in schema `{schema}`"),
        (found, "") => format!(
            "table `{name}` is not on the search path; it is in schema {}: say which with --schema; for several, give each a target with its `schema`",
            found.join(", ")
        ),
        (found, schema) => {
            format!("there is no table `{name}` in schema `{schema}`; there is one in schema {}", found.join(", "))
        }
    };
    let missing_table = elsewhere.is_empty().then(|| name.to_owned());
    SpecError { missing_table, ..SpecError::whole(document, message) }
}

/// Why a table that is used because it is there does not count; `None` if it does. Its triggers would run as this role,
/// and its rows would decide, so it must belong to a role that could do both to the queue's own table.
pub(in crate::preset) fn distrusted(table: &LiveTable, own: &LiveTable) -> Option<String> {
    let owner = Some(&table.owner).filter(|owner| !owner.is_empty())?;
    let why = if !table.is_of_trusted_owner && !own.owner_roles.contains(owner) {
        format!("it belongs to role {owner}, which is {STRANGER}")
    } else if table.is_view || table.is_foreign {
        "it is a view or a foreign table".to_owned()
    } else {
        return None;
    };
    Some(ignored(&format!("{}.{}", table.schema, table.name), &why, &own.owner))
}

pub(in crate::preset) const STRANGER: &str = "no superuser, no owner of the queue's table or the database, and no role, Postgres' own aside, of which these or this role are members";

/// The sentence about a table or a function that is there and does not count.
pub(in crate::preset) fn ignored(name: &str, why: &str, maker: &str) -> String {
    format!("{name} is ignored: {why}; drop or rename it, and have role {maker} make it, if it is wanted")
}

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

    /// The ledger in the schema of the claim's own table, if there is one that counts.
    pub(super) fn ledger(&self, ignored: &mut Ignored) -> Option<LedgerSpec> {
        let own = self.tables.get(&self.lock_table)?;
        let live = self.live.table(Some(&own.schema), LEDGER)?;
        if let Some(why) = distrusted(live, own) {
            ignored.insert(LEDGER.to_owned(), why);
            return None;
        }
        let lacks = LEDGER_COLUMNS.iter().filter(|(name, _)| live.column(name).is_none());
        Some(LedgerSpec {
            table: live.place(),
            lacks: lacks.map(|(name, _)| (*name).to_owned()).collect(),
            may_insert: live.may_insert,
            may_read: live.columns.iter().all(|column| column.readable),
        })
    }
}
