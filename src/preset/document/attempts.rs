use crate::preset::SpecError;
use crate::preset::fields::{Field, Fields, Written};
use crate::preset::node::Value;
use crate::preset::queue::{Counted, Exhausted, MaxCounts};

#[derive(Debug, Clone)]
pub(in crate::preset) struct AttemptsDoc {
    pub(in crate::preset) column: Option<Written>,
    pub(in crate::preset) max: Option<MaxDoc>,
    pub(in crate::preset) stalls: Option<Written>,
    pub(in crate::preset) counted: Counted,
    pub(in crate::preset) exhausted: Exhausted,
    pub(in crate::preset) max_counts: MaxCounts,
}

#[derive(Debug, Clone)]
pub(in crate::preset) enum MaxDoc {
    Number(i64),
    Column(Written),
}

pub(super) fn attempts(mut fields: Fields<'_>) -> Result<AttemptsDoc, SpecError> {
    let max = match fields.take("max") {
        None => None,
        Some(field) => match field.value() {
            Value::Integer(number) => Some(MaxDoc::Number(*number)),
            _ => Some(MaxDoc::Column(field.written()?)),
        },
    };
    let attempts = AttemptsDoc {
        column: fields.take("column").map(Field::written).transpose()?,
        max,
        stalls: fields.take("stalls").map(Field::written).transpose()?,
        counted: fields.need("counted")?.word(&[
            ("at claim", Counted::AtClaim),
            ("at next claim", Counted::AtNextClaim),
            ("at end", Counted::AtEnd),
            ("on error", Counted::OnError),
            ("at reclaim", Counted::AtReclaim),
            ("not in the table", Counted::NotInTheTable),
        ])?,
        exhausted: fields
            .take("exhausted")
            .map(|field| field.word(&[("fail", Exhausted::Fail), ("leave", Exhausted::Leave)]))
            .transpose()?
            .unwrap_or(Exhausted::Fail),
        max_counts: fields
            .take("max_counts")
            .map(|field| field.word(&[("runs", MaxCounts::Runs), ("retries", MaxCounts::Retries)]))
            .transpose()?
            .unwrap_or(MaxCounts::Runs),
    };
    fields.finish()?;
    Ok(attempts)
}
