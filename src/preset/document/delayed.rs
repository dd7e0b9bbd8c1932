use super::template;
use crate::preset::SpecError;
use crate::preset::fields::{Field, Fields, Written};
use crate::preset::template::Template;

/// What a requeue does otherwise where the operator asks for a delay: `[action.requeue.delayed]`.
#[derive(Debug, Clone)]
pub(in crate::preset) struct DelayedDoc {
    /// Why that is never done, if so.
    pub(in crate::preset) refused: Option<String>,
    /// The state the job comes to instead.
    pub(in crate::preset) to: Option<Written>,
    /// Assignments beside those of the action, or in their place.
    pub(in crate::preset) set: Vec<(String, Written, Template)>,
}

pub(super) fn delayed(mut fields: Fields<'_>) -> Result<DelayedDoc, SpecError> {
    let refused = fields.text("refused")?;
    let to = fields.take("to").map(Field::written).transpose()?;
    let set = match fields.take("set") {
        Some(field) => field
            .table()?
            .rest()
            .into_iter()
            .map(|(column, field)| {
                let (written, value) = template(field)?;
                Ok((column, written, value))
            })
            .collect::<Result<Vec<_>, SpecError>>()?,
        None => Vec::new(),
    };
    match (&refused, to.is_some() || !set.is_empty()) {
        (Some(_), true) => return Err(fields.error("is either `refused` or says what is done")),
        (None, false) => return Err(fields.error("says nothing: it takes `to` and `set`, or `refused`")),
        _ => {}
    }
    fields.finish()?;
    Ok(DelayedDoc { refused, to, set })
}
