//! The precondition compares what is stored, not what it means: values that snapshot alike are told apart.

use crate::support::doctor::{apply, built_in, outcomes, planned};
use crate::support::labs::{PostgresLab, Route, SqlLab, for_each_sql_store};
use crate::support::postgres::without_encoding;
use jobdoctor::model::{Engine, Outcome};

/// Judges a job whose token is the first value, puts the second in its place, and applies.
fn end(lab: &dyn SqlLab, declared: &str, from: &str, to: &str) -> Outcome {
    lab.clear();
    lab.run(&format!(
        "CREATE TABLE jobs (id integer PRIMARY KEY, status text, owner_id text, heartbeat_at {}, lease_token {declared}, \
         attempts integer)",
        lab.pick("integer", "timestamptz")
    ));
    lab.run(&format!("INSERT INTO jobs VALUES (1, 'RUNNING', 'w', {}, {from}, 0)", lab.ago(900)));
    let (store, spec, steps) = planned(lab, &built_in("lease"));
    lab.run(&format!("UPDATE jobs SET lease_token = {to}"));
    let before = lab.image("jobs");
    let end = outcomes(&apply(&*store, &spec, &steps))[0];
    assert_eq!(end == Outcome::Changed, lab.image("jobs") == before, "{}: {from} then {to}", lab.name());
    end
}

fn pairs(lab: &dyn SqlLab, declared: &str, pairs: &[(&str, &str)]) {
    for (one, other) in pairs {
        for (from, to) in [(one, other), (other, one)] {
            assert_eq!(end(lab, declared, from, to), Outcome::Changed, "{}: {from} then {to}", lab.name());
        }
        for same in [one, other] {
            assert_eq!(end(lab, declared, same, same), Outcome::Moved, "{}: {same} then the same", lab.name());
        }
    }
}

#[test]
fn texts_that_look_alike() {
    for_each_sql_store(|lab| {
        pairs(
            lab,
            "text",
            &[
                ("NULL", "''"),
                ("NULL", "'NULL'"),
                ("'a'", "'A'"),
                ("'a'", "'a '"),
                ("'a,b'", "'a\"\",b'"),
                ("'\u{e9}'", "'e\u{301}'"),
                ("'(a)'", "'a'"),
                ("''''", "''''''"),
            ],
        );
    });
}

#[test]
fn values_of_another_type_on_sqlite() {
    for_each_sql_store(|lab| {
        if lab.engine() == Engine::Sqlite {
            pairs(
                lab,
                "",
                &[
                    ("5", "'5'"),
                    ("5", "5.0"),
                    ("0.30000000000000004", "0.3"),
                    ("x''", "''"),
                    ("x''", "NULL"),
                    ("x'61'", "'a'"),
                    ("'t61'", "'a'"),
                    ("'a' || char(0) || 'b'", "'a' || char(0) || 'c'"),
                    ("'a' || char(0)", "'a'"),
                    ("CAST(x'ff' AS text)", "CAST(x'fe' AS text)"),
                    ("9223372036854775807", "9223372036854775806"),
                ],
            );
        }
    });
}

#[test]
fn bytes_that_are_no_text_on_postgres() {
    for route in [Route::Direct, Route::Pooled] {
        let lab = PostgresLab::of(without_encoding(), route);
        pairs(
            &lab,
            "text",
            &[
                ("E'\\xff'", "E'\\xfe'"),
                ("E'\\xff'", "E'\\\\377'"),
                ("E'\\xff'", "E'\\xef\\xbf\\xbd'"),
                ("E'\\xff'", "''"),
            ],
        );
    }
}

#[test]
fn values_of_the_types_of_postgres() {
    for_each_sql_store(|lab| {
        if lab.engine() == Engine::Postgres {
            pairs(lab, "double precision", &[("0.30000000000000004", "0.3"), ("'NaN'", "NULL"), ("'-0'", "0")]);
            pairs(lab, "json", &[("'{\"a\":1}'", "'{\"a\": 1}'")]);
            pairs(lab, "jsonb", &[("'{\"a\":1}'", "'{\"a\":2}'"), ("'null'", "NULL")]);
            pairs(lab, "text[]", &[("'{a,b}'", "'{\"a,b\"}'"), ("'{}'", "NULL"), ("'{NULL}'", "'{\"NULL\"}'")]);
            pairs(lab, "text[]", &[("'{{a},{b}}'", "'{a,b}'")]);
            pairs(lab, "bytea", &[("'\\x00'", "'\\x'"), ("'\\x'", "NULL")]);
            pairs(
                lab,
                "timestamptz",
                &[("'infinity'", "'-infinity'"), ("'2026-01-01 00:00:00.000001Z'", "'2026-01-01Z'")],
            );
            pairs(lab, "interval", &[("'1 day'", "'24 hours'"), ("'1 mon'", "'30 days'")]);
            pairs(lab, "numeric", &[("1.0", "1.00")]);
            pairs(lab, "uuid", &[("'01890a5d-ac96-774b-bcce-b302099a8057'", "'01890a5d-ac96-774b-bcce-b302099a8058'")]);
        }
    });
}
