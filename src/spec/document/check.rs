use super::template;
use crate::spec::SpecError;
use crate::spec::fields::{Fields, Written};
use crate::spec::template::Template;

/// One `[check.NAME]`.
#[derive(Debug, Clone)]
pub(in crate::spec) struct CheckDoc {
    pub(in crate::spec) name: String,
    pub(in crate::spec) sql: (Written, Template),
    pub(in crate::spec) finds: String,
    pub(in crate::spec) remedy: String,
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
