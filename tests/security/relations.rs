//! S10: no statement reaches another relation than the queue's own tables, the ledger and the system's catalog, whatever stands
//! ahead of them on the search path. The server's log says what was asked, and its counters what was touched.

use super::server::Watched;
use super::statement::{names, verb};
use crate::support::cli::{Doctor, until};
use postgres::Client;
use std::collections::{BTreeMap, BTreeSet};

/// What the program may name besides what is the system's own.
const QUEUE: [&str; 2] = ["public.jobs", "public.jobdoctor_ledger"];

/// The same names ahead on the path, and what the queue's role could read if it were asked to.
const DECOYS: &str = "CREATE SCHEMA decoy;
    CREATE TABLE decoy.jobs (LIKE public.jobs INCLUDING ALL);
    CREATE TABLE decoy.jobdoctor_ledger (LIKE public.jobdoctor_ledger INCLUDING ALL);
    CREATE TABLE decoy.pg_class (oid oid, relname name, relnamespace oid, relkind \"char\");
    CREATE TABLE public.secrets (secret text);
    INSERT INTO public.secrets VALUES ('c4n4ry');
    INSERT INTO decoy.jobs SELECT * FROM public.jobs;
    ALTER DATABASE relations SET search_path = decoy, public";

const JOBS: &str = "INSERT INTO public.jobs (id, queue, kind, status, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at)
    SELECT n, 'mail', 'SendInvoice', 'RUNNING', 'web1:' || n, 'token', now() - interval '2h', now() - interval '2h',
           now() - interval '1h'
    FROM generate_series(1, 6) AS n";

/// How often each relation outside of the catalog was read or written, and nobody is at it any more.
fn touched(client: &mut Client) -> BTreeMap<String, i64> {
    let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    until("everybody has gone", || client.query_one(others, &[]).unwrap().get::<_, i64>(0) == 0);
    let counters =
        "SELECT schemaname || '.' || relname, coalesce(seq_scan, 0) + coalesce(idx_scan, 0) + n_tup_ins + n_tup_upd
            + n_tup_del
        FROM pg_stat_all_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')";
    client.query(counters, &[]).unwrap().iter().map(|row| (row.get(0), row.get(1))).collect()
}

fn touched_since(client: &mut Client, before: &BTreeMap<String, i64>) -> Vec<String> {
    let now = touched(client);
    now.into_iter().filter(|(name, count)| before.get(name) != Some(count)).map(|(name, _)| name).collect()
}

/// What a statement names and may not.
fn strangers(sql: &str) -> Vec<String> {
    let is_ours = |name: &String| name.starts_with("pg_catalog.") || QUEUE.contains(&name.as_str()) || name == "unnest";
    names(sql).into_iter().filter(|name| !is_ours(name)).collect()
}

#[test]
fn a_whole_day_reaches_nothing_but_the_queue() {
    let (watched, doctor) = (Watched::database("relations"), Doctor::new());
    let url = watched.url();
    doctor.run(&["init", "--db", &url]).exits(0);
    doctor.run(&["init", "--ledger", "--db", &url]).exits(0);
    let mut client = watched.client();
    client.batch_execute(JOBS).unwrap();
    client.batch_execute(DECOYS).unwrap();
    drop(client);
    let mut client = watched.client();
    let before = touched(&mut client);
    let first = watched.statements().len();
    let run = |arguments: &[&str], code: i32| {
        doctor.run(&[arguments, &["--db", &url, "--preset", "lease", "--schema", "public"]].concat()).exits(code)
    };
    for look in [&["stale"][..], &["owners"], &["stats"], &["check"], &["reclaim"], &["sweep"]] {
        run(look, 0);
    }
    run(&["stats", "--runtimes"], 0);
    run(&["health"], 1);
    assert_eq!(touched_since(&mut client, &before), ["public.jobs"], "looks read the jobs and nothing else");
    run(&["show", "1"], 0);
    run(&["status"], 0);
    let looks = watched.statements().len();
    let moved = run(&["reclaim", "--apply", "--id", "1", "--id", "2", "-o", "json"], 0).json();
    run(&["sweep", "--apply"], 0);
    let id = moved["run_id"].as_str().unwrap();
    run(&["history", id], 0);
    run(&["undo", id], 0);
    run(&["undo", id, "--apply"], 0);
    assert_eq!(touched_since(&mut client, &before), ["public.jobdoctor_ledger", "public.jobs"]);

    let statements = watched.statements();
    assert!(statements.len() > first + 150, "{}", statements.len());
    for sql in &statements[first..] {
        assert_eq!(strangers(sql), Vec::<String>::new(), "{sql}");
    }
    let verbs = |statements: &[String]| statements.iter().map(|sql| verb(sql)).collect::<BTreeSet<_>>();
    let looking =
        ["begin", "close", "declare", "explain", "fetch", "release", "rollback", "savepoint", "select", "with"];
    let strange: Vec<String> =
        verbs(&statements[first..looks]).into_iter().filter(|verb| !looking.contains(&verb.as_str())).collect();
    assert_eq!(strange, Vec::<String>::new(), "a snapshot says nothing else");
    let acting = ["commit", "insert", "set", "update"];
    let is_known = |verb: &String| looking.contains(&verb.as_str()) || acting.contains(&verb.as_str());
    assert!(verbs(&statements[looks..]).iter().all(is_known), "{:?}", verbs(&statements[looks..]));
}

/// The counterparts: one statement too many is seen by its text and by what it did.
#[test]
fn a_statement_too_many_is_seen() {
    let watched = Watched::database("too_many");
    let mut client = watched.client();
    client
        .batch_execute("CREATE SCHEMA decoy; CREATE TABLE decoy.jobs (id int); CREATE TABLE secrets (secret text)")
        .unwrap();
    drop(client);
    let mut client = watched.client();
    let before = touched(&mut client);
    watched.client().batch_execute("SELECT * FROM secrets; SELECT 1 FROM decoy.jobs").unwrap();
    until("both are counted", || touched_since(&mut client, &before) == ["decoy.jobs", "public.secrets"]);
    assert_eq!(strangers("SELECT * FROM secrets, \"public\".\"jobs\" AS \"j\""), ["secrets"]);
    assert_eq!(strangers("SELECT \"j\".\"id\" FROM \"decoy\".\"jobs\" AS \"j\""), ["decoy.jobs"]);
    assert_eq!(strangers("UPDATE \"public\".\"jobs\" AS \"j\" SET x = evil.f(\"j\".\"id\")"), ["evil.f"]);
}
