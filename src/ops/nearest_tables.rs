//! The tables that the operator may have meant, for the errors that no queue or no such table was found.

use crate::model::{Engine, Remedy};
use crate::preset::{Catalog, Place, SpecError, candidates, did_you_mean, known, renamed, tables_of, telling_columns};
use crate::store::{Reader, StoreError, catalog};

/// Says more in the error that no queue was recognised: a known queue under other names, a product that is known and
/// cannot be helped, else the tables that look like a queue; nothing where a table is named.
pub(super) fn with_seen(
    mut error: SpecError,
    reader: &mut dyn Reader,
    catalog: &Catalog,
    engine: Engine,
    place: &Place,
) -> SpecError {
    let Some(Remedy::NameOrMap { has_nearest }) = error.remedy else { return error };
    if place.table.is_some() {
        return error;
    }
    // The error is worth more than these names, so that a query which fails changes nothing.
    let columns = reader.texts(&catalog::columns_of_tables(engine, &telling_columns(catalog))).unwrap_or_default();
    let tables = tables_of(&columns);
    if let Some(product) = known(&tables) {
        error.message = format!("no known queue was recognised; {product}");
    } else if let Some(renamed) = renamed(catalog, engine, &tables) {
        return renamed;
    } else if !has_nearest {
        let tables = candidates(&columns);
        if !tables.is_empty() {
            error.message.push_str(&format!(". Tables that look like a queue: {}", tables.join(", ")));
        }
    }
    error
}

/// The error with a suggestion where a table is missing and one of a similar name is there.
pub(super) fn with_near_miss(
    reader: &mut dyn Reader,
    engine: Engine,
    mut error: SpecError,
) -> Result<SpecError, StoreError> {
    if let Some(missing) = &error.missing_table {
        let known: Vec<String> = reader.texts(catalog::all_tables(engine))?.into_iter().flatten().collect();
        error.message.push_str(&suggestion(&known, missing));
    }
    Ok(error)
}

/// Suggests the table that is spelled in another case, or else a similar one.
pub(super) fn suggestion(known: &[String], written: &str) -> String {
    match known.iter().find(|name| name.to_lowercase() == written.to_lowercase()) {
        Some(name) => format!(", did you mean `{name}`?"),
        None => did_you_mean(written, known.iter().map(String::as_str)),
    }
}
