//! Ids, owners and names that would like to be commands. The real shells must see texts.

use crate::cli::scene::JOBS;
use crate::support::cli::Doctor;
use crate::support::postgres::fresh;
use crate::support::shells::{psql, sqlite3};
use rusqlite::params;

/// What each shell, or SQL itself, would read as something else.
const TEXTS: [&str; 18] = [
    "it's",
    "''",
    "\\",
    "\\'",
    "a\n\\! touch PWNED\nb",
    "a\n.shell touch PWNED\n.quit\nb",
    ".quit",
    "'; DROP TABLE jobs; --",
    "\\'; DROP TABLE jobs; --",
    ":USER :'USER' :\"USER\" :{?USER}",
    "$jobdoctor$ $sql$ $$",
    "-- /* */",
    "tab\tcr\rbell\u{7}",
    "\u{1b}]0;title\u{7}\u{1b}[2J",
    "\u{202e}right to left",
    "naïve 日本語 \u{1f600}",
    "`touch PWNED`",
    " ",
];

#[test]
fn sqlite3_sees_texts() {
    let doctor = Doctor::new();
    doctor.sql("queue.db", &JOBS.replace("id INTEGER PRIMARY KEY", "id PRIMARY KEY"));
    let connection = doctor.connect("queue.db");
    let insert = "INSERT INTO jobs (id, status, owner_id, lease_token, lease_expires_at)
        VALUES (?1, 'RUNNING', ?1, ?1, unixepoch() - 5000)";
    let long = TEXTS.concat().repeat(40);
    for text in TEXTS.into_iter().chain([long.as_str(), "a\0b"]) {
        connection.execute(insert, params![text]).unwrap();
    }
    connection.execute(insert, params![i64::MIN]).unwrap();
    connection.execute(insert, params![1.5]).unwrap();
    connection.execute(insert, params![vec![0_u8, 39, 255]]).unwrap();
    let broken = insert.replace("?1", "CAST(X'ff270a' AS TEXT)");
    connection.execute(&broken, []).unwrap();
    // Each must be found by its own key, so that one and the text of it are two.
    connection.execute(insert, params!["1.5"]).unwrap();
    let all = TEXTS.len() + 7;
    let ran = doctor.run(&["reclaim", "--db", "queue.db", "--emit-sql"]).exits(0);
    assert!(ran.stdout.chars().all(|c| c == '\n' || c == ' ' || c.is_ascii_graphic()), "{}", ran.stdout);
    let done = sqlite3(&doctor.path("queue.db"), &ran.stdout).exits(0);
    assert_eq!(done.stdout, format!("batch 1 of 1: {all} of {all} moved\n"));
    assert_eq!(doctor.rows("queue.db", "SELECT status, count(*) FROM jobs GROUP BY 1"), [format!("QUEUED {all}")]);
    assert_eq!(doctor.files(), ["queue.db"]);
}

#[test]
fn psql_sees_texts() {
    let (doctor, database) = (Doctor::new(), fresh());
    let mut client = database.client();
    client
        .batch_execute(
            "CREATE TABLE jobs (id text PRIMARY KEY, status text NOT NULL, owner_id text, lease_token text,
                lease_expires_at timestamptz, heartbeat_at timestamptz, run_at timestamptz, attempts integer DEFAULT 0,
                error_detail text)",
        )
        .unwrap();
    let long = TEXTS.concat().repeat(40);
    for text in TEXTS.into_iter().chain([long.as_str()]) {
        let insert = "INSERT INTO jobs (id, status, owner_id, lease_token, lease_expires_at)
            VALUES ($1, 'RUNNING', $1, $1, now() - interval '1h')";
        client.execute(insert, &[&text]).unwrap();
    }
    let all = TEXTS.len() + 1;
    // Whatever the role or the database has set: the script says what it needs.
    client
        .batch_execute(&format!(
            "ALTER DATABASE {} SET standard_conforming_strings = off; ALTER DATABASE {0} SET search_path = ''",
            database.name()
        ))
        .unwrap();
    let ran = doctor.run(&["reclaim", "--db", &database.url(), "--schema", "public", "--emit-sql"]).exits(0);
    assert!(ran.stdout.chars().all(|c| c == '\n' || c == ' ' || c.is_ascii_graphic()), "{}", ran.stdout);
    let done = psql(&database, &ran.stdout).exits(0);
    assert_eq!(done.stderr, "");
    let count = "SELECT count(*)::text FROM public.jobs WHERE status = 'QUEUED'";
    assert_eq!(client.query_one(count, &[]).unwrap().get::<_, String>(0), all.to_string(), "{}", done.stdout);
}

/// Names are quoted as the program quotes them, inside the blocks of Postgres too.
#[test]
fn names_are_names() {
    let (doctor, database) = (Doctor::new(), fresh());
    let schema = "we'ird \"$sql$ $jobdoctor$ :USER \\! x";
    let quoted = schema.replace('"', "\"\"");
    let mut client = database.client();
    client
        .batch_execute(&format!(
            "CREATE SCHEMA \"{quoted}\"; CREATE TABLE \"{quoted}\".jobs (id bigint PRIMARY KEY, status text, owner_id text,
                lease_expires_at timestamptz, attempts integer);
            INSERT INTO \"{quoted}\".jobs VALUES (1, 'RUNNING', 'web1:1', now() - interval '1h', 0)"
        ))
        .unwrap();
    let arguments = ["reclaim", "--db", &database.url(), "--schema", schema, "--preset", "lease", "--emit-sql"];
    let ran = doctor.run(&arguments).exits(0);
    psql(&database, &ran.stdout).exits(0);
    let status = client.query_one(&format!("SELECT status FROM \"{quoted}\".jobs"), &[]).unwrap();
    assert_eq!(status.get::<_, String>(0), "QUEUED");
}

/// Real numbers to the last bit: what tells a heartbeat from the one before.
#[test]
fn real_numbers_are_the_same_numbers() {
    let doctor = Doctor::new();
    doctor.sql(
        "queue.db",
        &JOBS.replace("heartbeat_at INTEGER", "heartbeat_at").replace("lease_token TEXT", "lease_token"),
    );
    let connection = doctor.connect("queue.db");
    let insert = "INSERT INTO jobs (id, status, owner_id, lease_token, lease_expires_at)
        VALUES (?1, 'RUNNING', 'web1:1', ?2, unixepoch() - 5000)";
    let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
    for n in 0..300_i64 {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        let unit = (bits >> 11) as f64 / (1_u64 << 53) as f64;
        let x = [1.7e9 + unit * 1e6, unit, -unit * 1e3, unit * 1e15][usize::try_from(n % 4).unwrap()];
        connection.execute(insert, params![n, x]).unwrap();
    }
    let script = doctor.run(&["reclaim", "--db", "queue.db", "--emit-sql"]).exits(0).stdout;
    let done = sqlite3(&doctor.path("queue.db"), &script).exits(0);
    // Fractions below one are written in decimals, which old shells may read one bit off; those are then skipped.
    let moved: u32 = done.stdout.split([':', ' ']).filter_map(|word| word.parse().ok()).nth(2).unwrap();
    assert!(moved >= 225, "{}", done.stdout);
    let left = "SELECT count(*) FROM jobs WHERE status = 'RUNNING' AND (abs(lease_token) >= 1)";
    assert_eq!(doctor.rows("queue.db", left), ["0"]);
}
