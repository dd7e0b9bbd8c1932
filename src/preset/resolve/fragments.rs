//! Fragments of SQL: `{sql.x}` is replaced by what it names, and each place takes only the markers that mean something
//! there.

use super::Binder;
use crate::preset::SpecError;
use crate::preset::fields::Written;
use crate::preset::template::{Marker, Piece, Template};

/// Where a fragment stands, which decides what it may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// A statement that only reads: nothing.
    Snapshot,
    /// The value of an assignment.
    Assignment,
    /// A statement of an action.
    Step,
    /// A wake-up.
    WakeUp,
}

impl Within {
    fn admits(self, marker: &Marker) -> bool {
        match (self, marker) {
            (_, Marker::Schema) => true,
            (Within::Snapshot, _) => false,
            (Within::Assignment, Marker::Now(None) | Marker::RunAt(None) | Marker::NowRfc3339 | Marker::Reason) => true,
            (
                Within::Step,
                Marker::Now(Some(_)) | Marker::RunAt(Some(_)) | Marker::NowRfc3339 | Marker::Reason | Marker::Ids,
            ) => true,
            (Within::WakeUp, Marker::Queue | Marker::Moved) => true,
            _ => false,
        }
    }
}

impl Binder<'_> {
    /// Replaces fragments by what they stand for.
    ///
    /// # Errors
    /// An unknown fragment, one that contains itself, or a marker that means nothing here.
    pub(super) fn expand(&self, written: &Written, sql: &Template, within: Within) -> Result<Template, SpecError> {
        let mut pieces = Vec::new();
        self.expand_into(sql, &mut Vec::new(), &mut pieces).map_err(|why| written.error(why))?;
        let template = Template(pieces);
        let stray = template.markers().find(|marker| !within.admits(marker)).cloned();
        match (within, stray) {
            (_, None) => Ok(template),
            (Within::Step, Some(marker @ (Marker::Now(None) | Marker::RunAt(None)))) => Err(written
                .error(format!("say in which column's encoding: `{marker}.column`, for the column it is written to"))),
            (_, Some(marker)) => Err(written.error(format!("`{marker}` has no value here"))),
        }
    }

    fn expand_into(&self, sql: &Template, path: &mut Vec<String>, out: &mut Vec<Piece>) -> Result<(), String> {
        for piece in &sql.0 {
            let Piece::Fragment(name) = piece else {
                out.push(piece.clone());
                continue;
            };
            if path.contains(name) {
                return Err(format!("`{{sql.{name}}}` contains itself"));
            }
            let inner = self.document.sql.get(name).ok_or_else(|| format!("there is no fragment `{name}` in [sql]"))?;
            path.push(name.clone());
            self.expand_into(inner, path, out)?;
            path.pop();
        }
        Ok(())
    }
}
