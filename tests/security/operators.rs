//! While an action acts, the queue's schema is on the search path, because the library's triggers need it. Whoever may create things
//! there must not have an operator of theirs run as our role: for types that the system has no operator of exactly, such as
//! `varchar` or an enum, one made there would be the better match.

use crate::support::cli::Doctor;
use crate::support::postgres::fresh;
use std::collections::BTreeSet;
use std::fs;

/// Types that a key may have, and how a value of it is written.
const KEYS: [(&str, &str); 3] =
    [("varchar(40)", "'job-' || n"), ("public.label", "('n' || n)::public.label"), ("bigint", "n")];

const MAPPING: &str = "[mapping.home]
time   = { default = 'native' }
states = { waiting = ['new'], in_flight = ['working'], failed = ['dead'] }
attempts = { column = 'tries', max = 5, counted = 'at reclaim' }
[mapping.home.claim]
table = 'home_made'
key = 'id'
state = 'state'
claimed_at = 'started'
liveness = [{ by = 'heartbeat', column = 'pinged', silent_after = '5m' }]
[mapping.home.owner]
id = 'worker'
[mapping.home.action]
requeue = { to = 'new', clear = ['worker', 'started', 'pinged'] }
fail = { to = 'dead' }
";

/// Everything that the types of the table could meet, with a function behind it that leaves a trace.
fn traps(key: &str) -> String {
    let types = ["varchar", key, "public.state"];
    let pairs = types.iter().flat_map(|left| types.iter().chain(&["text"]).map(move |right| (*left, *right)));
    let mut made = BTreeSet::new();
    let mut sql = "CREATE TABLE public.trapped (what text);".to_owned();
    for (left, right) in pairs {
        let (left, right) = (left.split('(').next().unwrap(), right.split('(').next().unwrap());
        if left == "bigint" || right == "bigint" || !made.insert((left.to_owned(), right.to_owned())) {
            continue;
        }
        let name = format!("public.trap_{}", made.len());
        sql.push_str(&format!(
            "CREATE FUNCTION {name}({left}, {right}) RETURNS boolean LANGUAGE sql AS
               $$ INSERT INTO public.trapped VALUES ('{left} = {right}'); SELECT $1::text OPERATOR(pg_catalog.=) $2::text $$;
             CREATE OPERATOR public.= (LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = {name});"
        ));
    }
    sql
}

#[test]
fn of_the_queues_schema_are_not_used_by_our_statements() {
    for (key, value) in KEYS {
        let (database, doctor) = (fresh(), Doctor::new());
        fs::write(doctor.path("config.toml"), MAPPING).unwrap();
        let mut client = database.client();
        client
            .batch_execute(&format!(
                "CREATE TYPE public.label AS ENUM ('n1', 'n2', 'n3');
                 CREATE TYPE public.state AS ENUM ('new', 'working', 'dead');
                 CREATE TABLE home_made (id {key}, part varchar, state public.state, worker varchar, started timestamptz,
                     pinged timestamptz, tries integer, PRIMARY KEY (id));
                 INSERT INTO home_made SELECT {value}, 'a', 'working', 'w1', now() - interval '2h', now() - interval '1h', 0
                 FROM generate_series(1, 3) AS n"
            ))
            .unwrap();
        client.batch_execute(&traps(key)).unwrap_or_else(|error| panic!("{key}: {error:?}"));
        // It works for who steps into it.
        client.batch_execute("SELECT 1 FROM home_made WHERE part = 'a'::varchar").unwrap();
        let caught = "WITH gone AS (DELETE FROM public.trapped RETURNING what) SELECT DISTINCT what FROM gone";
        assert_eq!(client.query(caught, &[]).unwrap().len(), 1, "{key}");
        let url = database.url();
        let run = |arguments: &[&str]| {
            let ran = doctor.run(
                &[arguments, &["--db", &url, "--preset", "home", "--config", "config.toml", "-o", "json"]].concat(),
            );
            ran.exits(0).json()
        };
        let mut steps_into = |what: &str| {
            let trapped: Vec<String> = client.query(caught, &[]).unwrap().iter().map(|row| row.get(0)).collect();
            assert_eq!(trapped, Vec::<String>::new(), "{key}: {what}");
        };
        let moved = run(&["reclaim", "--apply"]);
        assert_eq!(moved["summary"]["outcomes"]["moved"], 3, "{key}: {moved:#}");
        steps_into("reclaim");
        let undone = run(&["undo", moved["run_id"].as_str().unwrap(), "--apply"]);
        assert_eq!(undone["applied"], true, "{key}: {undone:#}");
        steps_into("undo");
    }
}

