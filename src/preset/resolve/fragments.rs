//! SQL of a preset: its fragments put in, the aliases of its FROM clause, and the columns that its statements name.

use super::Binder;
use crate::preset::SpecError;
use crate::preset::document::Document;
use crate::preset::field::{Fragment, Written};
use crate::preset::lex::{is_name, tokens};
use crate::preset::template::{Marker, Piece, Template};

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
    pub(super) fn require_columns(&self, written: &Written, sql: &Template) -> Result<(), SpecError> {
        match self.lacking(sql) {
            Some((table, column)) => Err(written.error(format!("table {table} has no column `{column}`"))),
            None => Ok(()),
        }
    }

    /// A table and a column that a statement names there and that it lacks.
    fn lacking(&self, sql: &Template) -> Option<(String, String)> {
        let text = sql.numbered();
        let words: Vec<&str> = tokens(&text, false).map(|token| token.text).collect();
        let mut columns = of_aliases(sql, &words).chain(of_inserts(sql, &words));
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

/// The columns behind aliases of tables.
fn of_aliases<'t>(sql: &'t Template, words: &'t [&'t str]) -> impl Iterator<Item = (&'t str, &'t str)> {
    let alias = |three: &'t [&'t str]| {
        let [name, between, alias] = three else { return None };
        Some((*alias, sql.name(name).filter(|_| between.eq_ignore_ascii_case("as"))?))
    };
    let aliases: Vec<(&str, &str)> = words.windows(3).filter_map(alias).collect();
    let column = move |three: &'t [&'t str]| {
        let [alias, ".", column] = three else { return None };
        let (_, table) = aliases.iter().find(|(known, _)| known == alias).filter(|_| is_name(column))?;
        Some((*table, *column))
    };
    words.windows(3).filter_map(column)
}

/// The columns that rows are inserted with.
fn of_inserts<'t>(sql: &'t Template, words: &'t [&'t str]) -> impl Iterator<Item = (&'t str, &'t str)> {
    let list = move |(n, four): (usize, &'t [&'t str])| {
        let [insert, into, name, "("] = four else { return None };
        let is_insert = insert.eq_ignore_ascii_case("insert") && into.eq_ignore_ascii_case("into");
        let (table, columns) = (sql.name(name).filter(|_| is_insert)?, words.iter().skip(n + 4));
        Some(columns.take_while(|word| **word != ")").filter(|word| is_name(word)).map(move |column| (table, *column)))
    };
    words.windows(4).enumerate().filter_map(list).flatten()
}

/// The tables that the sub-selects of a FROM clause read, as far as they are named in braces; `None` where no
/// sub-select reads any table.
pub(super) fn sub_selects_read(from: &Template) -> Option<Vec<&str>> {
    let (mut depth, mut reads, mut names) = (0, false, Vec::new());
    for token in tokens(&from.numbered(), false) {
        depth += i32::from(token.text == "(") - i32::from(token.text == ")");
        reads |= depth > 0 && token.text.eq_ignore_ascii_case("from");
        names.extend(from.name(token.text).filter(|_| depth > 0));
    }
    (reads || !names.is_empty()).then_some(names)
}
