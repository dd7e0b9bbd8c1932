//! SQL with places for names, markers and fragments.

use jobdoctor::model::Engine;
use jobdoctor::preset::{Piece, Template};

fn text(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| format!("{piece:?} ")).collect()
}

#[test]
fn leaves_quotes_comments_casts_and_slices_alone() {
    for sql in [
        "a || '{}' || '{a:b}' || '$.x'",
        "x::text",
        "a[1:2]",
        "-- :nope\n1",
        "/* {x} :y */ 1",
        "\"a:b\"",
        "m ? 'k'",
        "E'\\' :x'",
        "/* /* */ :y */ 1",
    ] {
        assert_eq!(Template::parse(sql), Ok(Template(vec![Piece::Text(sql.into())])), "{sql}");
    }
    assert_eq!(Template::parse("'it''s :now'").map(|t| t.0.len()), Ok(1));
}

#[test]
fn finds_markers_names_and_fragments() {
    let template = Template::parse("UPDATE {jobs} SET a = :now.created_at, b = {sql.x} WHERE id IN :ids").unwrap();
    assert_eq!(
        text(&template.0),
        "Text(\"UPDATE \") Name(\"jobs\") Text(\" SET a = \") Marker(Now(Some(\"created_at\"))) Text(\", b = \") \
         Fragment(\"x\") Text(\" WHERE id IN \") Marker(Ids) "
    );
}

#[test]
fn refuses_what_it_does_not_know() {
    for sql in ["a = :delay", "a; b", "{", "'open", "$$x$$", "$a$ ' $a$", "E'\\'", "{a b}", "}"] {
        assert!(Template::parse(sql).is_err(), "{sql}");
    }
}

/// SQLite finds a table that is written to in any of its quotes, and none in a text.
#[test]
fn tables_that_are_written_to_are_named_in_braces() {
    for (sql, says) in [
        ("UPDATE {jobs} AS j SET a = 'INTO x', \"b\" = j.update WHERE c = [UPDATE y]", ""),
        ("INSERT OR IGNORE INTO {jobs} (a) VALUES (:now) ON CONFLICT DO UPDATE SET a = ''", ""),
        ("INSERT INTO app.jobs (a) VALUES (1)", "writes to app.jobs:"),
        ("INSERT INTO [a b] (a) VALUES (1)", "writes to [a b]:"),
        ("UPDATE OR FAIL `jobs` SET a = 1", "writes to `jobs`:"),
        ("UPDATE \u{feff}'jobs' SET a = 1", "writes to 'jobs':"),
        ("SELECT E'\\' INTO jobs --'", "holds a comment"),
        ("SELECT E'\\' INTO jobs '", "writes to jobs:"),
        ("DELETE FROM {log} WHERE a = 1", "names {log}, which is none"),
        ("SELECT 1 /* UPDATE x */", "holds a comment"),
    ] {
        let template = Template::parse(sql).unwrap();
        let said = template.names_tables(Engine::Sqlite, &|name| name == "jobs").err().unwrap_or_default();
        assert!(said.starts_with(says) && said.is_empty() == says.is_empty(), "{sql}: {said}");
    }
}
