use crate::model::Cell;
use crate::preset::SpecError;
use crate::preset::fields::{Field, Fields};
use crate::preset::node::Value;
use crate::preset::queue::{StateValue, States};

pub(super) fn states(mut fields: Fields<'_>) -> Result<States, SpecError> {
    let mut take = |key| fields.take(key).map(state_values).transpose().map(Option::unwrap_or_default);
    let states = States {
        waiting: take("waiting")?,
        in_flight: take("in_flight")?,
        done: take("done")?,
        failed: take("failed")?,
        cancelled: take("cancelled")?,
        ignored: take("ignored")?,
    };
    fields.finish()?;
    Ok(states)
}

fn state_values(field: Field<'_>) -> Result<Vec<StateValue>, SpecError> {
    if let Value::Table(_) = field.value() {
        let stored = |field: Field<'_>| match field.value() {
            Value::Text(text) => Ok(Cell::Text(text.clone())),
            Value::Integer(number) => Ok(Cell::Integer(*number)),
            _ => Err(field.error("must be the stored value: text or an integer")),
        };
        let entries = field.table()?.rest();
        return entries.into_iter().map(|(name, field)| Ok(StateValue { name, stored: stored(field)? })).collect();
    }
    Ok(field.texts()?.into_iter().map(|text| StateValue { name: text.clone(), stored: Cell::Text(text) }).collect())
}
