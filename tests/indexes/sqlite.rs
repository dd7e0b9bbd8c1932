//! SQLite explains its plan of each statement. It makes plans without looking at the rows unless somebody has run ANALYZE, so both
//! are tried.

use super::{OWN, ReadsAll, SIMPLE, differences, named, place};
use crate::queues::tables::{Tables, on_sqlite};
use crate::support::cli::Doctor;
use crate::support::doctor::{CATALOG, limits};
use jobdoctor::model::{Cell, Engine, Key};
use jobdoctor::ops::{self, Session, Snapshot};
use jobdoctor::output::Severity;
use jobdoctor::preset::Place;
use jobdoctor::store::{Address, SqliteDialect, Surroundings, open, reference_schema};

const KNOWN: [ReadsAll; 3] = [
    ReadsAll { queues: &[], statement: "count by state", why: "it counts every row; only `stats` sends it" },
    ReadsAll {
        queues: &["django-tasks"],
        statement: "finished",
        why: "no index on finished_at; the newest runs have a time limit of their own",
    },
    ReadsAll {
        queues: &["django-q", "goqite"],
        statement: "",
        why: "no index tells a claim: the payload says it, or a time that every row has; the library deletes what was handled",
    },
];

const ROWS: &str = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 2020)";

/// What ANALYZE would say of tables that have millions of rows, a third of them in each state, and 200 claims in a table or a
/// partial index of their own.
const MILLIONS: &str = "ANALYZE; DELETE FROM sqlite_stat1; INSERT INTO sqlite_stat1
    SELECT t.name, i.name, iif(i.partial OR t.name LIKE '%claim%', 200, 2000000) || coalesce(
    (SELECT group_concat(iif(i.\"unique\" AND c.seqno = (SELECT max(seqno) FROM pragma_index_info(i.name)), ' 1', ' 700000'), '')
    FROM pragma_index_info(i.name) AS c), '') FROM sqlite_schema AS t LEFT JOIN pragma_index_list(t.name) AS i
    WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%'";

#[test]
fn where_check_finds_an_index_no_statement_reads_the_whole_table() {
    let own = |queue: &str, sql: String| Tables { queue: queue.to_owned(), version: OWN.to_owned(), sql };
    let lease = reference_schema(Engine::Sqlite, &Place::default()).join(";\n");
    let mut all = on_sqlite();
    let leased = format!(
        "; {ROWS} INSERT INTO jobs (id, status, lease_expires_at) SELECT n, iif(n > 2000, 'RUNNING', iif(n % 2, 'FAILED', 'SUCCEEDED')), 1 FROM r"
    );
    let plain = format!("; {ROWS} INSERT INTO jobs (id, status) SELECT n, iif(n > 2000, 'running', 'done') FROM r");
    all.extend([own("lease", lease + &leased), own("simple", SIMPLE.to_owned() + &plain)]);
    let mut reading = Vec::new();
    for tables in all {
        let doctor = Doctor::new();
        doctor.sql(&tables.sql);
        let (before, preset) = (index(&doctor, &tables), &tables.queue);
        if before.0 != Severity::Ok {
            assert!(
                reading_all(&doctor, &tables).iter().any(|read| read.starts_with("all:")),
                "{preset} {:?}",
                reading_all(&doctor, &tables)
            );
            if let Some(fix) = before.1 {
                doctor.sql(&fix);
                assert_eq!(index(&doctor, &tables).0, Severity::Ok, "{preset}: {fix}");
            }
        }
        for analyzed in ["", "ANALYZE", MILLIONS] {
            doctor.sql(analyzed);
            reading.extend(reading_all(&doctor, &tables).into_iter().map(|read| (preset.clone(), read)));
        }
    }
    let wrong = differences(&KNOWN, &reading);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn without_its_index_the_listing_reads_the_whole_table() {
    let doctor = Doctor::new();
    let sql = reference_schema(Engine::Sqlite, &Place::default()).join(";\n");
    let lease = Tables { queue: "lease".to_owned(), version: OWN.to_owned(), sql };
    doctor.sql(&lease.sql);
    let indexes = doctor.rows("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL");
    for index in indexes {
        doctor.sql(&format!("DROP INDEX \"{index}\""));
    }
    assert_eq!(index(&doctor, &lease).0, Severity::Warning);
    let read = reading_all(&doctor, &lease);
    for statement in ["suspects:", "all:", "count:", "count by owner:"] {
        assert!(read.iter().any(|read| read.starts_with(statement)), "{statement} reads no whole table: {read:#?}");
    }
}

fn snapshot(doctor: &Doctor, tables: &Tables) -> Snapshot {
    let address = Address::parse(doctor.path("queue.db").to_str().unwrap(), &Surroundings::default()).unwrap();
    let (store, place, limits, preset) = (open(&address), place(tables), limits(), &tables.queue);
    let session = Session { preset: Some(preset), ..Session::of(&*store, &CATALOG, &place, &limits) };
    session.snapshot().unwrap_or_else(|error| panic!("{preset}: {error}"))
}

/// What `check` says of the index, and the statement that would make one.
fn index(doctor: &Doctor, tables: &Tables) -> (Severity, Option<String>) {
    let checked = ops::check(&mut snapshot(doctor, tables), &[], &[], false).unwrap();
    let finding = checked.document.findings.into_iter().find(|finding| finding.id == "index").unwrap();
    (finding.severity, finding.fix)
}

/// The statements that read all of the jobs' table or of an index on it, each with its plan.
fn reading_all(doctor: &Doctor, tables: &Tables) -> Vec<String> {
    let snapshot = snapshot(doctor, tables);
    let key = |n: i64| Key(vec![Cell::Integer(n); snapshot.jobs.claim.key.len()]);
    let keys = [key(2001), key(2002)];
    let statements = named(&snapshot.jobs, &SqliteDialect, &keys, snapshot.now());
    let connection = doctor.connect("queue.db");
    let mut reading = Vec::new();
    for (name, sql) in statements {
        let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        // Without values for its parameters: SQLite does not look at them.
        let mut rows = explained.raw_query();
        while let Some(row) = rows.next().unwrap() {
            let step: String = row.get("detail").unwrap();
            // A Bloom filter reads all of them too, to look some up.
            if step == "SCAN j" || step.starts_with("SCAN j ") || step.starts_with("BLOOM FILTER ON j ") {
                reading.push(format!("{name}: {step}"));
            }
        }
    }
    reading
}
