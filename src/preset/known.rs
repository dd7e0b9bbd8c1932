//! Queues and products that are known by their tables and have no preset, because writing to them from outside helps
//! nothing or breaks something: each with its own remedy.

use super::catalog::{Catalog, Preset};
use super::fields::Fields;
use super::node::Node;
use super::{SpecError, TableColumns};

const KNOWN: &str = include_str!("known.toml");

struct Known {
    name: String,
    /// The name of one of its tables, in lower case; a `*` at one end stands for a prefix or a suffix of the
    /// operator's.
    table: String,
    /// Columns that this table has, in lower case.
    columns: Vec<String>,
    remedy: String,
}

/// The names of the columns that tell them, and those that tell the queues of the presets.
pub fn telling_columns(catalog: &Catalog) -> Vec<String> {
    let of_presets = catalog.iter().flat_map(Preset::telling_columns).cloned();
    of_presets.chain(read().unwrap_or_default().into_iter().flat_map(|known| known.columns)).collect()
}

/// The sentence about one of them, if its tables are among these.
pub fn known(tables: &TableColumns<'_>) -> Option<String> {
    let known = read().unwrap_or_default();
    let mut seen = known.iter().filter_map(|known| {
        let mut its = tables.iter().filter(|((_, name), columns)| {
            let lower: Vec<String> = columns.iter().map(|column| column.to_lowercase()).collect();
            known.is_called(&name.to_lowercase()) && known.columns.iter().all(|column| lower.contains(column))
        });
        let ((_, table), _) = its.next()?;
        Some(format!(
            "the tables of {} are here ({table}), and jobdoctor does nothing for it: {}",
            known.name, known.remedy
        ))
    });
    seen.next()
}

impl Known {
    fn is_called(&self, name: &str) -> bool {
        match (self.table.strip_prefix('*'), self.table.strip_suffix('*')) {
            (Some(end), _) => name.ends_with(end),
            (_, Some(beginning)) => name.starts_with(beginning),
            _ => name == self.table,
        }
    }
}

/// A test reads them too: in a release there is no error.
fn read() -> Result<Vec<Known>, SpecError> {
    let mut root = Fields::of("known.toml", "", Node::parse("known.toml", KNOWN)?)?;
    let known = root.need("queue")?.items()?.into_iter().map(|field| {
        let mut fields = field.table()?;
        let known = Known {
            name: fields.must("name")?,
            table: fields.must("table")?,
            columns: fields.must("columns")?,
            remedy: fields.must("remedy")?,
        };
        fields.finish()?;
        Ok(known)
    });
    known.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_told_by_columns_in_lower_case() {
        for known in read().unwrap() {
            let texts = known.columns.iter().chain([&known.table]);
            assert!(texts.into_iter().all(|text| *text == text.to_lowercase()), "{}", known.name);
            assert!(known.columns.len() >= 3, "{}", known.name);
        }
    }
}
