//! SQL names. Both engines quote them in the same way, and no name reaches a statement by any other road. People write a
//! table's name bare or in double quotes, with its schema or without, in another case.

/// A name in double quotes, with the quotes inside it doubled. NUL characters, which neither engine allows in a name,
/// are dropped: the catalog lookup that precedes every use has already failed to find such a name.
pub fn quoted(name: &str) -> String {
    let inner = name.replace('\0', "").replace('"', "\"\"");
    format!("\"{inner}\"")
}

/// The name in double quotes, if the whole of the text is one.
pub(super) fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let is_one = !inner.is_empty() && !inner.replace("\"\"", "").contains('"');
    is_one.then(|| inner.replace("\"\"", "\""))
}

pub fn qualified(schema: &str, name: &str) -> String {
    format!("{}.{}", quoted(schema), quoted(name))
}

/// A text as an SQL literal, with the quotes inside it doubled. Backslashes mean nothing: `standard_conforming_strings`
/// has been on by default since Postgres 9.1, and the store pins it.
pub fn literal(text: &str) -> String {
    let inner = text.replace('\0', "").replace('\'', "''");
    format!("'{inner}'")
}

/// What a written name may mean, the likeliest first: the schema, if it names one, and the table.
///
/// The catalog's own spelling comes before what SQL would make of it, which folds a bare name to lower case.
pub fn meanings(written: &str) -> Vec<(Option<String>, String)> {
    let mut meanings = vec![(None, written.to_owned())];
    let parts = parts(written);
    for folded in [false, true] {
        let part = |part: &&str| match unquoted(part) {
            Some(name) => name,
            None if folded => part.to_lowercase(),
            None => (*part).to_owned(),
        };
        let meaning = match parts.as_slice() {
            [table] => (None, part(table)),
            [schema, table] => (Some(part(schema)), part(table)),
            _ => continue,
        };
        if !meanings.contains(&meaning) {
            meanings.push(meaning);
        }
    }
    meanings
}

/// The parts between the dots that stand outside double quotes.
fn parts(written: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let is_dot = |c: char| {
        is_quoted ^= c == '"';
        c == '.' && !is_quoted
    };
    written.split(is_dot).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_what_the_catalog_has_and_then_what_sql_would_read() {
        let meant = |written| {
            let text = |(schema, table): (Option<String>, String)| format!("{}/{table}", schema.unwrap_or_default());
            meanings(written).into_iter().map(text).collect::<Vec<_>>().join(" ")
        };
        for (written, expected) in [
            ("jobs", "/jobs"),
            ("Jobs", "/Jobs /jobs"),
            ("app.jobs", "/app.jobs app/jobs"),
            ("App.\"Job.s\"", "/App.\"Job.s\" App/Job.s app/Job.s"),
            ("\"a\"\"b\"", "/\"a\"\"b\" /a\"b"),
            ("a.b.c", "/a.b.c"),
        ] {
            assert_eq!(meant(written), expected);
        }
    }
}
