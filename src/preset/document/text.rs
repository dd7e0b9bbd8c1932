//! What a document says in one place about another: fragments put in, tables by their names, the row of a claim.

use super::{ActionDoc, ClaimFrom, Document};
use crate::model::AttemptsChange;
use crate::preset::resolve::aliases_of;
use crate::preset::template::{Piece, Template};

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
            self.expand_into(inner, path, pieces)?;
            path.pop();
        }
        Ok(())
    }

    /// A table's name in the database.
    pub(crate) fn table_name<'d>(&'d self, logical: &'d str) -> &'d str {
        self.tables.iter().find(|(known, _)| known == logical).map_or(logical, |(_, name)| name)
    }

    /// The aliases of the claim's FROM clause with their tables, in order. A sub-select has no table.
    pub(crate) fn aliases(&self) -> Vec<(String, Option<String>)> {
        match &self.claim.from {
            ClaimFrom::Table(table) => vec![("j".to_owned(), Some(table.text.clone()))],
            ClaimFrom::From(from) => aliases_of(&from.sql),
        }
    }

    /// The table whose rows are the jobs, by its logical name, and its alias.
    pub(crate) fn row(&self) -> (String, String) {
        let lock = self.claim.lock.as_ref().map(|lock| lock.text.as_str());
        let found = self.aliases().into_iter().find(|(alias, _)| lock.is_none_or(|lock| lock == alias));
        found.map_or_else(Default::default, |(alias, table)| (table.unwrap_or_default(), alias))
    }

    /// What an action does to the attempts counter: its own word, or what `counted` implies.
    pub(crate) fn attempts_change(&self, action: &ActionDoc) -> AttemptsChange {
        action.attempts.unwrap_or_else(|| self.attempts.counted.change())
    }
}
