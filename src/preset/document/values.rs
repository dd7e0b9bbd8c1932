//! What stored values mean: times and states.

use crate::model::{Cell, Engine};
use crate::preset::SpecError;
use crate::preset::encoding::{Encoding, Encodings};
use crate::preset::field::{Field, Written};
use crate::preset::node::Value;
use crate::preset::queue::{StateValue, States};
use std::collections::BTreeMap;

/// How time columns are spelled: `[time]`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Times {
    pub(crate) default: Option<Encodings>,
    pub(crate) columns: BTreeMap<String, Encodings>,
    /// Stored values that stand for "no value", by column.
    pub(crate) sentinels: BTreeMap<String, Vec<String>>,
}

impl Times {
    pub(super) fn read(field: &Field<'_>) -> Result<Times, SpecError> {
        let mut times = Times::default();
        for (key, field) in field.entries()? {
            match key {
                "default" => times.default = Some(encodings(&field)?),
                "sentinels" => {
                    for (column, field) in field.entries()? {
                        let values = field.entries()?.into_iter();
                        let raws = values.map(|(raw, field)| field.word(&[("none", ())]).map(|()| raw.to_owned()));
                        times.sentinels.insert(column.to_owned(), raws.collect::<Result<_, _>>()?);
                    }
                }
                column => {
                    times.columns.insert(column.to_owned(), encodings(&field)?);
                }
            }
        }
        Ok(times)
    }
}

fn encodings(field: &Field<'_>) -> Result<Encodings, SpecError> {
    let written: Vec<Written> = field.read()?;
    let parse = |text: &Written| Encoding::parse(&text.text).map_err(|why| text.error(why));
    let mut parsed = written.iter().map(parse).collect::<Result<Vec<_>, _>>()?.into_iter();
    let first = parsed.next().ok_or_else(|| field.error("is an empty list of encodings"))?;
    let encodings = Encodings::new(first, parsed.collect());
    match encodings.ambiguous().and_then(|at| written.get(at)) {
        Some(text) => Err(text.error(format!(
            "what is written as `{}` can be read in two ways as: {encodings}; leave out what the column does not hold",
            text.text
        ))),
        None => Ok(encodings),
    }
}

impl States {
    /// Reads `[states]`. A truth value is what that engine stores for it.
    pub(super) fn read(field: &Field<'_>, engine: Engine) -> Result<States, SpecError> {
        field.knows(&["waiting", "in_flight", "done", "failed", "cancelled", "ignored"])?;
        let take = |key| field.child(key).map_or_else(|| Ok(Vec::new()), |field| state_values(&field, engine));
        Ok(States {
            waiting: take("waiting")?,
            in_flight: take("in_flight")?,
            done: take("done")?,
            failed: take("failed")?,
            cancelled: take("cancelled")?,
            ignored: take("ignored")?,
        })
    }
}

/// Reads states by their names, with what is stored for each where that is not the name itself.
fn state_values(field: &Field<'_>, engine: Engine) -> Result<Vec<StateValue>, SpecError> {
    let stored = |field: &Field<'_>| match (&field.node.value, engine.has_strict_types()) {
        (Value::Text(text), _) => Ok(Cell::Text(text.clone())),
        (Value::Integer(number), _) => Ok(Cell::Integer(*number)),
        (Value::Boolean(truth), true) => Ok(Cell::Text(truth.to_string())),
        (Value::Boolean(truth), false) => Ok(Cell::Integer(i64::from(*truth))),
        _ => Err(field.error("must be the stored value: text, an integer, true or false")),
    };
    let of_its_name = |field: &Field<'_>| Ok(StateValue { stored: stored(field)?, name: field.spelled()? });
    match &field.node.value {
        Value::Table(_) => {
            let named =
                |(name, field): (&str, Field<'_>)| Ok(StateValue { name: name.to_owned(), stored: stored(&field)? });
            field.entries()?.into_iter().map(named).collect()
        }
        Value::Array(_) => field.items()?.iter().map(of_its_name).collect(),
        _ => Ok(vec![of_its_name(field)?]),
    }
}
