//! SQL of a preset: its fragments put in, the aliases of its FROM clause, and the columns that its statements name.

use super::Binder;
use crate::preset::SpecError;
use crate::preset::document::Document;
use crate::preset::field::{Fragment, Written};
use crate::preset::template::{Marker, Piece, Template, is_name};

/// Where a fragment stands, which decides what it may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// A statement that only reads: nothing.
    Snapshot,
    /// The count of jobs that ended.
    Ended,
    Assignment,
    Step,
    WakeUp,
}

impl Within {
    fn admits(self, marker: &Marker) -> bool {
        match (self, marker) {
            (_, Marker::Schema) => true,
            (Within::Snapshot, _) => false,
            (Within::Assignment | Within::Step, Marker::NowRfc3339 | Marker::Reason | Marker::FailCode) => true,
            (Within::Assignment, Marker::Now(None) | Marker::RunAt(None)) => true,
            (Within::Step, Marker::Now(Some(_)) | Marker::RunAt(Some(_)) | Marker::Ids) => true,
            (Within::Ended, Marker::Since(_)) => true,
            (Within::WakeUp, Marker::Queue | Marker::Moved) => true,
            _ => false,
        }
    }
}

impl Binder<'_> {
    /// A fragment of a statement that only reads.
    pub(super) fn read_sql(&self, fragment: &Fragment) -> Result<Template, SpecError> {
        self.expand(&fragment.written, &fragment.sql, Within::Snapshot)
    }

    /// Replaces fragments by what they stand for.
    pub(super) fn expand(&self, written: &Written, sql: &Template, within: Within) -> Result<Template, SpecError> {
        let template = self.document.expanded(sql).map_err(|why| written.error(why))?;
        let stray = template.markers().find(|marker| !within.admits(marker)).cloned();
        match (within, stray) {
            (_, None) => {
                if within == Within::Snapshot {
                    self.computed.borrow_mut().insert(written.at.key.clone());
                }
                Ok(template)
            }
            (Within::Step, Some(marker @ (Marker::Now(None) | Marker::RunAt(None)))) => Err(written
                .error(format!("say in which column's encoding: `{marker}.column`, for the column it is written to"))),
            (_, Some(marker)) => Err(written.error(format!("`{marker}` has no value here"))),
        }
    }

    /// Refuses a statement that names a column which its table does not have. Its fragments must have been put in.
    pub(super) fn columns_are_there(&self, written: &Written, sql: &Template) -> Result<(), SpecError> {
        match self.lacking(sql) {
            Some((table, column)) => Err(written.error(format!("table {table} has no column `{column}`"))),
            None => Ok(()),
        }
    }

    /// A table and a column that a statement names there and that it lacks.
    fn lacking(&self, sql: &Template) -> Option<(String, String)> {
        let (text, tables) = text_and_tables(sql);
        let mut columns = of_aliases(&text, &tables).chain(of_inserts(&text, &tables));
        columns.find_map(|(table, column)| {
            let live = self.tables.get(table).filter(|live| live.column(column).is_none())?;
            Some((live.name.clone(), column.to_owned()))
        })
    }

    /// True if a condition on a claim names an optional column that this table lacks.
    pub(super) fn lacks_optional(&self, sql: &Template) -> bool {
        let behind_from = Template::around("? ?", &[&self.view.claim.from.sql.0, &sql.0]);
        self.lacking(&behind_from).is_some_and(|(_, column)| self.is_optional(&column))
    }
}

impl Document {
    /// A fragment with the fragments that it names put in.
    pub(crate) fn expanded(&self, template: &Template) -> Result<Template, String> {
        let mut pieces = Vec::new();
        self.expand_into(template, &mut Vec::new(), &mut pieces)?;
        Ok(Template(pieces))
    }

    fn expand_into<'d>(
        &'d self,
        template: &'d Template,
        path: &mut Vec<&'d str>,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), String> {
        for piece in &template.0 {
            let Piece::Fragment(name) = piece else {
                pieces.push(piece.clone());
                continue;
            };
            if path.contains(&name.as_str()) {
                return Err(format!("`{{sql.{name}}}` contains itself"));
            }
            let inner = self.sql.get(name).ok_or_else(|| format!("there is no fragment `{name}` in [sql]"))?;
            path.push(name);
            self.expand_into(&inner.sql, path, pieces)?;
            path.pop();
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

/// The words of a text, each with what is behind it: 1 for a bracket that opens, -1 for one that closes.
fn words_and_brackets(text: &str) -> impl Iterator<Item = (&str, i32)> {
    let ends_word = |c: char| c.is_whitespace() || c == '(' || c == ')';
    text.split_inclusive(ends_word).map(move |word| {
        let step = i32::from(word.ends_with('(')) - i32::from(word.ends_with(')'));
        (word.trim_end_matches(ends_word), step)
    })
}

/// The aliases of a FROM clause in order: `{table} AS alias` with their table, and `) AS alias` of sub-selects without.
pub(in crate::preset) fn aliases_of(from: &Template) -> Vec<(String, Option<String>)> {
    let (mut aliases, mut depth, mut table) = (Vec::new(), 0, None);
    for piece in &from.0 {
        match piece {
            Piece::Name(name) => table = Some(name.clone()).filter(|_| depth == 0),
            Piece::Text(text) => {
                let mut after_close = false;
                for (word, step) in words_and_brackets(text) {
                    let may_be_alias = depth == 0 && (table.is_some() || after_close) && !word.is_empty();
                    if may_be_alias && !word.eq_ignore_ascii_case("as") {
                        aliases.push((word.to_owned(), table.take()));
                        after_close = false;
                    }
                    depth += step;
                    if step < 0 {
                        after_close = depth == 0;
                    }
                }
            }
            _ => {}
        }
    }
    aliases
}

/// The tables that the sub-selects of a FROM clause read, as far as they are named in braces; `None` where no
/// sub-select reads any table.
pub(super) fn sub_selects_read(from: &Template) -> Option<Vec<&str>> {
    let (mut depth, mut reads, mut names) = (0, false, Vec::new());
    for piece in &from.0 {
        match piece {
            Piece::Name(name) if depth > 0 => names.push(name.as_str()),
            Piece::Text(text) => {
                for (word, step) in words_and_brackets(text) {
                    reads |= depth > 0 && word.eq_ignore_ascii_case("from");
                    depth += step;
                }
            }
            _ => {}
        }
    }
    (reads || !names.is_empty()).then_some(names)
}
