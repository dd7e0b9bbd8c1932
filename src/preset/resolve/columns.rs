//! Names looked up in the catalog: where a queue's tables are, which columns they have, and how times are spelled there.

use super::fragments::Within;
use super::{Binder, Place};
use crate::model::Engine;
use crate::preset::document::Document;
use crate::preset::encoding::{Encoding, Encodings};
use crate::preset::field::Written;
use crate::preset::ident::{meanings, unquoted};
use crate::preset::lex::is_name;
use crate::preset::live::{LiveSchema, LiveTable};
use crate::preset::queue::*;
use crate::preset::template::Template;
use crate::preset::{SpecError, TableInError, did_you_mean};
use std::collections::BTreeMap;

/// The tables of a document: live ones by logical name, absent ones as `None`.
pub(in crate::preset) type Tables<'a> = BTreeMap<String, Option<&'a LiveTable>>;

impl Binder<'_> {
    pub(super) fn natural(&self) -> Option<Encodings> {
        self.live.engine.has_strict_types().then(|| Encodings::new(Encoding::Native(None), Vec::new()))
    }

    pub(super) fn optional_time(&self, time: &Option<Written>, alias: &str) -> Result<Option<TimeColumn>, SpecError> {
        time.as_ref().map_or(Ok(None), |time| self.time(time, alias))
    }

    /// A column that holds an instant; `None` for an optional one that this table lacks.
    pub(super) fn time(&self, written: &Written, alias: &str) -> Result<Option<TimeColumn>, SpecError> {
        match self.expr(written, alias)? {
            None => Ok(None),
            Some(Expr::Sql(sql)) => {
                let encodings = self.document.time.columns.get(&written.text).cloned().ok_or_else(|| {
                    written.error(
                        "a time must be a column, or an expression that [time] has under the very same text with its encoding; no index \
                         serves one",
                    )
                })?;
                // Nothing tells whether a bare `native` is one with time zone.
                let encodings =
                    if encodings.is_text() { encodings.in_zone(self.document.time_zone.as_ref()) } else { encodings };
                let column = Column::expression(&sql)
                    .ok_or_else(|| written.error("a time that is an expression cannot name tables or markers"))?;
                let sentinels = self.document.time.sentinels.get(&written.text).cloned().unwrap_or_default();
                Ok(Some(TimeColumn { column, encodings, sentinels }))
            }
            Some(Expr::Column(column)) => {
                let encodings = self.encodings(written, &column)?;
                let sentinels = self.document.time.sentinels.get(&column.name).cloned().unwrap_or_default();
                Ok(Some(TimeColumn { column, encodings, sentinels }))
            }
        }
    }

    pub(super) fn encodings(&self, written: &Written, column: &Column) -> Result<Encodings, SpecError> {
        let times = &self.document.time;
        let found = times
            .columns
            .get(&format!("{}.{}", column.alias, column.name))
            .or_else(|| times.columns.get(&column.name))
            .or(times.default.as_ref())
            .cloned()
            .or_else(|| self.natural())
            .ok_or_else(|| written.error(format!("[time] does not say how `{}` is spelled", column.name)))?;
        let found = found.in_zone(self.document.time_zone.as_ref());
        if self.live.engine.has_strict_types()
            && let Some(why) = misfit(&found, &column.type_name)
        {
            let why = format!("`{}` is {}, and [time] says {found}: {why}", column.name, column.type_name);
            return Err(written.error(why));
        }
        if column.type_name.contains("with time zone") {
            // A zone is a declaration for zone-less columns; this one knows its instants.
            return Ok(Encodings::new(Encoding::Native(None), Vec::new()));
        }
        Ok(found)
    }

    pub(super) fn optional_expr(&self, written: &Option<Written>) -> Result<Option<Expr>, SpecError> {
        written.as_ref().map_or(Ok(None), |written| self.expr(written, &self.lock))
    }

    /// A column or an expression; `None` for an optional column that this table lacks.
    pub(super) fn expr(&self, written: &Written, alias: &str) -> Result<Option<Expr>, SpecError> {
        if self.column_of(&written.text, alias).is_some() {
            return Ok(self.column(written, alias)?.map(Expr::Column));
        }
        let template = Template::parse(&written.text).map_err(|why| written.error(why))?;
        self.expand(written, &template, Within::Snapshot).map(|sql| Some(Expr::Sql(sql)))
    }

    pub(super) fn column(&self, written: &Written, alias: &str) -> Result<Option<Column>, SpecError> {
        let Some((alias, name)) = self.column_of(&written.text, alias) else {
            return Err(written.error(format!("must be a column, and `{}` is an expression", written.text)));
        };
        match self.lookup(&alias, &name) {
            Some(column) => Ok(Some(column)),
            None if self.is_optional(&name) => Ok(None),
            None => Err(self.no_column(written, &alias, &name)),
        }
    }

    /// A column that holds a number of seconds.
    pub(super) fn seconds(&self, written: &Written) -> Result<Option<Column>, SpecError> {
        let column = self.column(written, &self.lock)?;
        let is_number =
            |type_name: &str| is_integer(type_name) || ["", "real", "double precision"].contains(&type_name);
        match column {
            Some(column) if self.live.engine.has_strict_types() && !is_number(&column.type_name) => {
                Err(written.error(format!("must be a number of seconds, and is {}", column.type_name)))
            }
            column => Ok(column),
        }
    }

    /// Alias and name, if the text is a column and not an expression: a plain name, the exact name of a column of the
    /// alias's table whatever characters it has, or a name in double quotes as SQL has it; each with another alias and
    /// a dot before it.
    fn column_of(&self, text: &str, alias: &str) -> Option<(String, String)> {
        if !["true", "false", "null"].contains(&text.to_lowercase().as_str())
            && (is_name(text) || self.has_column(alias, text))
        {
            return Some((alias.to_owned(), text.to_owned()));
        }
        if let Some(name) = unquoted(text) {
            return Some((alias.to_owned(), name));
        }
        let (alias, name) = text.split_once('.')?;
        let alias = unquoted(alias).or_else(|| is_name(alias).then(|| alias.to_owned()))?;
        let is_plain = is_name(name) || self.has_column(&alias, name);
        let name = if is_plain { name.to_owned() } else { unquoted(name)? };
        Some((alias, name))
    }

    fn has_column(&self, alias: &str, name: &str) -> bool {
        self.table_of(alias).is_some_and(|table| table.column(name).is_some())
    }

    /// A column's name where only a column of that alias can be meant: as it stands, or in double quotes.
    pub(super) fn name_of(&self, alias: &str, text: &str) -> String {
        let quoted = || unquoted(text).filter(|_| !self.has_column(alias, text));
        quoted().unwrap_or_else(|| text.to_owned())
    }

    pub(super) fn is_optional(&self, column: &str) -> bool {
        self.view.claim.optional.iter().any(|optional| optional == column)
    }

    pub(super) fn lookup(&self, alias: &str, name: &str) -> Option<Column> {
        let type_name = match self.aliases.get(alias)? {
            Some(table) => table.column(name)?.type_name.clone(),
            None => String::new(),
        };
        Some(Column { alias: alias.to_owned(), name: name.to_owned(), type_name })
    }

    pub(super) fn no_column(&self, written: &Written, alias: &str, name: &str) -> SpecError {
        match self.table_of(alias) {
            Some(table) => {
                let hint = did_you_mean(name, table.columns.iter().map(|column| column.name.as_str()));
                written.error(format!("table {} has no column `{name}`{hint}", table.name))
            }
            None => written.error(format!("`{alias}.{name}`: there is no such alias")),
        }
    }
}

