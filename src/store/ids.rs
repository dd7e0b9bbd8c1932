//! Ids from outside: which keys one may mean.

use crate::model::value::unhex;
use crate::model::{Cell, Engine, Key};
use crate::preset::Column;

/// From here on floating point numbers do not hold every integer.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The keys that an id may mean, spelled as the database hands them out; none if it cannot be a key. A part may hold the slash
/// that separates the columns, so each way to cut the id is taken.
pub(super) fn keys_of(engine: Engine, columns: &[Column], id: &str) -> Vec<Key> {
    match columns {
        [] => Vec::new(),
        [only] => cells_of(engine, only, id).into_iter().map(|cell| Key(vec![cell])).collect(),
        [first, rest @ ..] => {
            let cuts = id.match_indices('/').filter_map(|(at, _)| Some((id.get(..at)?, id.get(at + 1..)?)));
            let keys = cuts.flat_map(|(before, after)| {
                let first = cells_of(engine, first, before);
                let rest = if first.is_empty() { Vec::new() } else { keys_of(engine, rest, after) };
                let pairs =
                    first.into_iter().flat_map(|first| rest.clone().into_iter().map(move |key| (first.clone(), key)));
                pairs.map(|(first, Key(cells))| Key([vec![first], cells].concat())).collect::<Vec<_>>()
            });
            keys.collect()
        }
    }
}

fn cells_of(engine: Engine, column: &Column, part: &str) -> Vec<Cell> {
    match engine {
        Engine::Sqlite => stored(part),
        Engine::Postgres => spelled(column, part).into_iter().map(Cell::Text).collect(),
    }
}

/// SQLite keeps values of any type in most columns, so an id may be each value that is printed like it, or could be.
fn stored(part: &str) -> Vec<Cell> {
    let trimmed = part.trim();
    let mut cells = vec![Cell::Text(part.to_owned())];
    cells.extend((trimmed != part).then(|| Cell::Text(trimmed.to_owned())));
    let integer = trimmed.parse::<i64>().ok();
    let real = trimmed.parse::<f64>().ok().filter(|real| real.is_finite() || matches!(trimmed, "inf" | "-inf"));
    let is_exact = |real: &f64| real.abs() < EXACT;
    let whole = real.filter(|real| is_exact(real) && real.fract() == 0.0);
    cells.extend(integer.or_else(|| format!("{:.0}", whole?).parse().ok()).map(Cell::Integer));
    cells.extend(real.filter(|real| integer.is_none() || is_exact(real)).map(Cell::Real));
    let bytes = unhex(trimmed).or_else(|| unhex(&uuid(trimmed)?.replace('-', "")));
    if let Some(bytes) = bytes {
        if std::str::from_utf8(&bytes).is_err() {
            cells.push(Cell::BrokenText(bytes.clone()));
        }
        cells.push(Cell::Bytes(bytes));
    }
    cells
}

/// On Postgres a column has one type, and its values are handed out as text.
fn spelled(column: &Column, part: &str) -> Vec<String> {
    let trimmed = part.trim();
    match column.type_name.as_str() {
        // No text there has a NUL.
        _ if part.contains('\0') => Vec::new(),
        "smallint" => trimmed.parse::<i16>().map(|n| n.to_string()).into_iter().collect(),
        "integer" => trimmed.parse::<i32>().map(|n| n.to_string()).into_iter().collect(),
        "bigint" => trimmed.parse::<i64>().map(|n| n.to_string()).into_iter().collect(),
        "uuid" => uuid(trimmed).into_iter().collect(),
        _ if trimmed == part => vec![part.to_owned()],
        _ => vec![part.to_owned(), trimmed.to_owned()],
    }
}

/// How Postgres casts what the server alone can read: the column's type without its length or precision, which a cast would
/// silently cut to. `None` for columns whose values are any text, and those that [`spelled`] reads.
pub(super) fn read_by_server(column: &Column) -> Option<String> {
    let name = column.type_name.as_str();
    let bare = match (name.find('('), name.find(')')) {
        (Some(begin), Some(end)) if !name.contains('"') => format!("{}{}", name.get(..begin)?, name.get(end + 1..)?),
        _ => name.to_owned(),
    };
    match bare.as_str() {
        "" | "smallint" | "integer" | "bigint" | "uuid" => None,
        "text" | "character varying" | "character" | "bpchar" | "name" | "\"char\"" => None,
        "bit" => Some("bit varying".to_owned()),
        _ => Some(bare),
    }
}

/// A uuid as Postgres writes it, in lower case with four hyphens. It may be given in capitals, without its hyphens, in braces, or
/// as a URN.
fn uuid(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let bare = lower.strip_prefix("urn:uuid:").unwrap_or(&lower);
    let bare = bare.strip_prefix('{').and_then(|bare| bare.strip_suffix('}')).unwrap_or(bare);
    let digits = bare.replace('-', "");
    if digits.len() != 32 || !digits.chars().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    let parts: Vec<&str> =
        [0..8, 8..12, 12..16, 16..20, 20..32].into_iter().filter_map(|part| digits.get(part)).collect();
    let uuid = parts.join("-");
    (bare.len() == 32 || bare == uuid).then_some(uuid)
}
