//! What each table is for, told from where it is named; and which of them has the claims.

use super::sql::{names, physical, sql_of_text, writes};
use super::{TableProfile, TableRole};
use crate::preset::document::{ClaimFrom, Document, NotifyDoc, StepDoc};
use crate::preset::resolve::aliases_of;
use crate::preset::template::{Template, is_name};

/// The alias of a claim's row where the document gives its table alone.
const ROW: &str = "j";

/// The logical name of the table whose rows are moved, and its alias.
pub(super) fn claims(document: &Document) -> (String, String) {
    match &document.claim.from {
        ClaimFrom::Table(table) => (table.text.clone(), ROW.to_owned()),
        ClaimFrom::From(_, from) => {
            let aliases = aliases_of(from);
            let lock = document.claim.lock.as_ref().map(|lock| lock.text.as_str());
            let found = aliases.iter().find(|(alias, _)| lock.is_none_or(|lock| lock == alias));
            match found {
                Some((alias, table)) => (table.clone().unwrap_or_default(), alias.clone()),
                None => (String::new(), lock.unwrap_or_default().to_owned()),
            }
        }
    }
}

pub(super) fn tables(document: &Document) -> Vec<TableProfile> {
    let (claims, _) = claims(document);
    let profile = |logical: &String| {
        let mut roles = Vec::new();
        let mut role = |is: bool, role| {
            if is {
                roles.push(role);
            }
        };
        role(*logical == claims, TableRole::Claims);
        role(document.owner.table.as_ref().is_some_and(|table| table.text == *logical), TableRole::Owners);
        let named = |template: &Template| names(document, template, logical);
        role(document.skips.iter().any(|skip| named(&skip.condition.1)), TableRole::Asked);
        let steps = steps(document);
        let is_written = steps.iter().any(|step| writes(document, step, logical));
        let is_read = reads(document).into_iter().any(named) || (steps.into_iter().any(named) && !is_written);
        role(*logical != claims && is_read, TableRole::Read);
        role(*logical != claims && is_written, TableRole::Written);
        role(wakes(document).into_iter().any(named), TableRole::Woken);
        TableProfile { logical: logical.clone(), physical: physical(document, logical).to_owned(), roles }
    };
    document.tables.iter().map(|(logical, _)| profile(logical)).collect()
}

fn reads(document: &Document) -> Vec<&Template> {
    let from = match &document.claim.from {
        ClaimFrom::From(_, from) => Some(from),
        ClaimFrom::Table(_) => None,
    };
    let filter = document.claim.filter.as_ref().map(|(_, filter)| filter);
    from.into_iter().chain(filter).chain(&document.owner.on).collect()
}

fn steps(document: &Document) -> Vec<&Template> {
    let steps = document.actions.iter().chain(&document.waiting).flat_map(|(_, action)| &action.steps);
    steps.filter_map(|step| if let StepDoc::Sql { sql, .. } = step { Some(sql) } else { None }).collect()
}

fn wakes(document: &Document) -> Vec<&Template> {
    document.notify.iter().filter_map(|n| if let NotifyDoc::Sql((_, sql)) = n { Some(sql) } else { None }).collect()
}

/// A column of the claim's own row by its name alone; anything else as it is.
pub(super) fn bare(document: &Document, text: &str) -> String {
    let (_, row) = claims(document);
    match text.split_once('.') {
        Some((alias, column)) if alias == row && is_name(column) => column.to_owned(),
        _ => sql_of_text(document, text),
    }
}
