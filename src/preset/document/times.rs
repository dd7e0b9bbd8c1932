use crate::preset::SpecError;
use crate::preset::encoding::{Encoding, Encodings};
use crate::preset::fields::{Field, Fields};
use std::collections::BTreeMap;

/// How time columns are spelled: `[time]`.
#[derive(Debug, Clone, Default)]
pub(in crate::preset) struct Times {
    pub(in crate::preset) default: Option<Encodings>,
    pub(in crate::preset) columns: BTreeMap<String, Encodings>,
    /// Stored values that stand for "no value", by column.
    pub(in crate::preset) sentinels: BTreeMap<String, Vec<String>>,
}

pub(super) fn times(mut fields: Fields<'_>) -> Result<Times, SpecError> {
    let default = fields.take("default").map(encodings).transpose()?;
    let mut sentinels = BTreeMap::new();
    if let Some(field) = fields.take("sentinels") {
        for (column, field) in field.table()?.rest() {
            let mut raws = Vec::new();
            for (raw, meaning) in field.table()?.rest() {
                meaning.word(&[("none", ())])?;
                raws.push(raw);
            }
            sentinels.insert(column, raws);
        }
    }
    let columns =
        fields.rest().into_iter().map(|(column, field)| Ok((column, encodings(field)?))).collect::<Result<_, _>>()?;
    Ok(Times { default, columns, sentinels })
}

fn encodings(field: Field<'_>) -> Result<Encodings, SpecError> {
    let written = field.all_written()?;
    let mut parsed = Vec::new();
    for text in &written {
        parsed.push(Encoding::parse(&text.text).map_err(|why| text.error(why))?);
    }
    let mut parsed = parsed.into_iter();
    let first = parsed.next().ok_or_else(|| SpecError::whole("time", "an empty list of encodings"))?;
    let encodings = Encodings::new(first, parsed.collect());
    match encodings.ambiguous().and_then(|at| written.get(at)) {
        Some(text) => Err(text.error(format!(
            "what is written as `{}` can be read in two ways as: {encodings}; leave out what the column does not hold",
            text.text
        ))),
        None => Ok(encodings),
    }
}
