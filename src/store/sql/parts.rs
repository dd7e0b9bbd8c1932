//! Expressions for a part of a stored value, as each engine spells them.

use crate::model::Engine;
use crate::preset::ident::literal;
use crate::preset::{Expr, Piece, Template};

/// Builds the beginning of a text, of at least so many bytes if it has them, and the bytes of the whole.
pub fn excerpt(engine: Engine, expr: &Expr, most: usize) -> [Expr; 2] {
    let schema = if engine == Engine::Postgres { "pg_catalog." } else { "" };
    let of = |before: &str, after: &str| {
        let value = match expr {
            Expr::Column(column) => vec![Piece::Column(column.clone())],
            Expr::Sql(Template(pieces)) => pieces.clone(),
        };
        let (before, after) = (format!("{schema}{before}(CAST(("), format!(") AS text){after})"));
        Expr::Sql(Template([vec![Piece::Text(before)], value, vec![Piece::Text(after)]].concat()))
    };
    [of("substr", &format!(", 1, {most}")), of("octet_length", "")]
}

/// Builds what a sample reads of a column: texts cut to so many characters, and types that have no cell as text.
pub fn sampled(engine: Engine, column: &str, type_name: &str, most: usize) -> String {
    let raw = ["smallint", "integer", "bigint", "boolean", "real", "double", "numeric", "timestamp"];
    match (engine, type_name) {
        (Engine::Sqlite, _) => format!(
            "CASE typeof({column}) WHEN 'text' THEN substr({column}, 1, {most}) WHEN 'blob' THEN substr({column}, 1, 64) \
             ELSE {column} END"
        ),
        (_, plain) if raw.iter().any(|raw| plain.starts_with(raw)) && !plain.ends_with("[]") => column.to_owned(),
        (_, "bytea") => format!("pg_catalog.substr({column}, 1, 64)"),
        _ => format!("pg_catalog.left({column}::text, {most})"),
    }
}

/// Builds the texts under these keys of a JSON object, with colons between them.
pub fn json_keys(engine: Engine, column: &str, is_json: bool, keys: &[String]) -> String {
    let value = if engine == Engine::Postgres && !is_json { format!("{column}::jsonb") } else { column.to_owned() };
    let parts: Vec<String> = keys.iter().map(|key| format!("({value} ->> {})", literal(key))).collect();
    let parts = parts.join(" || ':' || ");
    match engine {
        // A value that is no JSON would fail the listing.
        Engine::Sqlite => format!("CASE WHEN json_valid({column}) THEN {parts} END"),
        Engine::Postgres => parts,
    }
}

/// Builds the text before the first of these characters.
pub fn before(engine: Engine, column: &str, separator: &str) -> String {
    match engine {
        Engine::Postgres => format!("split_part({column}, '{separator}', 1)"),
        Engine::Sqlite => format!("substr({column}, 1, instr({column}, '{separator}') - 1)"),
    }
}
