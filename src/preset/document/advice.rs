use crate::preset::SpecError;
use crate::preset::fields::{Field, Fields};

/// The library's own remedy, for people who would rather use that: `[advice]`. It is printed and never run.
#[derive(Debug, Clone)]
pub(in crate::preset) struct AdviceDoc {
    pub(in crate::preset) text: Option<String>,
    pub(in crate::preset) sql: Option<String>,
}

pub(super) fn advice(mut fields: Fields<'_>) -> Result<AdviceDoc, SpecError> {
    let advice = AdviceDoc { text: fields.text("text")?, sql: fields.text("sql")? };
    if advice.text.is_none() && advice.sql.is_none() {
        return Err(fields.error("needs `text`, `sql` or both"));
    }
    fields.finish()?;
    Ok(advice)
}

/// What becomes of columns that actions set to expressions, in plain words: `[words]`.
pub(super) fn words(field: Option<Field<'_>>) -> Result<Vec<(String, String)>, SpecError> {
    field.map(Field::text_table).transpose().map(Option::unwrap_or_default)
}
