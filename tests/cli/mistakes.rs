//! What is wrong with a command line, an address, a preset or its tables is said in a sentence, with a way out. Nothing is read that
//! need not be, and nothing is made.

use super::scene::{STATE, calm, incident, orders, simple};
use crate::support::cli::{Doctor, fails};
use insta::assert_snapshot;

type Scene = fn() -> Doctor;

/// A scene, what else happens to its tables, a command, and the code that it ends in.
const MISTAKES: [(Scene, &str, &str, i32); 38] = [
    (incident, "", "stale --db queue.db --oldre 5m", 2),
    (incident, "", "stail", 2),
    (incident, "", "stale", 2),
    (incident, "", "stale --db queue.db --timeout 5M", 2),
    (incident, "", "stale --db queue.db -q -v", 2),
    (incident, "", "stale --db queue.db --state QUEUED", 2),
    (incident, "", "reclaim --db queue.db --apply --state RUNING", 2),
    (simple, "", "stale --db queue.db --preset simple --host web1", 2),
    (incident, "", "stale --db queue.db --queue mail[", 2),
    (incident, "", "sweep --db queue.db --id 1", 2),
    (incident, "", "show --db queue.db", 2),
    (incident, "", "sweep --restart --db queue.db", 2),
    (incident, "", "sweep --restart --host web1 --owner web2:* --db queue.db", 2),
    (incident, "", "sweep --restart --all-owners --older 5m --db queue.db", 2),
    (incident, "", "sweep --all-owners --db queue.db", 2),
    (incident, "", "sweep --restart --owner web1* --db queue.db --apply", 2),
    // A script gives an empty host when `hostname` fails.
    (incident, "", "sweep --restart --apply --db queue.db --host ", 2),
    (incident, "", "sweep --restart --apply --db queue.db --owner ", 2),
    (simple, "", "sweep --restart --host web1 --preset simple --db queue.db", 2),
    (simple, "", "sweep --restart --owner web1 --preset simple --db queue.db", 2),
    (Doctor::new, "", "stale --db mysql://root@db/app", 2),
    (Doctor::new, "", "stale --db sqlite:", 2),
    (Doctor::new, "", "stale --db ", 2),
    (incident, "", "show 99 abc --db queue.db", 66),
    (Doctor::new, "", "stale --db postgres://ops@127.0.0.1:1/app", 69),
    (Doctor::new, "", "reclaim --apply --db postgres:///app?host=/nonexistent&user=ops", 69),
    (incident, "", "stale --db queue.db --config none.toml", 78),
    (Doctor::new, "", "presets show leaze", 78),
    (incident, "", "stale --db queue.db --preset leese", 78),
    (incident, "", "stale --db queue.db --preset procrastinate", 78),
    (calm, "", "stale --db queue.db --preset lease --table jbos", 78),
    (incident, "", "init --db queue.db", 78),
    (orders, "", "stale --db orders.db --preset lease", 78),
    (
        orders,
        "ALTER TABLE order_queue RENAME started TO started_at",
        "stale --db orders.db --config config.toml --preset orders",
        78,
    ),
    (orders, "DROP TABLE worker_pings", "reclaim --db orders.db --config config.toml --preset orders --apply", 78),
    (Doctor::new, "CREATE TABLE users (id INTEGER PRIMARY KEY)", "stale --db queue.db", 78),
    (simple, "", "stale --db queue.db", 78),
    (incident, "UPDATE jobs SET status = 'PAUSED' WHERE id = 9", "reclaim --db queue.db --apply", 78),
];

#[test]
fn each_is_answered() {
    let mut said = String::new();
    for (scene, sql, line, code) in MISTAKES {
        let doctor = scene();
        let file = if line.contains("orders.db") { "orders.db" } else { "queue.db" };
        if !sql.is_empty() {
            doctor.sql_in(file, sql);
        }
        let (words, files) = (line.split(' ').collect::<Vec<_>>(), doctor.files());
        let ran = fails(&doctor, &words, code);
        said.push_str(&format!("$ jobdoctor {line}\n{}[exit {code}]\n\n", ran.stderr));
        assert_eq!(doctor.files(), files, "{line}");
    }
    assert_snapshot!(said);
}

/// The first line that a value of an option is answered with.
fn answered(command: &[&str], option: &str) -> String {
    let ran = fails(&incident(), &[command, &["--db", "queue.db", option]].concat(), 2);
    format!("{option:22} {}\n", ran.stderr.lines().next().unwrap().trim_start_matches("error: "))
}

#[test]
fn limits_and_actions_and_rules() {
    let said = [
        "--limit=0",
        "--limit=-1",
        "--limit=many",
        "--to=delete",
        "--rule=lease_expired",
        "--rule=bogus",
        "--max-jobs=-1",
        "--delay=8d",
        "--delay=5M",
        "--jitter=30",
        "--max-stalls=-1",
        "--color=blue",
        "--output=yaml",
    ]
    .map(|option| answered(&["reclaim", "--apply"], option));
    assert_snapshot!(said.concat());
}

#[test]
fn a_name_is_an_identifier() {
    let doctor = incident();
    for table in ["jobs; DROP TABLE jobs", "jobs\" --", "(SELECT 1)"] {
        fails(&doctor, &["reclaim", "--db", "queue.db", "--preset", "lease", "--apply", "--table", table], 78);
    }
    assert_eq!(doctor.rows(STATE), incident().rows(STATE));
}