/// Of `j.nope`, Postgres makes a call of a function `nope` that takes the row, where the table has no such column.
#[test]
fn a_function_is_not_taken_for_a_column() {
    let (database, doctor) = (fresh(), Doctor::new());
    let table =
        "CREATE TABLE home_made (id bigint PRIMARY KEY, part text, state text, worker text, started timestamptz,
            pinged timestamptz, tries integer);
        CREATE FUNCTION nope(home_made) RETURNS text LANGUAGE sql AS $$ SELECT 'trapped' $$;
        CREATE FUNCTION nope(record) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN 'trapped'; END $$;
        INSERT INTO home_made VALUES (1, 'a', 'working', 'w1', now() - interval '2h', now() - interval '1h', 0)";
    database.client().batch_execute(table).unwrap();
    let values = [
        "j.nope",
        "(j).nope",
        "(SELECT z.nope FROM (SELECT * FROM {home_made}) AS z WHERE z.id = j.id)",
        "(WITH w AS (SELECT y.* FROM {home_made} AS y) SELECT w.nope FROM w WHERE w.id = j.id)",
    ];
    for value in values {
        let set = MAPPING.replace("'pinged'] }", &format!("'pinged'], set = {{ part = '{value}' }} }}"));
        assert_ne!(set, MAPPING);
        fs::write(doctor.path("config.toml"), set).unwrap();
        let of_home = ["--db", &database.url(), "--preset", "home", "--config", "config.toml"];
        for words in [&["check"][..], &["reclaim", "--dry-run=server"], &["reclaim", "--apply"]] {
            let ran = doctor.run(&[words, &of_home].concat()).exits(78);
            assert!(format!("{}{}", ran.stdout, ran.stderr).contains("nope"), "{ran:#?}");
        }
    }
}

/// The role's own path puts somebody else's schema before the system's: on the way to a transaction, and where tables are made.
#[test]
fn of_a_schema_before_the_systems_are_never_used() {
    let (database, doctor) = (fresh(), Doctor::new());
    let trap = |name: &str, of: &str, body: &str| {
        format!(
            "CREATE FUNCTION public.{name}({of}) RETURNS {body} LANGUAGE plpgsql AS
             $$ BEGIN INSERT INTO public.trapped VALUES ('{name}'); RETURN NULL; END $$;"
        )
    };
    let traps = [
        "CREATE TABLE public.trapped (what text);".to_owned(),
        trap("joined", "text, text", "text"),
        trap("equals", "text, text", "boolean"),
        trap("evil", "pg_catalog.text", "boolean"),
        "CREATE OPERATOR public.|| (LEFTARG = text, RIGHTARG = text, FUNCTION = public.joined);
         CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = text, FUNCTION = public.equals);"
            .to_owned(),
        format!("ALTER DATABASE {} SET search_path = public, pg_catalog;", database.name()),
        "CREATE DOMAIN public.text AS pg_catalog.text CHECK (public.evil(value));
         CREATE DOMAIN public.timestamptz AS pg_catalog.timestamptz CHECK (false);
         CREATE DOMAIN public.xid8 AS pg_catalog.xid8 CHECK (false);"
            .to_owned(),
    ];
    database.client().batch_execute(&traps.concat()).unwrap();
    let (url, writable) = (database.url(), format!("{} target_session_attrs=read-write", database.url()));
    doctor.run(&["init", "--db", &url]).exits(0);
    doctor.run(&["init", "--ledger", "--db", &url]).exits(0);
    let dead = "INSERT INTO jobs (id, status, owner_id, lease_token, claimed_at, lease_expires_at)
        VALUES (1, 'RUNNING', 'web1:1', 'token', now() - interval '2h', now() - interval '1h')";
    let made = "SELECT count(*) FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) a.atttypid
        JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) a.attrelid
        WHERE c.relname IN ('jobs', 'jobdoctor_ledger') AND t.typtype OPERATOR(pg_catalog.=) 'd'";
    let mut client = database.client();
    client.batch_execute("SET search_path = pg_catalog, public").unwrap();
    assert_eq!(client.query_one(made, &[]).unwrap().get::<_, i64>(0), 0);
    client.batch_execute(dead).unwrap();
    doctor.run(&["stale", "--db", &writable]).exits(0);
    let done = doctor.run(&["reclaim", "--apply", "-o", "json", "--db", &writable]).exits(0).json();
    assert_eq!(done["summary"]["outcomes"]["moved"], 1);
    doctor.run(&["undo", done["run_id"].as_str().unwrap(), "--apply", "--db", &url]).exits(0);
    assert_eq!(client.query_one("SELECT count(*) FROM public.trapped", &[]).unwrap().get::<_, i64>(0), 0);
}
