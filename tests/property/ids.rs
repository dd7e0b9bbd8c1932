//! The id that is printed is the job's own and reads back, whatever its key.

use super::tries;
use jobdoctor::model::{Cell, Key, read_id, spell_id};
use jobdoctor::output::format::inert;
use proptest::prelude::*;

fn parts() -> impl Strategy<Value = Vec<String>> {
    let c = prop_oneof![
        any::<char>(),
        proptest::char::range('\0', '\u{ff}'),
        proptest::char::range('\u{2000}', '\u{206f}'),
        proptest::sample::select(vec!['/', '"', '\\', ' ', '\n', '\r', 'a', '{', '\u{feff}', '\u{3000}']),
    ];
    let part = proptest::collection::vec(c, 0..5).prop_map(String::from_iter);
    proptest::collection::vec(part, 1..4)
}

proptest! {
    #![proptest_config(tries(300))]

    #[test]
    fn an_id_is_one_line_and_reads_back(parts in parts()) {
        let id = spell_id(&parts);
        prop_assert_eq!(read_id(&id, parts.len()), Some(parts.clone()), "{}", id);
        prop_assert_eq!(inert(&id), id.as_str());
        prop_assert!(!id.trim().is_empty() && id.trim() == id && id.lines().count() == 1, "{:?}", id);
        prop_assert_eq!(Key(parts.into_iter().map(Cell::Text).collect()).to_string(), id);
    }

    /// Together with reading back: no two keys have one id.
    #[test]
    fn no_other_text_is_read(id in parts().prop_map(|parts| parts.concat()), columns in 1..4_usize) {
        if let Some(parts) = read_id(&id, columns) {
            prop_assert_eq!(spell_id(&parts), id);
        }
    }

    #[test]
    fn most_ids_stand_as_they_are(id in "[!#-~¡-¬®-ͅ一-龥]{1,20}") {
        prop_assert_eq!(spell_id(std::slice::from_ref(&id)), id);
    }
}

#[test]
fn these_are_spelled_like_this() {
    for (parts, id) in [
        (&["42"][..], "42"),
        (&["a b"], "a b"),
        (&["a/b"], "a/b"),
        (&[""], r#""""#),
        (&["a\nb"], r#""a\nb""#),
        (&[" a"], r#"" a""#),
        (&["say \"hi\""], r#""say \"hi\"""#),
        (&["\u{7f}\u{9b}\u{202e}"], r#""\u007f\u009b\u202e""#),
        (&["a", "b/c"], r#"a/"b/c""#),
        (&["a/b", "c"], r#""a/b"/c"#),
        (&["", ""], r#"""/"""#),
    ] {
        let parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
        assert_eq!(spell_id(&parts), id);
    }
}
