use crate::model::parse_duration;
use crate::preset::SpecError;
use crate::preset::fields::{Field, Fields, Written};
use std::time::Duration;

#[derive(Debug, Clone, Default)]
pub(in crate::preset) struct RulesDoc {
    pub(in crate::preset) deadline: Option<Written>,
    pub(in crate::preset) cancel_requested: Option<Written>,
    pub(in crate::preset) max_runtime: Option<MaxRuntimeDoc>,
}

#[derive(Debug, Clone)]
pub(in crate::preset) enum MaxRuntimeDoc {
    Span(Duration),
    Column(Written),
}

pub(super) fn rules(mut fields: Fields<'_>) -> Result<RulesDoc, SpecError> {
    let max_runtime = match fields.take("max_runtime").map(Field::written).transpose()? {
        Some(written) => match parse_duration(&written.text) {
            Ok(span) => Some(MaxRuntimeDoc::Span(span)),
            Err(_) => Some(MaxRuntimeDoc::Column(written)),
        },
        None => None,
    };
    let rules = RulesDoc {
        deadline: fields.take("deadline").map(Field::written).transpose()?,
        cancel_requested: fields.take("cancel_requested").map(Field::written).transpose()?,
        max_runtime,
    };
    fields.finish()?;
    Ok(rules)
}
