//! What a document says as text, with the tables' names in the database: for pages, and for errors about statements.

use super::{ActionDoc, ClaimFrom, Document, StepDoc};
use crate::model::AttemptsChange;
use crate::preset::fields::Written;
use crate::preset::resolve::aliases_of;
use crate::preset::template::{Piece, Template, is_name};

impl Document {
    /// A fragment with the fragments that it names put in.
    ///
    /// # Errors
    /// Where one contains itself or is not in `[sql]`.
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

    /// As [`Document::expanded`], for pages: a fragment that cannot be put in is an error where the document meets a database,
    /// and stays as it is here.
    pub(crate) fn whole(&self, template: &Template) -> Template {
        self.expanded(template).unwrap_or_else(|_| template.clone())
    }

    /// A fragment on one line.
    pub(crate) fn sql_text(&self, template: &Template) -> String {
        let text: String = self.whole(template).0.iter().map(|piece| self.piece_text(piece)).collect();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn piece_text(&self, piece: &Piece) -> String {
        match piece {
            Piece::Text(text) => text.clone(),
            Piece::Name(name) => self.table_name(name).to_owned(),
            Piece::Marker(marker) => marker.to_string(),
            Piece::Fragment(name) => format!("{{sql.{name}}}"),
            Piece::Column(_) | Piece::Literal(_) => String::new(),
        }
    }

    /// A column of the job's own row by its bare name; anything else on one line as it is written.
    pub(crate) fn column_text(&self, written: &Written) -> String {
        let text = written.as_written();
        match text.split_once('.') {
            Some((alias, column)) if alias == self.row().1 && is_name(column) => column.to_owned(),
            _ => Template::parse(text).map_or_else(|_| text.to_owned(), |template| self.sql_text(&template)),
        }
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

    /// The bare name of a column of the job's own row; `None` for a literal, an expression or a column of another table.
    pub(crate) fn row_column(&self, written: &Option<Written>) -> Option<String> {
        let bare = self.column_text(written.as_ref()?);
        is_name(&bare).then_some(bare)
    }

    /// What an action does to the attempts counter: its own word, or what `counted` implies.
    pub(crate) fn attempts_change(&self, action: &ActionDoc) -> AttemptsChange {
        action.attempts.unwrap_or_else(|| self.attempts.counted.change())
    }

    /// The statements that the actions are written as.
    pub(crate) fn statements(&self) -> impl Iterator<Item = &Template> {
        let steps = self.actions.iter().chain(&self.waiting).flat_map(|(_, action)| &action.steps);
        steps.filter_map(|step| if let StepDoc::Sql { sql, .. } = step { Some(&sql.sql) } else { None })
    }

    /// Whether any action is ever taken on a claim.
    pub(crate) fn is_acted_on(&self) -> bool {
        self.actions.iter().any(|(_, action)| action.refused.is_none())
    }

    /// What becomes of a column that an action sets, in the author's plain words.
    pub(crate) fn words_for(&self, column: &str) -> Option<&str> {
        self.words.iter().find(|(name, _)| name == column).map(|(_, words)| words.as_str())
    }
}
