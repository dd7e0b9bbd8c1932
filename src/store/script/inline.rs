//! The dialect of a script: that of Postgres, with literals instead of parameters.

use crate::model::{Cell, Engine, Key};
use crate::preset::encoding::{Encoding, Encodings, Fraction, TextPattern, Unit};
use crate::preset::{Column, Marker};
use crate::store::sql::{Dialect, Postgres, Sql};
use std::sync::OnceLock;

/// A dialect without parameters, whose wanted rows are those in the batch's temporary table.
#[derive(Default)]
pub(super) struct Inline {
    /// True if keys are the owners'.
    of_owners: bool,
    /// The first value without a literal.
    problem: OnceLock<String>,
}

impl Inline {
    /// For statements about the owners' rows.
    pub(super) fn of_owners() -> Inline {
        Inline { of_owners: true, ..Inline::default() }
    }

    /// Why the text cannot be used, if so.
    pub(super) fn problem(&self) -> Option<&str> {
        self.problem.get().map(String::as_str)
    }

    pub(super) fn literal(&self, cell: &Cell) -> String {
        self.or_problem(literal(cell))
    }

    /// The text, or NULL and a problem.
    pub(super) fn or_problem(&self, text: Result<String, String>) -> String {
        text.unwrap_or_else(|why| {
            self.problem.get_or_init(|| why);
            "NULL".to_owned()
        })
    }
}

const STEPS: &str = "pg_temp.jobdoctor_steps";

impl Dialect for Inline {
    fn engine(&self) -> Engine {
        Engine::Postgres
    }

    /// The literal, with the cast that its parameter would have.
    fn placeholder(&self, n: usize, value: &Cell) -> String {
        let value_sql = self.literal(value);
        let parameter = Postgres.placeholder(n, value);
        match parameter.split_once("::") {
            Some((_, cast)) => format!("{value_sql}::{cast}"),
            None => value_sql,
        }
    }

    fn stands_for(&self, marker: &Marker, encodings: Option<&Encodings>) -> Option<String> {
        match marker {
            Marker::Now(_) | Marker::RunAt(_) => Some(self.or_problem(now(encodings))),
            Marker::NowRfc3339 => Some(rfc3339()),
            Marker::Queue => Some("jobdoctor_moved.queue".to_owned()),
            Marker::Moved => Some("jobdoctor_moved.moved".to_owned()),
            Marker::Ids | Marker::Reason | Marker::FailCode | Marker::Schema | Marker::Since(_) => None,
        }
    }

    fn keys(&self, sql: &mut Sql<'_>, columns: &[Column], _keys: &[&Key]) {
        if self.of_owners {
            let cast = columns.first().map(|column| column.type_name.as_str()).filter(|name| !name.is_empty());
            let cast = cast.map(|name| format!("::{name}")).unwrap_or_default();
            sql.push(&format!("(SELECT owner{cast} FROM {STEPS} WHERE owner IS NOT NULL)"));
            return;
        }
        let names: Vec<String> = (1..=columns.len()).map(|n| format!("k{n}")).collect();
        sql.push(&format!("(SELECT {} FROM {STEPS})", names.join(", ")));
    }

    fn wanted(&self, sql: &mut Sql<'_>, _columns: &[Column], _rows: &[(&Key, &str)]) {
        sql.push(&format!("{STEPS} AS w"));
    }
}

/// A value as a literal that no shell, terminal or client with another encoding misreads: every character outside
/// printable ASCII is escaped.
pub(super) fn literal(cell: &Cell) -> Result<String, String> {
    match cell {
        Cell::Null => Ok("NULL".to_owned()),
        Cell::BrokenText(bytes) => Ok(of_bytes(bytes)),
        cell => of_text(&cell.to_string()),
    }
}

fn plain(c: char) -> bool {
    c == ' ' || c.is_ascii_graphic()
}

