//! When a job may run again, in the spelling of its column: read back by the database itself.

use crate::support::cli::Ran;
use crate::support::shop::Shop;

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

fn reclaim(shop: &Shop, mapping: &str) -> Ran {
    std::fs::write(shop.doctor.path("config.toml"), mapping).unwrap();
    let words = "reclaim --config config.toml --preset home --max-jobs 9999 --apply --delay 1h --jitter 1h -o none";
    shop.run(&words.split(' ').collect::<Vec<_>>())
}

fn queue(shop: &Shop, of_type: &str) {
    let epoch = if shop.is_postgres() { "extract(epoch FROM now())::bigint" } else { "unixepoch()" };
    shop.sql(&format!(
        "CREATE TABLE home (id bigint PRIMARY KEY, status text, began bigint, due {of_type}, seen bigint);
         INSERT INTO home WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 20)
         SELECT id, 'busy', {epoch} - 7200 - id, NULL, NULL FROM n"
    ));
}

/// Everything that was written lies in the window, and it is not one instant.
fn fits(shop: &Shop, seconds: &str, encoding: &str) {
    let rows = shop.rows(&format!("SELECT {seconds} FROM home WHERE status = 'new'"));
    let seconds: Vec<f64> = rows.iter().map(|row| row.parse().unwrap()).collect();
    assert_eq!(seconds.len(), 20, "{encoding}");
    assert!(seconds.iter().all(|at| (3600.0 - 61.0..=7200.0 + 1.0).contains(at)), "{encoding}: {seconds:?}");
    let instants: std::collections::BTreeSet<String> = seconds.iter().map(|at| format!("{at:.0}")).collect();
    assert!(instants.len() > 15, "{encoding}: {seconds:?}");
}

#[test]
fn on_sqlite() {
    for (encoding, of_type, epoch) in [
        ("epoch s", "INTEGER", "due"),
        ("epoch ms", "INTEGER", "due / 1e3"),
        ("epoch us", "INTEGER", "due / 1e6"),
        ("epoch ns", "INTEGER", "due / 1e9"),
        ("epoch s float", "REAL", "due"),
        ("text YYYY-MM-DD HH:MM:SS utc", "TEXT", "unixepoch(due)"),
        ("text YYYY-MM-DDTHH:MM:SS.ffffffZ", "TEXT", "unixepoch(due)"),
        ("text YYYY-MM-DD HH:MM:SS[.f-fff] utc", "TEXT", "unixepoch(due)"),
    ] {
        let shop = Shop::on_sqlite();
        queue(&shop, of_type);
        reclaim(&shop, &mapping(encoding)).exits(0);
        fits(&shop, &format!("CAST(({epoch}) - unixepoch() AS TEXT)"), encoding);
        assert_eq!(shop.rows("SELECT count(DISTINCT typeof(due)) FROM home"), ["1"], "{encoding}");
    }
}

#[test]
fn on_postgres() {
    for (encoding, of_type, epoch) in [
        ("native", "timestamptz", "due"),
        ("native utc", "timestamp", "due AT TIME ZONE 'UTC'"),
        ("native Asia/Tokyo", "timestamp", "due AT TIME ZONE 'Asia/Tokyo'"),
        ("epoch s", "bigint", "to_timestamp(due)"),
        ("epoch ms", "bigint", "to_timestamp(due / 1e3)"),
        ("epoch s float", "double precision", "to_timestamp(due)"),
        ("text YYYY-MM-DDTHH:MM:SS.fffZ", "text", "due::timestamptz"),
    ] {
        let shop = Shop::on_postgres();
        queue(&shop, of_type);
        reclaim(&shop, &mapping(encoding)).exits(0);
        fits(&shop, &format!("extract(epoch FROM ({epoch}) - now())::float8"), encoding);
    }
}

/// A statement of the preset's own names the column whose spelling is meant.
#[test]
fn in_a_statement_of_its_own() {
    let text = mapping("epoch ms").replace(
        "clear = [\"began\"]\nset = { due = \":run_at\" }\n",
        "[[mapping.home.action.requeue.step]]\nrows = \"each\"\n\
         sql = \"UPDATE {home} SET status = 'new', due = :run_at.due, seen = :now.due WHERE id IN :ids\"\n",
    );
    let shop = Shop::on_sqlite();
    queue(&shop, "INTEGER");
    reclaim(&shop, &text).exits(0);
    fits(&shop, "CAST((due - seen) / 1e3 AS TEXT)", "epoch ms");
    // Without the column it is not said how to spell it.
    let said = reclaim(&shop, &text.replace(":run_at.due", ":run_at")).exits(78).stderr;
    assert!(said.contains("`:run_at.column`"), "{said}");
}
