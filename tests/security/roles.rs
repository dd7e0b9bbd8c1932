//! The roles of docs/rights.md, for each library: what they are granted is enough for what they are for, and the
//! looking role can do nothing else. What Postgres lets any role do is listed on the page, and here.

use crate::queues::rights::{of, orphan, words};
use crate::queues::tables::by_age;
use crate::readme::block::text_of;
use crate::support::cli::Doctor;
use crate::support::dice::one_in;
use crate::support::postgres::TestDatabase;
use postgres::{Client, NoTls};

/// The library whose grants stand in one block, and the one that nothing is moved in.
const IN_ONE_BLOCK: &str = "procrastinate";
const ADVICE_ONLY: &str = "que";

/// What the role is refused, besides what is tried on each table; 42501 is "insufficient privilege".
const REFUSED: [&str; 18] = [
    "SELECT * FROM secrets",
    "COPY secrets TO STDOUT",
    "CREATE TABLE mine ()",
    "CREATE TABLE public.mine ()",
    "CREATE TEMP TABLE mine ()",
    "CREATE SCHEMA mine",
    "CREATE VIEW mine AS SELECT 1",
    "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE ROLE mine",
    "SET ROLE doctor",
    "SET SESSION AUTHORIZATION doctor",
    "SET session_replication_role = replica",
    "COPY (SELECT 1) TO '/tmp/jobdoctor-mine'",
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "SELECT pg_read_file('PG_VERSION')",
    "SELECT pg_ls_dir('.')",
    "SELECT nextval('drawn')",
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'doctor' AND datname = current_database()",
];

/// What nobody can take away; the page says so.
const ALLOWED: [&str; 4] = [
    "SELECT pg_advisory_xact_lock(42)",
    "NOTIFY news",
    "SELECT lo_create(0)",
    "SET default_transaction_read_only = off",
];

/// With roles of this database's own: roles belong to the whole server.
struct Roles {
    look: String,
    act: String,
}

impl Roles {
    fn of(database: &TestDatabase) -> Roles {
        let roles = Roles { look: format!("look_{}", database.name()), act: format!("act_{}", database.name()) };
        database.client().batch_execute(&roles.named(&text_of("sql roles"))).unwrap();
        database
            .client()
            .batch_execute(&text_of("sql close").replace("DATABASE app", &format!("DATABASE {}", database.name())))
            .unwrap();
        roles
    }

    /// A script of the page with these names.
    fn named(&self, script: &str) -> String {
        script.replace("doctor_look", &self.look).replace("doctor_act", &self.act)
    }

    fn go(&self, database: &TestDatabase) {
        for role in [&self.look, &self.act] {
            database.client().batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).unwrap();
        }
    }
}

fn address(database: &TestDatabase, role: &str) -> String {
    database.url().replace("user=doctor", &format!("user={role}"))
}

/// Every way of changing or holding rows of every table, in the order of the tables' names.
fn changes(client: &mut Client) -> Vec<String> {
    let tables = "SELECT format('%I.%I', n.nspname, c.relname), (SELECT quote_ident(a.attname) FROM pg_attribute AS a
            WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' AND a.attidentity <> 'a'
            ORDER BY a.attnum LIMIT 1)
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ORDER BY 1";
    let rows = client.query(tables, &[]).unwrap();
    assert!(rows.len() > 1, "the queue's tables and `secrets`");
    let each = |row: &postgres::Row| {
        let (table, column): (String, String) = (row.get(0), row.get(1));
        [
            format!("INSERT INTO {table} DEFAULT VALUES"),
            format!("UPDATE {table} SET {column} = {column}"),
            format!("DELETE FROM {table}"),
            format!("TRUNCATE {table} CASCADE"),
            format!("SELECT 1 FROM {table} FOR KEY SHARE"),
            format!("LOCK TABLE {table} IN ROW EXCLUSIVE MODE"),
            format!("ALTER TABLE {table} ADD COLUMN mine int"),
            format!("DROP TABLE {table} CASCADE"),
            format!(
                "CREATE TRIGGER mine BEFORE UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()"
            ),
        ]
    };
    rows.iter().flat_map(each).collect()
}

/// The error's code, in a transaction that is taken back.
fn code(client: &mut Client, sql: &str) -> Option<String> {
    let mut transaction = client.transaction().unwrap();
    transaction
        .batch_execute(sql)
        .err()
        .map(|error| error.code().unwrap_or_else(|| panic!("{sql}: {error}")).code().to_owned())
}

