//! When a job may run again, in the spelling of its column: read back by the database itself.

use crate::support::cli::Doctor;
use crate::support::postgres::fresh;

/// A home-made queue whose `due` column is spelled like that, in a preset of the config file.
fn mapping(encoding: &str) -> String {
    format!(
        "[mapping.home]\ntime = {{ default = \"epoch s\", due = \"{encoding}\" }}\n\
         states = {{ waiting = [\"new\"], in_flight = [\"busy\"] }}\n\
         [mapping.home.claim]\ntable = \"home\"\nkey = \"id\"\nstate = \"status\"\n\
         liveness = [{{ by = \"age\", column = \"began\", silent_after = \"1m\" }}]\n\
         [mapping.home.action.requeue]\nto = \"new\"\nclear = [\"began\"]\nset = {{ due = \":run_at\" }}\n"
    )
}

const RECLAIM: [&str; 14] = [
    "reclaim",
    "--config",
    "config.toml",
    "--preset",
    "home",
    "--max-jobs",
    "9999",
    "--apply",
    "--delay",
    "1h",
    "--jitter",
    "1h",
    "-o",
    "none",
];

/// Everything that was written lies in the window, and it is not one instant.
fn fits(encoding: &str, seconds: &[f64]) {
    assert_eq!(seconds.len(), 20, "{encoding}");
    assert!(seconds.iter().all(|at| (3600.0 - 61.0..=7200.0 + 1.0).contains(at)), "{encoding}: {seconds:?}");
    let instants: std::collections::BTreeSet<String> = seconds.iter().map(|at| format!("{at:.0}")).collect();
    assert!(instants.len() > 15, "{encoding}: {seconds:?}");
}

#[test]
fn on_sqlite() {
    for (encoding, type_name, epoch) in [
        ("epoch s", "INTEGER", "due"),
        ("epoch ms", "INTEGER", "due / 1e3"),
        ("epoch us", "INTEGER", "due / 1e6"),
        ("epoch ns", "INTEGER", "due / 1e9"),
        ("epoch s float", "REAL", "due"),
        ("text YYYY-MM-DD HH:MM:SS utc", "TEXT", "unixepoch(due)"),
        ("text YYYY-MM-DDTHH:MM:SS.ffffffZ", "TEXT", "unixepoch(due)"),
        ("text YYYY-MM-DD HH:MM:SS[.f-fff] utc", "TEXT", "unixepoch(due)"),
    ] {
        let doctor = Doctor::new();
        std::fs::write(doctor.path("config.toml"), mapping(encoding)).unwrap();
        doctor.sql(
            "home.db",
            &format!(
                "CREATE TABLE home (id INTEGER PRIMARY KEY, status TEXT, began INTEGER, due {type_name});
                 WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 20)
                 INSERT INTO home SELECT id, 'busy', unixepoch() - 7200 - id, NULL FROM n"
            ),
        );
        doctor.run(&[&RECLAIM[..], &["--db", "home.db"]].concat()).exits(0);
        let query = format!("SELECT CAST(({epoch}) - unixepoch() AS TEXT) FROM home WHERE status = 'new'");
        let seconds: Vec<f64> = doctor.rows("home.db", &query).iter().map(|row| row.parse().unwrap()).collect();
        fits(encoding, &seconds);
        assert_eq!(doctor.rows("home.db", "SELECT count(DISTINCT typeof(due)) FROM home"), ["1"], "{encoding}");
    }
}

#[test]
fn on_postgres() {
    let doctor = Doctor::new();
    for (encoding, type_name, epoch) in [
        ("native", "timestamptz", "due"),
        ("native utc", "timestamp", "due AT TIME ZONE 'UTC'"),
        ("native Asia/Tokyo", "timestamp", "due AT TIME ZONE 'Asia/Tokyo'"),
        ("epoch s", "bigint", "to_timestamp(due)"),
        ("epoch ms", "bigint", "to_timestamp(due / 1e3)"),
        ("epoch s float", "double precision", "to_timestamp(due)"),
        ("text YYYY-MM-DDTHH:MM:SS.fffZ", "text", "due::timestamptz"),
    ] {
        let database = fresh();
        std::fs::write(doctor.path("config.toml"), mapping(encoding)).unwrap();
        let create = format!(
            "CREATE TABLE home (id bigint PRIMARY KEY, status text, began bigint, due {type_name});
             INSERT INTO home SELECT n, 'busy', extract(epoch FROM now())::bigint - 7200 - n, NULL
             FROM generate_series(1, 20) AS n"
        );
        let mut client = database.client();
        client.batch_execute(&create).unwrap();
        doctor.run(&[&RECLAIM[..], &["--db", &database.url()]].concat()).exits(0);
        let query = format!("SELECT extract(epoch FROM ({epoch}) - now())::float8 FROM home WHERE status = 'new'");
        let seconds: Vec<f64> = client.query(&query, &[]).unwrap().iter().map(|row| row.get(0)).collect();
        fits(encoding, &seconds);
    }
}

/// A statement of the preset's own names the column whose spelling is meant.
#[test]
fn in_a_statement_of_its_own() {
    let doctor = Doctor::new();
    let text = mapping("epoch ms").replace(
        "clear = [\"began\"]\nset = { due = \":run_at\" }\n",
        "[[mapping.home.action.requeue.step]]\nrows = \"each\"\n\
         sql = \"UPDATE {home} SET status = 'new', due = :run_at.due, seen = :now.due WHERE id IN :ids\"\n",
    );
    std::fs::write(doctor.path("config.toml"), &text).unwrap();
    doctor.sql(
        "home.db",
        "CREATE TABLE home (id INTEGER PRIMARY KEY, status TEXT, began INTEGER, due INTEGER, seen INTEGER);
         WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 20)
         INSERT INTO home SELECT id, 'busy', unixepoch() - 7200 - id, NULL, NULL FROM n",
    );
    doctor.run(&[&RECLAIM[..], &["--db", "home.db"]].concat()).exits(0);
    let query = "SELECT CAST((due - seen) / 1e3 AS TEXT) FROM home WHERE status = 'new'";
    let seconds: Vec<f64> = doctor.rows("home.db", query).iter().map(|row| row.parse().unwrap()).collect();
    fits("epoch ms", &seconds);
    // Without the column it is not said how to spell it.
    std::fs::write(doctor.path("config.toml"), text.replace(":run_at.due", ":run_at")).unwrap();
    let said = crate::support::cli::fails(&doctor, &[&RECLAIM[..10], &["--db", "home.db"]].concat(), 78).stderr;
    assert!(said.contains("`:run_at.column`"), "{said}");
}
