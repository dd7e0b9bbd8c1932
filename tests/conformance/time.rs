//! Time columns as people fill them: what fits its declaration is read, what does not is unknown, and nothing is guessed.

use super::scan::{listed, listed_under};
use crate::support::doctor::{fit, mapping, try_resolve, verdicts};
use crate::support::labs::{PostgresLab, SqlLab, for_each_sql_store};
use jobdoctor::model::Engine;
use jobdoctor::policy::Policy;
use jobdoctor::preset::{Place, Preset};
use std::fmt::Display;

use Ends::{Healthy, Stuck, Unknown};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Healthy,
    Stuck,
    Unknown,
}

/// A table whose only sign of life is a heartbeat in that encoding; five minutes are allowed.
fn ticks(encoding: &str) -> Preset {
    mapping(&format!(
        r#"
        time   = {{ default = {encoding} }}
        states = {{ waiting = ["off"], in_flight = ["on"] }}
        [claim]
        table = "ticks"
        key = "id"
        state = "status"
        liveness = [{{ by = "heartbeat", column = "beat", silent_after = "5m" }}]
        [action.requeue]
        to = "off"
        "#
    ))
}

/// Fills the table with these expressions and compares what the doctor makes of each.
fn try_values(lab: &dyn SqlLab, encoding: &str, declared: &str, cases: &[(impl Display, Ends)]) {
    lab.clear();
    lab.run(&format!("CREATE TABLE ticks (id integer PRIMARY KEY, status text, beat {declared})"));
    for (id, (value, _)) in cases.iter().enumerate() {
        lab.run(&format!("INSERT INTO ticks VALUES ({}, 'on', {value})", 100 + id));
    }
    let preset = ticks(encoding);
    // The pre-filter must lose none of them, under any threshold.
    listed(lab, &preset);
    let store = lab.store();
    let said = verdicts(&*store, &fit(&*store, &preset), &Policy::default());
    for (id, (value, ends)) in cases.iter().enumerate() {
        let line = said.iter().find(|line| line.starts_with(&format!("{} ", 100 + id)));
        let found = match line {
            None => Healthy,
            Some(line) if line.contains(": unknown;") => Unknown,
            Some(_) => Stuck,
        };
        assert_eq!(found, *ends, "{}: {encoding} in a {declared} column: {value}: {line:?}", lab.name());
    }
    many(lab, encoding, cases);
}

/// The same values on more rows than two pages hold.
fn many(lab: &dyn SqlLab, encoding: &str, cases: &[(impl Display, Ends)]) {
    for (n, (value, _)) in cases.iter().enumerate() {
        let from = 10_000 * (n + 1);
        lab.run(&format!(
            "INSERT INTO ticks WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {}) \
             SELECT {from} + i, 'on', {value} FROM n",
            2500 / cases.len()
        ));
    }
    listed_under(lab, &ticks(encoding), &[Policy::default()]);
}

fn on(engine: Engine, test: impl Fn(&dyn SqlLab)) {
    for_each_sql_store(|lab| {
        if lab.engine() == engine {
            test(lab);
        }
    });
}

#[test]
fn epoch_integers_on_sqlite() {
    let unit = |encoding: &str, times: &str, wrong: &[&'static str]| {
        on(Engine::Sqlite, |lab| {
            let at = |seconds: i64| format!("(unixepoch('now') - ({seconds})) * {times}");
            let times = [(10, Healthy), (400, Stuck), (-30, Healthy), (-3600, Unknown), (900_000_000, Unknown)];
            let mut cases = times.map(|(ago, ends)| (at(ago), ends)).to_vec();
            let odd = ["NULL", "0", "-1", "9223372036854775807", "'2026-11-20 10:00:00'", "x'00'", "''", "1e300"];
            cases.extend(wrong.iter().chain(&odd).map(|value| ((*value).to_owned(), Unknown)));
            try_values(lab, encoding, "INTEGER", &cases);
            // And where nothing keeps a number from being text.
            cases.push(("CAST(unixepoch('now') AS text)".to_owned(), Unknown));
            try_values(lab, encoding, "", &cases);
        });
    };
    unit("'epoch s'", "1", &["unixepoch('now') * 1000", "unixepoch('now', 'subsec') + 0.25"]);
    unit("'epoch ms'", "1000", &["unixepoch('now')", "unixepoch('now') * 1000000"]);
    unit("'epoch us'", "1000000", &["unixepoch('now') * 1000"]);
    unit("'epoch ns'", "1000000000", &["unixepoch('now') * 1000000"]);
}