/// A quoted literal's text, if the whole of it is one.
pub(super) fn literal(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    (!inner.contains('\'')).then_some(inner)
}

/// Whether a Postgres column of that type holds whole numbers and nothing else.
pub(super) fn is_integer(type_name: &str) -> bool {
    let without_fraction = || type_name.strip_prefix("numeric(").is_some_and(|sizes| sizes.ends_with(",0)"));
    ["smallint", "integer", "bigint"].contains(&type_name) || without_fraction()
}

/// False where integers cannot be stored in such a column, or SQLite makes texts of them.
pub(super) fn may_hold_integers(engine: Engine, type_name: &str) -> bool {
    if engine.has_strict_types() {
        // A numeric without a scale keeps whole numbers whole; what has a fraction is found when it is read.
        return ["", "numeric"].contains(&type_name) || is_integer(type_name);
    }
    let name = type_name.to_lowercase();
    name.contains("int") || !["char", "clob", "text"].iter().any(|text| name.contains(text))
}

/// Why a Postgres column of that type cannot be spelled like that, if so. Unknown types are left to the reading.
fn misfit(encodings: &Encodings, type_name: &str) -> Option<&'static str> {
    let base = type_name.split('(').next().unwrap_or_default();
    let zoned = type_name.contains("with time zone");
    let zoneless = type_name.contains("without time zone");
    let integer = is_integer(type_name);
    // Four bytes hold the seconds of these days in steps of two minutes.
    let float = ["double precision", "numeric"].contains(&base);
    let text = ["text", "character varying", "character"].contains(&base);
    if !(zoned || zoneless || integer || float || text) {
        return (!type_name.is_empty()).then_some("that type holds no instants");
    }
    let fits = encodings.iter().any(|encoding| match encoding {
        Encoding::Native(None) => zoned,
        Encoding::Native(Some(_)) => zoned || zoneless,
        Encoding::Epoch(_) => integer || type_name == "numeric",
        Encoding::EpochFloat => float || integer,
        Encoding::Text(_) => text,
    });
    match (fits, zoneless) {
        (true, _) => None,
        (false, true) => Some("name the zone that its times are in with `time_zone`, or as in `native utc`"),
        (false, false) => Some("the two do not fit"),
    }
}

