use super::template;
use crate::model::HostSpelling;
use crate::preset::SpecError;
use crate::preset::fields::{Field, Fields, Written};
use crate::preset::node::Value;
use crate::preset::queue::Absence;
use crate::preset::template::Template;

#[derive(Debug, Clone, Default)]
pub(in crate::preset) struct OwnerDoc {
    pub(in crate::preset) id: Option<Written>,
    pub(in crate::preset) name: Option<Written>,
    pub(in crate::preset) host: Option<Written>,
    pub(in crate::preset) host_spelling: HostSpelling,
    pub(in crate::preset) table: Option<Written>,
    pub(in crate::preset) matches: Vec<(String, Written)>,
    pub(in crate::preset) on: Option<Template>,
    pub(in crate::preset) key: Option<Written>,
    pub(in crate::preset) heartbeat: Option<Written>,
    pub(in crate::preset) started: Option<Written>,
    pub(in crate::preset) missing: Absence,
    pub(in crate::preset) unset: Absence,
}

const ABSENCES: [(&str, Absence); 3] =
    [("dead", Absence::Dead), ("next", Absence::Next), ("unknown", Absence::Unknown)];

pub(super) fn owner(mut fields: Fields<'_>) -> Result<OwnerDoc, SpecError> {
    let written = |field: Option<Field<'_>>| field.map(Field::written).transpose();
    let owner = OwnerDoc {
        id: written(fields.take("id"))?,
        name: written(fields.take("name"))?,
        host: written(fields.take("host"))?,
        host_spelling: fields.take("host_spelling").map(host_spelling).transpose()?.unwrap_or_default(),
        table: written(fields.take("table"))?,
        matches: match fields.take("match") {
            Some(field) => field
                .table()?
                .rest()
                .into_iter()
                .map(|(column, field)| Ok((column, field.written()?)))
                .collect::<Result<_, SpecError>>()?,
            None => Vec::new(),
        },
        on: fields.take("on").map(template).transpose()?.map(|(_, template)| template),
        key: written(fields.take("key"))?,
        heartbeat: written(fields.take("heartbeat"))?,
        started: written(fields.take("started"))?,
        missing: fields.take("missing").map(|field| field.word(&ABSENCES)).transpose()?.unwrap_or_default(),
        unset: fields.take("unset").map(|field| field.word(&ABSENCES)).transpose()?.unwrap_or_default(),
    };
    match (&owner.table, owner.matches.is_empty() && owner.on.is_none()) {
        (Some(_), true) => return Err(fields.error("an owners' `table` needs `match` or `on`")),
        (None, false) => return Err(fields.error("`match` and `on` need an owners' `table`")),
        (None, true) if owner.heartbeat.is_some() || owner.started.is_some() => {
            return Err(fields.error("`heartbeat` and `started` are columns of an owners' `table`"));
        }
        _ => {}
    }
    if owner.on.is_some() && owner.key.is_none() {
        return Err(fields.error("`on` needs `key`: a column of the owner's row that is never NULL"));
    }
    fields.finish()?;
    Ok(owner)
}

fn host_spelling(field: Field<'_>) -> Result<HostSpelling, SpecError> {
    let mut fields = field.table()?;
    let dot = match fields.take("dot") {
        None => None,
        Some(field) => {
            let written = field.written()?;
            let mut characters = written.text.chars();
            match (characters.next(), characters.next()) {
                (Some(dot), None) => Some(dot),
                _ => return Err(written.error("must be one character, which stands for a dot")),
            }
        }
    };
    let longest = match fields.take("longest") {
        None => None,
        Some(field) => match field.value() {
            Value::Integer(bytes) if *bytes > 0 => usize::try_from(*bytes).ok(),
            _ => return Err(field.error("must be a number of bytes above 0")),
        },
    };
    fields.finish()?;
    Ok(HostSpelling { dot, longest })
}
