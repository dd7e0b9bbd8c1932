//! A stall budget where the rows count nothing: the ledger counts.

use crate::support::shop::{Shop, on_both};
use serde_json::Value;

const HOME_MADE: &str = r#"[mapping.home]
time     = { default = { sqlite = "epoch s", postgres = "native" } }
states   = { waiting = ["new"], in_flight = ["busy"], failed = ["dead"] }
attempts = { counted = "not in the table" }
[mapping.home.claim]
table      = "work"
key        = "id"
state      = "status"
claimed_at = "started"
liveness   = [{ by = "age", column = "started", silent_after = "1m" }]
[mapping.home.owner]
id = "worker"
[mapping.home.action]
requeue = { to = "new", clear = ["worker", "started"] }
fail    = { to = "dead" }
"#;

const ARGUMENTS: [&str; 4] = ["--config", "home.toml", "--preset", "home"];

fn home_made(shop: &Shop) {
    let key = if shop.is_postgres() { "PRIMARY KEY" } else { "PRIMARY KEY AUTOINCREMENT" };
    shop.sql(&format!("CREATE TABLE work (id integer {key}, status text, worker text, started {{time}})"));
    shop.sql("INSERT INTO work VALUES (1, 'new', NULL, NULL)");
    std::fs::write(shop.doctor.path("home.toml"), HOME_MADE).unwrap();
    is_lost(shop);
}

fn is_lost(shop: &Shop) {
    shop.sql("UPDATE work SET status = 'busy', worker = 'w1', started = {ago 4000}");
}

fn reclaim(shop: &Shop, more: &[&str]) -> Value {
    shop.run(&[&["reclaim", "--json"], &ARGUMENTS[..], more].concat()).exits(0).json()
}

fn planned(shop: &Shop, budget: &str) -> Value {
    reclaim(shop, &["--max-stalls", budget])["steps"][0]["action"].clone()
}

fn counts(shop: &Shop) {
    assert_eq!((planned(shop, "0"), planned(shop, "1")), ("fail".into(), "requeue".into()));
    let run = reclaim(shop, &["--apply"])["run_id"].as_str().unwrap().to_owned();
    is_lost(shop);
    assert_eq!((planned(shop, "1"), planned(shop, "2")), ("fail".into(), "requeue".into()));
    // A run that is taken back has lost nobody.
    shop.sql("UPDATE work SET status = 'new', worker = NULL, started = NULL");
    shop.run(&[&["undo", &run, "--apply"], &ARGUMENTS[..]].concat()).exits(0);
    assert_eq!(planned(shop, "1"), "requeue");
    // Lost twice from here on.
    for _ in 0..2 {
        reclaim(shop, &["--apply"]);
        is_lost(shop);
    }
    assert_eq!((planned(shop, "2"), planned(shop, "3")), ("fail".into(), "requeue".into()));
}

#[test]
fn the_ledger_counts_for_every_host() {
    on_both(|shop| {
        home_made(shop);
        shop.run(&[&["init", "--ledger"], &ARGUMENTS[..]].concat()).exits(0);
        counts(shop);
        // Runs within one second keep their order where instants are texts.
        let lengths = "SELECT DISTINCT length(CAST(moved_at AS text)) FROM jobdoctor_ledger";
        assert_eq!(shop.rows(shop.pick(lengths, "SELECT 27")), ["27"]);
        // Another host has no journal of it.
        std::fs::remove_dir_all(shop.doctor.home(".local")).unwrap();
        assert_eq!(planned(shop, "2"), "fail");
    });
}

/// A budget that nothing counts would never be spent. The journal of one host is no count: another host does not know it.
#[test]
fn where_nothing_counts_a_budget_is_refused() {
    on_both(|shop| {
        home_made(shop);
        reclaim(shop, &["--apply"]);
        is_lost(shop);
        let ran = shop.run(&[&["reclaim", "--max-stalls", "1"], &ARGUMENTS[..]].concat()).exits(2);
        ran.says("nothing counts how often").says("init --ledger");
    });
}

/// SQLite gives the id of a deleted row to a new one, whose losses begin anew. Its attempts or its kind tell.
#[test]
fn another_job_under_the_id_of_one_that_was_deleted() {
    let mapping = HOME_MADE
        .replace(
            "counted = \"not in the table\"",
            "column = \"tries\", counted = \"at reclaim\", max = 50, exhausted = \"fail\"",
        )
        .replace("key        = \"id\"", "key = \"id\"\nkind = \"kind\"");
    let inserted = |shop: &Shop, kind: &str, tries: u32| {
        shop.sql(&format!(
            "DELETE FROM work; INSERT INTO work VALUES (1, 'busy', 'w1', {{ago 4000}}, {tries}, '{kind}')"
        ));
    };
    on_both(|shop| {
        home_made(shop);
        std::fs::write(shop.doctor.path("home.toml"), &mapping).unwrap();
        shop.sql("ALTER TABLE work ADD COLUMN tries integer");
        shop.sql("ALTER TABLE work ADD COLUMN kind text");
        shop.run(&[&["init", "--ledger"], &ARGUMENTS[..]].concat()).exits(0);
        inserted(shop, "mail", 0);
        for _ in 0..2 {
            reclaim(shop, &["--apply"]);
            is_lost(shop);
        }
        assert_eq!((planned(shop, "2"), planned(shop, "3")), ("fail".into(), "requeue".into()));
        // As many attempts, but of another kind.
        inserted(shop, "report", 2);
        assert_eq!(planned(shop, "0"), "fail");
        assert_eq!(planned(shop, "1"), "requeue");
        inserted(shop, "mail", 0);
        assert_eq!(planned(shop, "1"), "requeue", "its first loss");
        // And what is lost from here on is the new one's.
        reclaim(shop, &["--apply"]);
        is_lost(shop);
        assert_eq!((planned(shop, "1"), planned(shop, "2")), ("fail".into(), "requeue".into()));
    });
}

/// Without attempts nothing tells it from the old one.
#[test]
fn where_ids_are_given_again_nothing_is_counted() {
    let shop = Shop::on_sqlite();
    home_made(&shop);
    shop.sql("ALTER TABLE work RENAME TO old; CREATE TABLE work (id integer PRIMARY KEY, status text, worker text, started integer)");
    shop.run(&[&["init", "--ledger"], &ARGUMENTS[..]].concat()).exits(0);
    let ran = shop.run(&[&["reclaim", "--max-stalls", "1"], &ARGUMENTS[..]].concat()).exits(2);
    ran.says("nothing counts how often").says("AUTOINCREMENT");
    // A listing lists all the same.
    shop.run(&[&["stale"], &ARGUMENTS[..]].concat()).exits(0);
}
