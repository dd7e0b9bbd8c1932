//! SQL with places for names, markers and fragments.

use jobdoctor::preset::{Piece, Template};

fn text(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| format!("{piece:?} ")).collect()
}

#[test]
fn leaves_quotes_comments_casts_and_slices_alone() {
    for sql in
        ["a || '{}' || '{a:b}' || '$.x'", "x::text", "a[1:2]", "-- :nope\n1", "/* {x} :y */ 1", "\"a:b\"", "m ? 'k'"]
    {
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
    for sql in ["a = :delay", "a; b", "{", "'open", "$$x$$", "{a b}", "}"] {
        assert!(Template::parse(sql).is_err(), "{sql}");
    }
}
