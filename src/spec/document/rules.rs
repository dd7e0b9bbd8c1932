use crate::model::parse_duration;
use crate::spec::SpecError;
use crate::spec::fields::{Field, Fields, Written};
use std::time::Duration;

#[derive(Debug, Clone, Default)]
pub(in crate::spec) struct RulesDoc {
    pub(in crate::spec) deadline: Option<Written>,
    pub(in crate::spec) cancel_requested: Option<Written>,
    pub(in crate::spec) max_runtime: Option<MaxRuntimeDoc>,
}

#[derive(Debug, Clone)]
pub(in crate::spec) enum MaxRuntimeDoc {
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
