//! The columns that a preset's own statement names, as far as they can be told: `alias.column` behind `{table} AS alias`, and
//! the list behind `INSERT INTO {table}`. What the catalog does not have is said before any job is read, not by the statement.

use super::Binder;
use crate::preset::SpecError;
use crate::preset::fields::Written;
use crate::preset::template::{Piece, Template, is_name};

impl Binder<'_> {
    /// Refuses a statement that names a column which its table does not have. Its fragments must have been put in.
    pub(super) fn columns_are_there(&self, written: &Written, sql: &Template) -> Result<(), SpecError> {
        let (text, tables) = text_and_tables(sql);
        let columns = of_aliases(&text, &tables).chain(of_inserts(&text, &tables));
        for (table, column) in columns {
            if let Some(live) = self.tables.get(table).filter(|live| live.column(column).is_none()) {
                return Err(written.error(format!("table {} has no column `{column}`", live.name)));
            }
        }
        Ok(())
    }
}

/// Where a table stands in a statement: its logical name, and where the text behind it begins.
type Place<'t> = (&'t str, usize);

/// The statement's own words, quoted ones left out, and its tables.
fn text_and_tables(sql: &Template) -> (String, Vec<Place<'_>>) {
    let (mut text, mut tables, mut is_quoted) = (String::new(), Vec::new(), false);
    for piece in &sql.0 {
        match piece {
            Piece::Name(name) => {
                text.push_str("{}");
                tables.push((name.as_str(), text.len()));
            }
            Piece::Text(plain) => {
                for c in plain.chars() {
                    is_quoted ^= c == '\'';
                    text.push(if is_quoted || c == '\'' { '\'' } else { c });
                }
            }
            _ => text.push('?'),
        }
    }
    (text, tables)
}

fn is_part_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// The columns behind aliases of tables.
fn of_aliases<'t>(text: &'t str, tables: &[Place<'t>]) -> impl Iterator<Item = (&'t str, &'t str)> {
    let alias = |&(table, at): &Place<'t>| {
        let mut words = text.get(at..)?.split(|c: char| !is_part_of_a_name(c)).filter(|word| !word.is_empty());
        let is_next = text.get(at..)?.trim_start().get(..3).is_some_and(|next| next.eq_ignore_ascii_case("as "));
        words.next()?;
        words.next().filter(|_| is_next).map(|alias| (alias, table))
    };
    let aliases: Vec<(&str, &str)> = tables.iter().filter_map(alias).collect();
    let column = move |word: &'t str| {
        let (alias, column) = word.split_once('.').filter(|(_, column)| is_name(column))?;
        let (_, table) = aliases.iter().find(|(known, _)| *known == alias)?;
        Some((*table, column))
    };
    text.split(|c: char| !is_part_of_a_name(c)).filter_map(column)
}

/// The columns that rows are inserted with.
fn of_inserts<'t>(text: &'t str, tables: &[Place<'t>]) -> Vec<(&'t str, &'t str)> {
    let list = |&(table, at): &Place<'t>| {
        let is_insert = text.get(..at)?.trim_end_matches("{}").trim_end().to_uppercase().ends_with("INSERT INTO");
        let (columns, _) = text.get(at..).filter(|_| is_insert)?.trim_start().strip_prefix('(')?.split_once(')')?;
        Some(columns.split(',').map(str::trim).filter(|column| is_name(column)).map(move |column| (table, column)))
    };
    tables.iter().filter_map(list).flatten().collect()
}
