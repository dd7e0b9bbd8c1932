//! Values as literals that no shell, terminal or client with another encoding misreads: every character outside
//! printable ASCII is escaped.

use crate::model::value::hex;
use crate::model::{Cell, Engine};

pub(super) fn literal(engine: Engine, cell: &Cell) -> Result<String, String> {
    match (engine, cell) {
        (_, Cell::Null) => Ok("NULL".to_owned()),
        (Engine::Postgres, Cell::BrokenText(bytes)) => Ok(postgres_bytes(bytes)),
        (Engine::Postgres, cell) => postgres(&cell.to_string()),
        (Engine::Sqlite, Cell::Integer(n)) => Ok(n.to_string()),
        (Engine::Sqlite, Cell::Real(x)) => Ok(real(*x)),
        (Engine::Sqlite, Cell::Bytes(bytes)) => Ok(blob(bytes)),
        // Only a database in UTF-8 gives these, so the bytes are the stored ones.
        (Engine::Sqlite, Cell::BrokenText(bytes)) => Ok(format!("CAST({} AS TEXT)", blob(bytes))),
        (Engine::Sqlite, Cell::Infinity | Cell::NegativeInfinity) => Ok("NULL".to_owned()),
        (Engine::Sqlite, cell) => Ok(sqlite(&cell.to_string())),
    }
}

fn plain(c: char) -> bool {
    c == ' ' || c.is_ascii_graphic()
}

/// In the escape syntax if needed, which does not depend on `standard_conforming_strings`.
fn postgres(text: &str) -> Result<String, String> {
    if text.contains('\0') {
        return Err("a text holds a NUL character, which Postgres has no literal for".to_owned());
    }
    if text.chars().all(|c| plain(c) && c != '\\') {
        return Ok(quoted(text));
    }
    let escaped = |c: char| match c {
        '\\' => "\\\\".to_owned(),
        '\'' => "''".to_owned(),
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        c if plain(c) => c.to_string(),
        c if u32::from(c) <= 0xffff => format!("\\u{:04x}", u32::from(c)),
        c => format!("\\U{:08x}", u32::from(c)),
    };
    Ok(format!("E'{}'", text.chars().map(escaped).collect::<String>()))
}

/// Text in a database without an encoding.
fn postgres_bytes(bytes: &[u8]) -> String {
    format!("E'{}'", bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect::<String>())
}

/// SQLite has no escapes, so `char()` spells other characters, a hundred at a time, because the number of its arguments
/// and the depth of an expression are limited.
fn sqlite(text: &str) -> String {
    if text.chars().all(plain) {
        return quoted(text);
    }
    let chars: Vec<char> = text.chars().collect();
    let part = |chars: &[char]| match chars.iter().all(|c| plain(*c)) {
        true => quoted(&chars.iter().collect::<String>()),
        false => {
            let points: Vec<String> = chars.iter().map(|c| u32::from(*c).to_string()).collect();
            format!("char({})", points.join(", "))
        }
    };
    format!("({})", chars.chunks(100).map(part).collect::<Vec<_>>().join(" || "))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn blob(bytes: &[u8]) -> String {
    format!("X'{}'", hex(bytes))
}

/// Not in decimals if there is a fraction, which not every version of SQLite reads exactly. The whole part and the
/// fraction in units of 2^-52 are exact, and so is their sum.
fn real(x: f64) -> String {
    let whole = x.trunc();
    match x {
        x if x.is_nan() => "NULL".to_owned(),
        x if x.is_infinite() => if x > 0.0 { "9e999" } else { "-9e999" }.to_owned(),
        // Both numbers are whole and in range.
        x if x != whole && x.abs() >= 1.0 => {
            format!("({} + {} / {PARTS:?})", whole as i64, ((x - whole) * PARTS) as i64)
        }
        x => format!("{x:?}"),
    }
}

const PARTS: f64 = 4_503_599_627_370_496.0;

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a'b\\'c\n\\! echo x\n.shell echo y\n:name :'x' $$ \u{1b}[2J \u{202e}é\u{1f600}";

    #[test]
    fn nothing_but_printable_ascii_comes_out() {
        for engine in [Engine::Postgres, Engine::Sqlite] {
            let out = literal(engine, &Cell::Text(HOSTILE.to_owned())).unwrap();
            assert!(out.chars().all(plain), "{out}");
        }
        assert_eq!(
            literal(Engine::Postgres, &Cell::Text(HOSTILE.to_owned())).unwrap(),
            "E'a''b\\\\''c\\n\\\\! echo x\\n.shell echo y\\n:name :''x'' $$ \\u001b[2J \\u202e\\u00e9\\U0001f600'"
        );
        assert_eq!(literal(Engine::Sqlite, &Cell::Text("é\n'".to_owned())).unwrap(), "(char(233, 10, 39))");
        assert_eq!(literal(Engine::Sqlite, &Cell::Text("it's".to_owned())).unwrap(), "'it''s'");
    }

    #[test]
    fn every_kind_of_value_has_its_own_spelling_on_sqlite() {
        let spelled = |cell: Cell| literal(Engine::Sqlite, &cell).unwrap();
        assert_eq!(spelled(Cell::Null), "NULL");
        assert_eq!(spelled(Cell::Integer(i64::MIN)), "-9223372036854775808");
        assert_eq!(spelled(Cell::Real(0.1)), "0.1");
        assert_eq!(spelled(Cell::Real(1.5)), "(1 + 2251799813685248 / 4503599627370496.0)");
        assert_eq!(spelled(Cell::Real(f64::NEG_INFINITY)), "-9e999");
        assert_eq!(spelled(Cell::Bytes(vec![0, 255])), "X'00ff'");
        assert_eq!(spelled(Cell::BrokenText(vec![0xff, 0x27])), "CAST(X'ff27' AS TEXT)");
        assert_eq!(spelled(Cell::Text("a\0b".to_owned())), "(char(97, 0, 98))");
    }

    #[test]
    fn bytes_that_are_no_text_have_a_spelling_on_postgres() {
        assert_eq!(literal(Engine::Postgres, &Cell::BrokenText(b"w\xff'".to_vec())).unwrap(), "E'\\x77\\xff\\x27'");
    }

    #[test]
    fn what_has_no_literal_is_refused() {
        let error = literal(Engine::Postgres, &Cell::Text("a\0b".to_owned())).unwrap_err();
        assert!(error.contains("NUL"), "{error}");
    }
}
