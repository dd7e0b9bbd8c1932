//! SQL names. Both engines quote them in the same way, and no name reaches a statement by any other road.

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
