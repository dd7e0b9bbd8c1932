//! Ids, owners and names that would like to be commands. The real shell must see texts.

use crate::support::cli::Doctor;
use crate::support::postgres::fresh;
use crate::support::shells::psql;

/// What the shell, or SQL itself, would read as something else.
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
