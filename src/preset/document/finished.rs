use super::template;
use crate::preset::fields::{Field, Fields, Written};
use crate::preset::queue::{StateValue, States};
use crate::preset::template::Template;
use crate::preset::{SpecError, did_you_mean};

/// `[finished]`: where a run's beginning and end are still told of a job that has ended well.
#[derive(Debug, Clone)]
pub(in crate::preset) enum FinishedDoc {
    Kept(Box<RunsDoc>),
    /// `none`: why they are not told.
    Untold(String),
}

#[derive(Debug, Clone)]
pub(in crate::preset) struct RunsDoc {
    pub(in crate::preset) at: Written,
    /// Absent, it is where the time of the claim is.
    pub(in crate::preset) started: Option<Written>,
    /// Empty where `filter` alone tells.
    pub(in crate::preset) states: Vec<StateValue>,
    pub(in crate::preset) filter: Option<(Written, Template)>,
}

pub(super) fn finished(mut fields: Fields<'_>, known: &States) -> Result<FinishedDoc, SpecError> {
    let none = fields.text("none")?;
    let at = fields.take("at").map(Field::written).transpose()?;
    let started = fields.take("started").map(Field::written).transpose()?;
    let named = fields.take("states").map(Field::all_written).transpose()?;
    let filter = fields.take("where").map(template).transpose()?;
    let undecided = fields.error(
        "needs either `at`, the column with the end of a run, or `none` alone, the reason why there is no such thing",
    );
    let unmarked = fields.error("needs `states` or `where`: what makes a row one that has ended well?");
    // A misspelt key says more than that another one is missing.
    fields.finish()?;
    let says_more = started.is_some() || named.is_some() || filter.is_some();
    match (none, at) {
        (Some(why), None) if !says_more => Ok(FinishedDoc::Untold(why)),
        (None, Some(at)) => {
            let states = match named {
                Some(named) => named.iter().map(|name| state(known, name)).collect::<Result<_, _>>()?,
                None => known.done.clone(),
            };
            if states.is_empty() && filter.is_none() {
                return Err(unmarked);
            }
            Ok(FinishedDoc::Kept(Box::new(RunsDoc { at, started, states, filter })))
        }
        _ => Err(undecided),
    }
}

fn state(known: &States, name: &Written) -> Result<StateValue, SpecError> {
    let found = known.all().find(|state| state.name == name.text).cloned();
    found.ok_or_else(|| {
        let hint = did_you_mean(&name.text, known.all().map(|state| state.name.as_str()));
        name.error(format!("[states] has no state `{}`{hint}", name.text))
    })
}
