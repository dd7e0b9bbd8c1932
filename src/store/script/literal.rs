//! Values as literals that no shell, terminal or client with another encoding misreads: every character outside
//! printable ASCII is escaped.

use crate::model::Cell;

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
}
