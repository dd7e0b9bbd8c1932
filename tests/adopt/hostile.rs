//! Names, comments and values that would be TOML, SQL or escape sequences wherever they are not quoted.

use super::draft::Draft;
use crate::support::shop::on_both;

const TABLE: &str = "jobs\"\n[mapping.evil]\nx = '''";
const COLUMN: &str = "st'at\"e\n# ]";
const WAITING: &str = "wait'\"\"\"\n[mapping.evil2]\u{1b}[31m";
const RUNNING: &str = "run\\\"\u{202e}ning";

fn name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[test]
fn names_and_values_stay_what_they_are() {
    on_both(|shop| {
        let (table, column, waiting, running) = (name(TABLE), name(COLUMN), text(WAITING), text(RUNNING));
        shop.sql(&format!(
            "CREATE TABLE {table} (id integer PRIMARY KEY, {column} text NOT NULL DEFAULT {waiting}, \"wor ker\"\"\" text, \"start.ed\" {{time}});
             INSERT INTO {table} VALUES (1, {running}, 'a', {{ago 9000}}), (2, {running}, 'b', {{ago 2}}), (3, {waiting}, NULL, NULL), (4, {waiting}, NULL, NULL)"
        ));
        if shop.is_postgres() {
            shop.sql(&format!("COMMENT ON TABLE {table} IS 'a\n[mapping.evil3]\ny = \"\"\"'; COMMENT ON COLUMN {table}.{column} IS 'b\r\n[mapping.evil4]'"));
        }
        let asking = Draft::of(shop, TABLE, &[], &[]);
        assert_eq!(asking.ran.code, 78, "{:#?}", asking.ran);
        let answers = [
            format!("claim.state={COLUMN}"),
            format!("states.waiting={WAITING}"),
            format!("states.in_flight={RUNNING}"),
            "owner.id=wor ker\"".to_owned(),
            "claim.liveness=age start.ed 30m".to_owned(),
        ];
        let complete = Draft::of(shop, TABLE, &answers, &["--dry-run=server"]);
        assert_eq!(complete.ran.code, 0, "{:#?}", complete.ran);
        for draft in [&asking, &complete] {
            let said = format!("{}{}", draft.ran.stdout, draft.ran.stderr);
            assert!(!said.contains(['\u{1b}', '\u{202e}']), "{said:?}");
            let document: toml::Table = draft.ran.stdout.parse().unwrap();
            let mappings: Vec<&str> = document["mapping"].as_table().unwrap().keys().map(String::as_str).collect();
            assert_eq!((document.len(), mappings), (1, vec!["m"]), "{}", draft.ran.stdout);
        }
        let mapping = complete.saved(shop);
        mapping.run(&["check"]).exits(0);
        assert_eq!(mapping.stuck().into_iter().collect::<Vec<_>>(), ["1"]);
        mapping.run(&["reclaim", "--apply"]).exits(0);
        let now =
            shop.rows(&format!("SELECT count(*) FROM {table} WHERE {column} = {waiting} AND \"start.ed\" IS NULL"));
        assert_eq!(now, ["3"]);
    });
}