/// In the escape syntax if needed, which does not depend on `standard_conforming_strings`.
fn of_text(text: &str) -> Result<String, String> {
    if text.contains('\0') {
        return Err("a text holds a NUL character, which Postgres has no literal for".to_owned());
    }
    if text.chars().all(|c| plain(c) && c != '\\') {
        return Ok(format!("'{}'", text.replace('\'', "''")));
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
fn of_bytes(bytes: &[u8]) -> String {
    format!("E'{}'", bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect::<String>())
}

/// The transaction's now in this encoding; without one, a native timestamp. A script may run hours after it was made, so
/// it holds no instant. It is read with the queue's schema on the search path, where nothing may be looked up.
pub(super) fn now(encodings: Option<&Encodings>) -> Result<String, String> {
    let native = Encoding::Native(None);
    Ok(match encodings.map_or(&native, Encodings::first) {
        Encoding::Native(None) => "pg_catalog.now()".to_owned(),
        Encoding::Native(Some(zone)) => format!("(pg_catalog.now() AT TIME ZONE {})", zone_sql(zone.name())?),
        Encoding::Epoch(Unit::Seconds) => format!("({MICROS} OPERATOR(pg_catalog./) 1000000::bigint)"),
        Encoding::Epoch(Unit::Millis) => format!("({MICROS} OPERATOR(pg_catalog./) 1000::bigint)"),
        Encoding::Epoch(Unit::Micros) => format!("({MICROS})"),
        Encoding::Epoch(Unit::Nanos) => format!("({MICROS} OPERATOR(pg_catalog.*) 1000::bigint)"),
        Encoding::EpochFloat => "EXTRACT(epoch FROM pg_catalog.now())::double precision".to_owned(),
        Encoding::Text(pattern) => text_of(pattern)?,
    })
}

/// Now as RFC 3339 text.
pub(super) fn rfc3339() -> String {
    let text = "pg_catalog.to_char(pg_catalog.now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US')";
    format!("(pg_catalog.rtrim(pg_catalog.rtrim({text}, '0'), '.') OPERATOR(pg_catalog.||) 'Z')")
}

/// Microseconds since 1970. A double is exact enough to round to one microsecond.
const MICROS: &str =
    "(EXTRACT(epoch FROM pg_catalog.now())::double precision OPERATOR(pg_catalog.*) 1000000::double precision)::bigint";

fn zone_sql(name: &str) -> Result<String, String> {
    literal(&Cell::Text(name.to_owned()))
}

fn text_of(pattern: &TextPattern) -> Result<String, String> {
    let wall = format!("pg_catalog.now() AT TIME ZONE {}", zone_sql(pattern.zone().name())?);
    let text = |fraction: &str| {
        let separator = if pattern.separator() == 'T' { "\"T\"" } else { " " };
        format!("pg_catalog.to_char({wall}, 'YYYY-MM-DD{separator}HH24:MI:SS{fraction}')")
    };
    let body = match pattern.fraction() {
        Fraction::None => text(""),
        Fraction::Three => text(".MS"),
        Fraction::Six => text(".US"),
        Fraction::SixOrNone => format!("pg_catalog.regexp_replace({}, '[.]000000$', '')", text(".US")),
        Fraction::Groups => format!("pg_catalog.regexp_replace({}, '([.]000)?000$', '')", text(".US")),
        Fraction::UpToThree => format!("pg_catalog.rtrim(pg_catalog.rtrim({}, '0'), '.')", text(".MS")),
    };
    Ok(match pattern.ending() {
        "" => body,
        ending => format!("({body} OPERATOR(pg_catalog.||) '{ending}')"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a'b\\'c\n\\! echo x\n.shell echo y\n:name :'x' $$ \u{1b}[2J \u{202e}é\u{1f600}";

    #[test]
    fn nothing_but_printable_ascii_comes_out() {
        let out = literal(&Cell::Text(HOSTILE.to_owned())).unwrap();
        assert!(out.chars().all(plain), "{out}");
        assert_eq!(
            out,
            "E'a''b\\\\''c\\n\\\\! echo x\\n.shell echo y\\n:name :''x'' $$ \\u001b[2J \\u202e\\u00e9\\U0001f600'"
        );
    }

    #[test]
    fn bytes_that_are_no_text_have_a_spelling() {
        assert_eq!(literal(&Cell::BrokenText(b"w\xff'".to_vec())).unwrap(), "E'\\x77\\xff\\x27'");
    }

    #[test]
    fn what_has_no_literal_is_refused() {
        let error = literal(&Cell::Text("a\0b".to_owned())).unwrap_err();
        assert!(error.contains("NUL"), "{error}");
    }

    #[test]
    fn no_instant_is_in_it() {
        for encoding in ["epoch s", "epoch ms", "epoch us", "epoch ns", "epoch s float", "text YYYY-MM-DDTHH:MM:SSZ"] {
            let sql = now(Some(&Encodings::new(Encoding::parse(encoding).unwrap(), Vec::new()))).unwrap();
            assert!(sql.contains("now()"), "{sql}");
        }
    }
}
