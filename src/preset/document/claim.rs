use super::template;
use crate::model::parse_duration;
use crate::preset::SpecError;
use crate::preset::fields::{Field, Fields, Written};
use crate::preset::queue::Free;
use crate::preset::template::{Template, is_name};
use std::time::Duration;

#[derive(Debug, Clone)]
pub(in crate::preset) struct ClaimDoc {
    pub(in crate::preset) from: ClaimFrom,
    pub(in crate::preset) lock: Option<Written>,
    pub(in crate::preset) key: Vec<Written>,
    pub(in crate::preset) state: Option<Written>,
    pub(in crate::preset) filter: Option<(Written, Template)>,
    pub(in crate::preset) queue: Option<Written>,
    pub(in crate::preset) kind: Option<Written>,
    pub(in crate::preset) claimed_at: Option<Written>,
    pub(in crate::preset) precondition: Vec<Written>,
    pub(in crate::preset) progress: Vec<Written>,
    pub(in crate::preset) optional: Vec<String>,
    pub(in crate::preset) liveness: Vec<LivenessDoc>,
    pub(in crate::preset) guard: Option<(Written, Template)>,
}

#[derive(Debug, Clone)]
pub(in crate::preset) enum ClaimFrom {
    Table(Written),
    From(Written, Template),
}

#[derive(Debug, Clone)]
pub(in crate::preset) struct LivenessDoc {
    pub(in crate::preset) by: By,
    pub(in crate::preset) column: Option<Written>,
    pub(in crate::preset) plus: Option<Written>,
    pub(in crate::preset) silent_after: Option<SilentAfterDoc>,
    pub(in crate::preset) held: Option<(Written, Template)>,
    pub(in crate::preset) free: Option<Free>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::preset) enum By {
    Lease,
    Heartbeat,
    Age,
    Owner,
    Lock,
}

#[derive(Debug, Clone)]
pub(in crate::preset) enum SilentAfterDoc {
    Span(Duration),
    Column(Written),
    Required,
}

pub(super) fn claim(mut fields: Fields<'_>) -> Result<ClaimDoc, SpecError> {
    let from = match (fields.take("table"), fields.take("from")) {
        (Some(table), None) => ClaimFrom::Table(table.written()?),
        (None, Some(from)) => {
            let (written, template) = template(from)?;
            ClaimFrom::From(written, template)
        }
        _ => return Err(fields.error("needs either `table` or `from`, and not both")),
    };
    let written = |field: Option<Field<'_>>| field.map(Field::written).transpose();
    let claim = ClaimDoc {
        from,
        lock: written(fields.take("lock"))?,
        key: fields.need("key")?.all_written()?,
        state: written(fields.take("state"))?,
        filter: fields.take("where").map(template).transpose()?,
        queue: written(fields.take("queue"))?,
        kind: written(fields.take("kind"))?,
        claimed_at: written(fields.take("claimed_at"))?,
        precondition: fields.take("precondition").map(Field::all_written).transpose()?.unwrap_or_default(),
        progress: fields.take("progress").map(Field::all_written).transpose()?.unwrap_or_default(),
        optional: fields.texts("optional")?,
        liveness: match fields.take("liveness") {
            Some(field) => field.items()?.into_iter().map(|item| liveness(item.table()?)).collect::<Result<_, _>>()?,
            None => Vec::new(),
        },
        guard: fields.take("guard").map(template).transpose()?,
    };
    if claim.state.is_none() && claim.filter.is_none() {
        return Err(fields.error("needs `state` or `where`: what makes a row in flight?"));
    }
    fields.finish()?;
    Ok(claim)
}

fn liveness(mut fields: Fields<'_>) -> Result<LivenessDoc, SpecError> {
    let by = fields.need("by")?.word(&[
        ("lease", By::Lease),
        ("heartbeat", By::Heartbeat),
        ("age", By::Age),
        ("owner", By::Owner),
        ("lock", By::Lock),
    ])?;
    let column = fields.take("column").map(Field::written).transpose()?;
    let plus = fields.take("plus").map(Field::written).transpose()?;
    let silent_after = fields.take("silent_after").map(silent_after).transpose()?;
    let held = fields.take("held").map(template).transpose()?;
    let free =
        fields.take("free").map(|field| field.word(&[("dead", Free::Dead), ("next", Free::Next)])).transpose()?;
    let wrong = match by {
        By::Lock if column.is_some() || plus.is_some() || silent_after.is_some() => {
            Some("`lock` takes `held` and `free` only")
        }
        By::Lock if held.is_none() => Some("`held` is missing"),
        By::Lock if free.is_none() => Some("`free` is missing"),
        By::Lease | By::Heartbeat | By::Age | By::Owner if held.is_some() || free.is_some() => {
            Some("`held` and `free` belong to a lock")
        }
        By::Owner if column.is_some() => Some("`owner` takes no `column`; its heartbeat stands in [owner]"),
        By::Lease if silent_after.is_some() => Some("a lease takes no `silent_after`: its end is the threshold"),
        By::Lease | By::Heartbeat | By::Age if column.is_none() => Some("`column` is missing"),
        By::Heartbeat | By::Age | By::Owner if plus.is_some() => Some("`plus` belongs to a lease"),
        By::Heartbeat | By::Age | By::Owner if silent_after.is_none() => Some("`silent_after` is missing"),
        _ => None,
    };
    if let Some(why) = wrong {
        return Err(fields.error(why));
    }
    fields.finish()?;
    Ok(LivenessDoc { by, column, plus, silent_after, held, free })
}

fn silent_after(field: Field<'_>) -> Result<SilentAfterDoc, SpecError> {
    let written = field.written()?;
    if written.text == "required" {
        return Ok(SilentAfterDoc::Required);
    }
    let is_plain = is_name(&written.text.replace('.', "_")) && !written.text.starts_with(|c: char| c.is_numeric());
    if is_plain || written.text.ends_with('"') {
        return Ok(SilentAfterDoc::Column(written));
    }
    parse_duration(&written.text).map(SilentAfterDoc::Span).map_err(|why| written.error(why))
}