fn is_read_only(database: &TestDatabase, role: &str, queue: &str) {
    let mut client = Client::connect(&address(database, role), NoTls).unwrap();
    let changes = changes(&mut database.client());
    for sql in changes.iter().map(String::as_str).chain(REFUSED) {
        assert_eq!(code(&mut client, sql).as_deref(), Some("42501"), "{queue}: {sql}");
    }
    for sql in ALLOWED {
        assert_eq!(code(&mut client, sql), None, "{queue}: {sql}");
    }
}

#[test]
fn the_rights_of_the_pages_are_enough_and_the_looking_role_can_do_nothing_else() {
    let (newest, _) = by_age();
    assert!(newest.len() >= 12, "each library has its blocks");
    for tables in one_in(3, newest) {
        let (queue, database) = (tables.queue.as_str(), tables.made());
        orphan(&tables, &database).unwrap();
        let mut client = database.client();
        client.batch_execute("CREATE TABLE public.secrets (secret text); CREATE SEQUENCE public.drawn").unwrap();
        let roles = Roles::of(&database);
        let scripts = match queue {
            IN_ONE_BLOCK => vec!["sql grants procrastinate".to_owned()],
            ADVICE_ONLY => vec!["sql look que".to_owned()],
            _ => vec![format!("sql look {queue}"), format!("sql act {queue}")],
        };
        for script in &scripts {
            client.batch_execute(&roles.named(&text_of(script))).unwrap_or_else(|error| panic!("{script}: {error:?}"));
        }
        let doctor = Doctor::new();
        let look = address(&database, &roles.look);
        let [options, seen, act] =
            [&["option"][..], &["older", "option"], &["older", "to", "option"]].map(|flags| words(&tables, flags));
        let [options, seen, acting] = [of(&options), of(&seen), of(&act)];
        let looks = [("stale", &seen), ("owners", &seen), ("stats", &seen), ("reclaim", &acting), ("sweep", &acting)];
        for (command, words) in looks.into_iter().take(if queue == ADVICE_ONLY { 3 } else { 5 }) {
            let ran = doctor.run(&[&[command, "--db", &look], &words[..]].concat());
            assert_eq!(ran.code, 0, "{queue}: {command}: {ran:#?}");
        }
        is_read_only(&database, &roles.look, queue);
        if queue != ADVICE_ONLY {
            let apply = [&["reclaim", "--apply"], &acting[..]].concat();
            let applied = doctor.run(&[&apply, &["--db", &look][..]].concat());
            assert_eq!(applied.code, 77, "{queue}: {applied:#?}");
            let act = address(&database, &roles.act);
            let checked = doctor.run(&[&["check", "--db", &act], &options[..]].concat());
            assert_eq!(checked.code, 0, "{queue}: {checked:#?}");
            assert!(!checked.stdout.contains("interrupted jobs: "), "{queue}: {}", checked.stdout);
            let document = doctor.run(&[&apply, &["-o", "json", "--db", &act][..]].concat()).exits(0).json();
            let summary = &document["summary"];
            assert!(summary["planned"].as_u64() > Some(0), "{queue}: {document:#}");
            assert_eq!(summary["outcomes"]["moved"], summary["planned"], "{queue}: {document:#}");
            let mut client = Client::connect(&act, NoTls).unwrap();
            for sql in REFUSED {
                assert_eq!(code(&mut client, sql).as_deref(), Some("42501"), "{queue}, acting: {sql}");
            }
        }
        roles.go(&database);
    }
}

/// The counterpart: one right too many on one column of one table is noticed.
#[test]
#[should_panic(expected = "UPDATE public.jobs SET id = id")]
fn a_right_too_many_is_noticed() {
    let (doctor, database) = (Doctor::new(), crate::support::postgres::fresh());
    doctor.run(&["init", "--db", &database.url()]).exits(0);
    let mut client = database.client();
    client.batch_execute("CREATE TABLE public.secrets (secret text); CREATE SEQUENCE public.drawn").unwrap();
    let roles = Roles::of(&database);
    client.batch_execute(&roles.named(&text_of("sql grants lease"))).unwrap();
    is_read_only(&database, &roles.look, "lease");
    client.batch_execute(&format!("GRANT UPDATE (id) ON jobs TO {}", roles.look)).unwrap();
    is_read_only(&database, &roles.look, "lease");
}
