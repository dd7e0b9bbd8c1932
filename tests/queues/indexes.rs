//! Which indexes `check` takes for enough. `indexes::` makes the one that it proposes for each library, and asks the planner.

use super::tables::tables;
use crate::support::shop::Shop;
use serde_json::Value;

fn index(shop: &Shop, more: &[&str]) -> Option<Value> {
    let ran = shop.run(&[&["check", "--json"], more].concat());
    assert!(ran.code == 0 || ran.code == 78, "{}", ran.stderr);
    let document: Value = serde_json::from_str(&ran.stdout).ok()?;
    document["findings"].as_array()?.iter().find(|finding| finding["id"] == "index").cloned()
}

/// Home-made tables: what check says about their indexes after each of two statements.
#[test]
fn only_an_index_that_the_listing_reads_is_enough() {
    let by_age = "liveness = [{ by = 'age', column = 'at', silent_after = '1h' }]";
    let claim =
        "states = { waiting = ['new'], in_flight = ['run'] }\nclaim = { table = 'own', key = 'id', state = 'st',";
    let held = "state = \"'held'\", where = \"j.st = 'x' AND j.at IS NOT NULL\"";
    for (mapping, table, not_enough, enough) in [
        // Of one of two states in flight.
        (
            format!("states = {{ waiting = ['new'], in_flight = ['a', 'b'] }}\nclaim = {{ table = 'own', key = 'id', state = 'State', {by_age} }}"),
            r#"CREATE TABLE own (id bigint PRIMARY KEY, "State" text, at timestamptz)"#,
            r#"CREATE INDEX ON own (at) WHERE "State" = 'a'"#,
            r#"CREATE INDEX ON own (at) WHERE "State" = 'b'"#,
        ),
        // Of each partition.
        (
            format!("{claim} liveness = [] }}"),
            "CREATE TABLE own (id bigint PRIMARY KEY, st text) PARTITION BY HASH (id);
             CREATE TABLE own_0 PARTITION OF own FOR VALUES WITH (MODULUS 2, REMAINDER 0);
             CREATE TABLE own_1 PARTITION OF own FOR VALUES WITH (MODULUS 2, REMAINDER 1)",
            "CREATE INDEX ON own_0 (st)",
            "CREATE INDEX ON own_1 (id) WHERE st IN ('new', 'run')",
        ),
        // One that no listing asks for.
        (
            format!("claim = {{ table = 'own', key = 'id', {by_age}, {held} }}\nowner = {{ id = 'who' }}"),
            "CREATE TABLE own (id bigint PRIMARY KEY, st text, at timestamptz, who text)",
            "CREATE INDEX ON own (who)",
            "CREATE INDEX ON own (at)",
        ),
        // Finished rows keep their times.
        (
            format!("{claim} {by_age} }}"),
            "CREATE TABLE own (id bigint PRIMARY KEY, st text, at timestamptz)",
            "CREATE INDEX ON own (at)",
            "CREATE INDEX ON own (st, at)",
        ),
        // States that are numbers.
        (
            "states = { waiting = { new = 0 }, in_flight = { one = 1, two = 2 } }\nclaim = { table = 'own', key = 'id', state = 'n', liveness = [] }".to_owned(),
            "CREATE TABLE own (id bigint PRIMARY KEY, n integer)",
            "CREATE INDEX ON own (n) WHERE n = 1",
            "CREATE INDEX ON own (n) WHERE n IN (2, 3)",
        ),
    ] {
        only_the_second_is_enough(&Shop::on_postgres(), &mapping, table, [not_enough, enough]);
    }
}

fn only_the_second_is_enough(shop: &Shop, mapping: &str, table: &str, indexes: [&str; 2]) {
    shop.sql(table);
    std::fs::write(shop.doctor.path("config.toml"), format!("[mapping.own]\n{mapping}\n")).unwrap();
    for (statement, expected) in indexes.into_iter().zip(["warning", "ok"]) {
        shop.sql(statement);
        let index = index(shop, &["--config", "config.toml", "--preset", "own"]).unwrap();
        assert_eq!(index["severity"], expected, "{mapping} {statement}: {index}");
    }
}

#[test]
fn only_an_index_that_the_listing_reads_is_enough_on_sqlite() {
    let table = "CREATE TABLE own (id integer PRIMARY KEY, st text, at integer, who text, tries integer)";
    let held = |condition: &str| format!("state = \"'held'\", where = \"{condition}\"");
    for (claim, not_enough, enough) in [
        // One on a column that is seldom set, which SQLite does not know.
        (held("j.at IS NOT NULL"), "CREATE INDEX a ON own (at)", "create index b on own (at) where at is not null"),
        (held("j.at > 0"), "CREATE INDEX a ON own (who, at)", "CREATE INDEX b ON own (at) WHERE at IS NOT NULL"),
        (held("j.at <> 0"), "CREATE INDEX a ON own (at)", "CREATE INDEX b ON own (id) WHERE at <> 0"),
        // Bounds that jobs without a claim are in too.
        (
            held("j.who <> '' AND j.tries < 5"),
            "CREATE INDEX a ON own (tries); CREATE INDEX b ON own (who)",
            "CREATE INDEX c ON own (id) WHERE who <> '' AND tries < 5",
        ),
        // Rows in the order of the key are looked for by their state alone.
        (
            "state = 'st', where = \"j.who = 'x'\"".to_owned(),
            "CREATE INDEX a ON own (who)",
            "CREATE INDEX b ON own (st)",
        ),
    ] {
        let states = if claim.contains("'st'") { "states = { waiting = ['new'], in_flight = ['run'] }" } else { "" };
        let mapping = format!(
            "time = {{ default = 'epoch s' }}\n{states}
            claim = {{ table = 'own', key = 'id', liveness = [{{ by = 'age', column = 'at', silent_after = '1h' }}], {claim} }}"
        );
        only_the_second_is_enough(&Shop::on_sqlite(), &mapping, table, [not_enough, enough]);
    }
}

#[test]
fn types_of_a_schema_whose_name_needs_quotes_are_understood_in_an_index() {
    let (shop, sql) = (Shop::on_postgres(), tables("procrastinate", "3.10").sql);
    shop.sql(&format!(r#"CREATE SCHEMA "my-app"; SET search_path = "my-app"; {sql}"#));
    let index = index(&shop, &["--schema", "my-app"]).unwrap();
    assert_eq!(index["severity"], "ok", "{index}");
}
