//! Fragments as text again, with the tables' real names in them.

use crate::preset::document::Document;
use crate::preset::statement_tables::Touch;
use crate::preset::template::{Marker, Piece, Template};

/// The text of a fragment on one line: other fragments put in, tables by their names in the database.
pub(super) fn sql(document: &Document, template: &Template) -> String {
    let mut text = String::new();
    spell(document, template, &mut Vec::new(), &mut |piece| match piece {
        Piece::Text(plain) => text.push_str(plain),
        Piece::Name(name) => text.push_str(physical(document, name)),
        Piece::Marker(marker) => text.push_str(&marker.to_string()),
        Piece::Fragment(_) | Piece::Column(_) | Piece::Literal(_) => {}
    });
    one_line(&text)
}

/// The same for a text that was checked before.
pub(super) fn sql_of_text(document: &Document, text: &str) -> String {
    Template::parse(text).map_or_else(|_| one_line(text), |template| sql(document, &template))
}

/// Whether a fragment, or one in it, names a table.
pub(super) fn names(document: &Document, template: &Template, table: &str) -> bool {
    let mut found = false;
    spell(document, template, &mut Vec::new(), &mut |piece| {
        found |= matches!(piece, Piece::Name(name) if name == table);
    });
    found
}

/// Whether a fragment, or one in it, asks for such a value.
pub(super) fn asks(document: &Document, template: &Template, wanted: &mut dyn FnMut(&Marker) -> bool) -> bool {
    let mut found = false;
    spell(document, template, &mut Vec::new(), &mut |piece| {
        found |= matches!(piece, Piece::Marker(marker) if wanted(marker));
    });
    found
}

/// Whether a fragment, with those in it, writes to a table.
pub(super) fn writes(document: &Document, template: &Template, table: &str) -> bool {
    let mut whole = Template::default();
    spell(document, template, &mut Vec::new(), &mut |piece| whole.0.push(piece.clone()));
    whole.touches().iter().any(|(touch, touched)| *touch != Touch::Select && *touched == table)
}

/// The name of a table in the database.
pub(super) fn physical<'d>(document: &'d Document, logical: &'d str) -> &'d str {
    let found = document.tables.iter().find(|(name, _)| name == logical);
    found.map_or(logical, |(_, physical)| physical)
}

fn spell<'d>(document: &'d Document, template: &'d Template, path: &mut Vec<&'d str>, each: &mut impl FnMut(&Piece)) {
    for piece in &template.0 {
        match piece {
            // A fragment that contains itself is refused when it meets a database; here it is cut short.
            Piece::Fragment(name) if path.contains(&name.as_str()) => {}
            Piece::Fragment(name) => {
                if let Some(inner) = document.sql.get(name) {
                    path.push(name);
                    spell(document, inner, path, each);
                    path.pop();
                }
            }
            other => each(other),
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
