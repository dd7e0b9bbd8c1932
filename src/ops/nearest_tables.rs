//! The tables that the operator may have meant, for the errors that no queue or no such table was found.

use crate::model::{Engine, Remedy};
use crate::preset::{Catalog, Place, SpecError, did_you_mean, near_miss, telling_columns};
use crate::store::{Reader, StoreError, catalog};

/// Says more in the error that no queue was recognised; nothing where a table is named.
pub(super) fn with_seen(
    error: SpecError,
    reader: &mut dyn Reader,
    catalog: &Catalog,
    engine: Engine,
    place: &Place,
) -> SpecError {
    if !matches!(error.remedy, Some(Remedy::NameOrMap { .. })) || place.table.is_some() {
        return error;
    }
    // The error is worth more than these names, so that a query which fails changes nothing.
    let columns = reader.texts(&catalog::columns_of_tables(engine, &telling_columns(catalog))).unwrap_or_default();
    near_miss(error, catalog, engine, &columns)
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