/// The schema the queue lives in, and each logical table's live counterpart.
pub(in crate::preset) fn physical_tables<'a>(
    document: &Document,
    live: &'a LiveSchema,
    place: &Place,
) -> Result<(String, Tables<'a>), SpecError> {
    let main = document.claim.from.sql.names().next().cloned();
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
        .chain(&document.waiting.tables)
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
            "table `{name}` is not on the search path; it is in schema {}: name it with --schema; for several, give each a target with its `schema`",
            found.join(", ")
        ),
        (found, schema) => {
            format!("there is no table `{name}` in schema `{schema}`; there is one in schema {}", found.join(", "))
        }
    };
    let table = elsewhere.is_empty().then(|| Box::new(TableInError::Missing(name.to_owned())));
    SpecError { table, ..SpecError::whole(document, message) }
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
        let columns = self.own.columns.iter().filter(|column| column.readable);
        columns.filter_map(|column| self.lookup(&self.lock, &column.name)).collect()
    }

    /// The ledger in the schema of the claim's own table, if there is one that counts.
    pub(super) fn ledger(&self, ignored: &mut Ignored) -> Option<LedgerSpec> {
        let live = self.live.table(Some(&self.own.schema), LEDGER)?;
        if let Some(why) = distrusted(live, self.own) {
            ignored.insert(LEDGER.to_owned(), why);
            return None;
        }
        let lacks = LEDGER_COLUMNS.iter().filter(|(name, _)| live.column(name).is_none());
        Some(LedgerSpec {
            engine: self.live.engine,
            table: live.place(),
            lacks: lacks.map(|(name, _)| (*name).to_owned()).collect(),
            may_insert: live.may_insert,
            may_read: live.columns.iter().all(|column| column.readable),
        })
    }
}