#[test]
fn epoch_floats_on_sqlite() {
    on(Engine::Sqlite, |lab| {
        try_values(
            lab,
            "'epoch s float'",
            "REAL",
            &[
                ("unixepoch('now') - 10", Healthy),
                ("unixepoch('now') - 10.5", Healthy),
                ("unixepoch('now') - 400.25", Stuck),
                ("unixepoch('now') + 3600", Unknown),
                ("9e999", Unknown),
                ("'soon'", Unknown),
                ("NULL", Unknown),
            ],
        );
    });
}

#[test]
fn text_on_sqlite() {
    on(Engine::Sqlite, |lab| {
        try_values(
            lab,
            "'text YYYY-MM-DD HH:MM:SS[.f-fff] utc'",
            "TEXT",
            &[
                ("datetime('now', '-10 seconds')", Healthy),
                ("datetime('now', '-400 seconds')", Stuck),
                ("datetime('now', '-400 seconds') || '.5'", Stuck),
                ("datetime('now', '-10 seconds') || '.25'", Healthy),
                ("datetime('now', '-400 seconds') || '.500'", Unknown),
                ("datetime('now', '-400 seconds') || 'Z'", Unknown),
                ("replace(datetime('now', '-400 seconds'), ' ', 'T')", Unknown),
                ("datetime('now', '+3600 seconds')", Unknown),
                ("'2026-02-30 10:00:00'", Unknown),
                ("'0000-00-00 00:00:00'", Unknown),
                ("unixepoch('now')", Unknown),
                ("julianday('now')", Unknown),
                ("''", Unknown),
                ("'now'", Unknown),
                ("CAST(x'ff' AS text)", Unknown),
                ("NULL", Unknown),
            ],
        );
        try_values(
            lab,
            "['text YYYY-MM-DDTHH:MM:SS[.ffffff]Z', 'text YYYY-MM-DD HH:MM:SS utc']",
            "TEXT",
            &[
                ("strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-10 seconds')", Healthy),
                ("strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-400 seconds')", Stuck),
                ("strftime('%Y-%m-%dT%H:%M:%S.000001Z', 'now', '-400 seconds')", Stuck),
                ("datetime('now', '-10 seconds')", Healthy),
                ("datetime('now', '-400 seconds')", Stuck),
                ("strftime('%Y-%m-%dT%H:%M:%S', 'now')", Unknown),
            ],
        );
    });
}

#[test]
fn native_times_on_postgres() {
    on(Engine::Postgres, |lab| {
        for encoding in ["'native'", "'native Europe/Paris'"] {
            try_values(
                lab,
                encoding,
                "timestamptz",
                &[
                    ("now() - interval '10 s'", Healthy),
                    ("now() - interval '400 s'", Stuck),
                    ("now() + interval '30 s'", Healthy),
                    ("now() + interval '1 h'", Unknown),
                    ("'infinity'", Unknown),
                    ("'-infinity'", Unknown),
                    ("'0044-03-15 12:00 BC'", Unknown),
                    ("'294276-01-01'", Unknown),
                    ("'1970-01-01'", Unknown),
                    ("NULL", Unknown),
                ],
            );
        }
    });
}

