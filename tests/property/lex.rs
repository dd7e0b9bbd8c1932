use super::tries;
use jobdoctor::preset::ident::{literal, quoted};
use jobdoctor::preset::lex::{Kind, Token, lex, tokens};
use proptest::prelude::*;

/// The tokens without whitespace, each behind the first letter of its kind.
fn cut(sql: &str, quotes_in_brackets: bool) -> String {
    let shown = |token: Token<'_>| format!("{:.1}<{}>", format!("{:?}", token.kind), token.text);
    lex(sql, quotes_in_brackets).filter(|token| token.kind != Kind::Space).map(shown).collect()
}

#[test]
fn cuts_what_both_engines_read_alike() {
    for (sql, wanted) in [
        ("", ""),
        ("'it''s' x", "T<'it''s'>W<x>"),
        ("'a\\' b", "T<'a\\'>W<b>"),
        ("\"a\"\"b\".c", "Q<\"a\"\"b\">M<.>W<c>"),
        ("xe'a' {a} 'b'", "W<xe>T<'a'>Q<{a}>T<'b'>"),
        ("a->>'b' || c", "W<a>O<->>>T<'b'>O<||>W<c>"),
        ("a<>b AND c<=1", "W<a>O<<>>W<b>W<AND>W<c>O<<=>N<1>"),
        ("a=-1", "W<a>O<=>O<->N<1>"),
        ("1e5+1.5e-3-.5*0x1F", "N<1e5>O<+>N<1.5e-3>O<->N<.5>O<*>N<0x1F>"),
        ("1e+5-x 0x1e-1", "N<1e+5>O<->W<x>N<0x1e>O<->N<1>"),
        (":now, :now.created_at :=", "M<:now>M<,>M<:now.created_at>M<:=>"),
        ("x::text(1)", "W<x>M<::>W<text>M<(>N<1>M<)>"),
        ("{table}.{sql.x} {}", "Q<{table}>M<.>Q<{sql.x}>Q<{}>"),
        ("a \u{feff}b", "W<a>W<b>"),
        ("a$1 \u{e9}\u{1f600}\u{a0}", "W<a$1>W<\u{e9}\u{1f600}\u{a0}>"),
        ("a--b 'c\nd", "W<a>C<--b 'c>W<d>"),
        ("a/**/b /*/ ' */c", "W<a>C</**/>W<b>C</*/ ' */>W<c>"),
        ("a;}\\", "W<a>M<;>M<}>M<\\>"),
        ("$1 + $2", "M<$1>O<+>M<$2>"),
        ("a 'b", "W<a>U<'b>"),
        ("a 'b''", "W<a>U<'b''>"),
        ("\"a", "U<\"a>"),
        ("{a", "U<{a>"),
        ("a /* b", "W<a>C</* b>"),
        ("a ? b", "W<a>O<?>W<b>"),
        ("a @- b||-1", "W<a>O<@->W<b>O<||->N<1>"),
        ("a+--b", "W<a>O<+>C<--b>"),
        ("OPERATOR (x", "W<OPERATOR>M<(>W<x>"),
    ] {
        assert_eq!(cut(sql, false), wanted, "{sql} on Postgres");
        assert_eq!(cut(sql, true), wanted, "{sql} on SQLite");
    }
}

