use super::template;
use crate::preset::SpecError;
use crate::preset::fields::{Fields, Written};
use crate::preset::template::Template;

/// One `[check.NAME]`.
#[derive(Debug, Clone)]
pub(in crate::preset) struct CheckDoc {
    pub(in crate::preset) name: String,
    pub(in crate::preset) sql: (Written, Template),
    pub(in crate::preset) finds: String,
    pub(in crate::preset) remedy: String,
}

pub(super) fn check(name: String, mut fields: Fields<'_>) -> Result<CheckDoc, SpecError> {
    let check = CheckDoc {
        name,
        sql: template(fields.need("sql")?)?,
        finds: fields.need("finds")?.text()?,
        remedy: fields.need("remedy")?.text()?,
    };
    fields.finish()?;
    Ok(check)
}
