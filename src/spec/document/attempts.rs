use crate::spec::SpecError;
use crate::spec::fields::{Field, Fields, Written};
use crate::spec::node::Value;
use crate::spec::queue::{Counted, Exhausted, MaxCounts};

#[derive(Debug, Clone)]
pub(in crate::spec) struct AttemptsDoc {
    pub(in crate::spec) column: Option<Written>,
    pub(in crate::spec) max: Option<MaxDoc>,
    pub(in crate::spec) stalls: Option<Written>,
    pub(in crate::spec) counted: Counted,
    pub(in crate::spec) exhausted: Exhausted,
    pub(in crate::spec) max_counts: MaxCounts,
}

#[derive(Debug, Clone)]
pub(in crate::spec) enum MaxDoc {
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