#[test]
fn cuts_what_the_engines_read_differently() {
    for (sql, of_postgres, of_sqlite) in [
        ("[a b]", "M<[>W<a>W<b>M<]>", "Q<[a b]>"),
        ("a[1:2]", "W<a>M<[>N<1>M<:>N<2>M<]>", "W<a>Q<[1:2]>"),
        ("[a", "M<[>W<a>", "U<[a>"),
        ("`x`", "O<`>W<x>O<`>", "Q<`x`>"),
        ("`a``b", "O<`>W<a>O<``>W<b>", "U<`a``b>"),
        ("E'\\'' x", "T<E'\\''>W<x>", "W<E>U<'\\'' x>"),
        ("e'it''s' X'0f'", "T<e'it''s'>T<X'0f'>", "W<e>T<'it''s'>W<X>T<'0f'>"),
        ("E'\\'", "U<E'\\'>", "W<E>T<'\\'>"),
        ("U&\"a\"\"b\" u&'\\'", "Q<U&\"a\"\"b\">T<u&'\\'>", "W<U>O<&>Q<\"a\"\"b\">W<u>O<&>T<'\\'>"),
        ("$$ ' $$ x", "T<$$ ' $$>W<x>", "M<$$>U<' $$ x>"),
        ("$a$ ' $b$ $a$", "T<$a$ ' $b$ $a$>", "M<$a$>U<' $b$ $a$>"),
        ("$a$ x", "U<$a$ x>", "M<$a$>W<x>"),
        ("/* a /* b */ c */ d", "C</* a /* b */ c */>W<d>", "C</* a /* b */>W<c>O<*/>W<d>"),
        ("/*/* a */ b", "C</*/* a */ b>", "C</*/* a */>W<b>"),
        ("-- a\rb", "C<-- a>W<b>", "C<-- a\rb>"),
        ("OPERATOR({x}.=)", "W<OPERATOR>M<(>Q<{x}>M<.>O<=>M<)>", "W<OPERATOR>M<(>Q<{x}>M<.>O<=>M<)>"),
        ("a OPERATOR(x.->) b", "W<a>O<OPERATOR(x.->)>W<b>", "W<a>W<OPERATOR>M<(>W<x>M<.>O<->>M<)>W<b>"),
    ] {
        assert_eq!(cut(sql, false), of_postgres, "{sql} on Postgres");
        assert_eq!(cut(sql, true), of_sqlite, "{sql} on SQLite");
    }
}

#[test]
fn a_value_stands_without_its_quotes() {
    let values = |sql: &str, quotes| tokens(sql, quotes).map(|token| token.value()).collect::<Vec<_>>().join("|");
    assert_eq!(values("a 'it''s' \"b\"\"c\" /* x */ '' 1.5", false), "a|it's|b\"c||1.5");
    assert_eq!(values("[a b] `c``d` 'x", true), "a b|c`d|'x");
    assert_eq!(values("E'a' [b]", false), "E'a'|[|b|]");
}

/// SQL that is rich in what begins and ends tokens.
fn tricky() -> impl Strategy<Value = String> {
    prop_oneof![".{0,40}", r#"([-'"`\[\]{}$*/:.\\;()?@=<>|&eEuUxX19aé \n]|/\*|\*/|--|\$a\$|OPERATOR\(){0,40}"#]
}

proptest! {
    #![proptest_config(tries(1000))]

    /// The tokens of any text, joined, are the text, and no token is empty.
    #[test]
    fn tokens_are_the_whole_text(sql in tricky(), quotes_in_brackets: bool) {
        let tokens: Vec<Token<'_>> = lex(&sql, quotes_in_brackets).collect();
        prop_assert!(tokens.iter().all(|token| !token.text.is_empty()));
        prop_assert_eq!(tokens.iter().map(|token| token.text).collect::<String>(), sql);
    }

    /// What jobdoctor quotes is one token, whatever stands behind it.
    #[test]
    fn what_is_quoted_is_one_token(text in "[^\0]{0,30}", after in tricky(), quotes_in_brackets: bool) {
        for (quoted, kind) in [(quoted(&text), Kind::Quoted), (literal(&text), Kind::Text)] {
            let sql = format!("{quoted} {after}");
            let first = lex(&sql, quotes_in_brackets).next().expect("a token");
            prop_assert_eq!((first.kind, first.text, first.value()), (kind, quoted.as_str(), text.clone()));
        }
    }

    /// SQLite reads a text of quotes and comments as it is cut here.
    #[test]
    fn sqlite_reads_the_same(parts in proptest::collection::vec(r#"'[-a'*/\\]{0,5}'|/\*[-'"*/a]{0,6}\*/|--[-'*/a]{0,5}\n|[-+*/ ]"#, 0..6)) {
        let sql = format!("1 {} 1", parts.concat());
        let connection = rusqlite::Connection::open_in_memory().expect("memory");
        let value = |sql: &str| connection.query_row(&format!("SELECT {sql}"), [], |row| row.get::<_, rusqlite::types::Value>(0)).ok();
        let respelled: String = tokens(&sql, true).map(|token| match token.kind {
            Kind::Text => format!(" {} ", literal(&token.value())),
            _ => format!(" {} ", token.text),
        }).collect();
        prop_assert_eq!(value(&sql), value(&respelled), "{}", respelled);
    }
}
