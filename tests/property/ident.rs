use super::tries;
use jobdoctor::preset::ident::{literal, quoted};
use jobdoctor::preset::{Piece, Template};
use proptest::prelude::*;

proptest! {
    #![proptest_config(tries(300))]

    /// A quoted name is one name to the database, whatever is in it.
    #[test]
    fn a_name_stays_one_name(name in "[^\0]{1,30}") {
        let connection = rusqlite::Connection::open_in_memory().expect("memory");
        connection.execute_batch(&format!("CREATE TABLE {} (x)", quoted(&name))).expect("the name is quoted");
        let stored: String = connection.query_row("SELECT name FROM sqlite_schema", [], |row| row.get(0)).expect("a table");
        prop_assert_eq!(stored, name);
    }

    #[test]
    fn a_literal_stays_one_text(text in "[^\0]{0,30}") {
        let connection = rusqlite::Connection::open_in_memory().expect("memory");
        let sql = format!("SELECT {}", literal(&text));
        let back: String = connection.query_row(&sql, [], |row| row.get(0)).expect("a text");
        prop_assert_eq!(back, text);
    }

    /// The scanner never panics, and loses nothing of what it takes to be plain SQL.
    #[test]
    fn the_scanner_keeps_what_is_plain(sql in ".{0,60}") {
        if let Ok(template) = Template::parse(&sql)
            && template.0.iter().all(|piece| matches!(piece, Piece::Text(_)))
        {
            let back: String = template.0.iter().map(|piece| match piece { Piece::Text(text) => text.as_str(), _ => "" }).collect();
            prop_assert_eq!(back, sql);
        }
    }
}