#[test]
fn zoneless_times_on_postgres() {
    // Whatever zone the session would be in, the declared one counts.
    for session in ["UTC", "Asia/Kolkata", "America/New_York", "Europe/Paris"] {
        let lab = PostgresLab::new();
        lab.run(&format!(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = %L', current_database(), '{session}'); END $$"
        ));
        for (encoding, zone) in [("'native utc'", "UTC"), ("'native Europe/Paris'", "Europe/Paris")] {
            let at = |what: &str| format!("({what}) AT TIME ZONE '{zone}'");
            let values = [
                (at("now() - interval '10 s'"), Healthy),
                (at("now() - interval '400 s'"), Stuck),
                (at("now() + interval '1 h'"), Unknown),
                ("'infinity'".to_owned(), Unknown),
                ("'-infinity'".to_owned(), Unknown),
            ];
            try_values(&lab, encoding, "timestamp", &values);
        }
    }
}

#[test]
fn a_zoneless_column_without_its_zone_is_refused() {
    on(Engine::Postgres, |lab| {
        lab.run("CREATE TABLE ticks (id bigint PRIMARY KEY, status text, beat timestamp)");
        let error = try_resolve(&*lab.store(), &ticks("'native'"), &Place::default()).unwrap_err();
        assert!(error.to_string().contains("native utc"), "{error}");
        for (declared, encoding) in [
            ("bigint", "'native'"),
            ("text", "'epoch s'"),
            ("timestamptz", "'epoch s'"),
            ("double precision", "'epoch s'"),
            ("boolean", "'epoch s'"),
            ("date", "'native'"),
            ("jsonb", "'text YYYY-MM-DD HH:MM:SS utc'"),
        ] {
            lab.clear();
            lab.run(&format!("CREATE TABLE ticks (id bigint PRIMARY KEY, status text, beat {declared})"));
            let resolved = try_resolve(&*lab.store(), &ticks(encoding), &Place::default());
            assert!(resolved.is_err(), "{encoding} in a {declared} column");
        }
    });
}

#[test]
fn numbers_on_postgres() {
    on(Engine::Postgres, |lab| {
        let at = |seconds: i64, times: &str| format!("((extract(epoch FROM now()) - ({seconds})) * {times})");
        for (encoding, times, declared) in [
            ("'epoch s'", "1", "bigint"),
            ("'epoch s'", "1", "integer"),
            ("'epoch ms'", "1000", "bigint"),
            ("'epoch us'", "1000000", "bigint"),
            ("'epoch ns'", "1000000000", "bigint"),
            ("'epoch s float'", "1", "double precision"),
            ("'epoch s float'", "1", "bigint"),
            ("'epoch s float'", "1", "numeric"),
            ("'epoch s float'", "1", "numeric(20, 6)"),
        ] {
            let cast = |value: String| format!("{value}::{declared}");
            let values = [
                (cast(at(10, times)), Healthy),
                (cast(at(400, times)), Stuck),
                (cast(at(-3600, times)), Unknown),
                (cast("0".to_owned()), Unknown),
                (cast("-1".to_owned()), Unknown),
                ("NULL".to_owned(), Unknown),
            ];
            try_values(lab, encoding, declared, &values);
        }
        try_values(
            lab,
            "'epoch s float'",
            "double precision",
            &[("'NaN'", Unknown), ("'Infinity'", Unknown), ("'-Infinity'", Unknown), ("1e300", Unknown)],
        );
        try_values(lab, "'epoch s float'", "numeric", &[("'NaN'", Unknown), ("1e100", Unknown)]);
    });
}

#[test]
fn text_on_postgres() {
    on(Engine::Postgres, |lab| {
        let at = |seconds: i64, form: &str| {
            format!("to_char((now() - make_interval(secs => {seconds})) AT TIME ZONE 'UTC', '{form}')")
        };
        let exact = "YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"";
        let values = [
            (at(10, exact), Healthy),
            (at(400, exact), Stuck),
            (at(-3600, exact), Unknown),
            (at(400, "YYYY-MM-DD HH24:MI:SS"), Unknown),
            ("''".to_owned(), Unknown),
        ];
        for declared in ["text", "varchar(40)"] {
            try_values(lab, "'text YYYY-MM-DDTHH:MM:SS.ffffffZ'", declared, &values);
        }
    });
}
