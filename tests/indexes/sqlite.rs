//! SQLite explains its plan of each statement. It makes plans without looking at the rows unless somebody has run ANALYZE, so both
//! are tried.

use super::{ReadsAll, SIMPLE, differences, named};
use crate::support::cli::Doctor;
use crate::support::doctor::{CATALOG, limits};
use jobdoctor::model::{Cell, Engine, Key};
use jobdoctor::ops::{self, Session, Snapshot};
use jobdoctor::output::Severity;
use jobdoctor::preset::Place;
use jobdoctor::store::{Address, SqliteDialect, Surroundings, open, reference_schema};

const KNOWN: [ReadsAll; 2] = [
    ReadsAll { queues: &[], statement: "count by state", why: "it counts every row; only `stats` sends it" },
    ReadsAll {
        queues: &["lease"],
        statement: "finished",
        why: "no index on finished_at; the newest runs have a time limit of their own",
    },
];

const ROWS: &str = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 2020)";

#[test]
fn where_check_finds_an_index_no_statement_reads_the_whole_table() {
    let lease = reference_schema(Engine::Sqlite, &Place::default()).join(";\n");
    let leased =
        "INSERT INTO jobs (id, status, lease_expires_at) SELECT n, iif(n > 2000, 'RUNNING', 'SUCCEEDED'), 1 FROM r";
    let plain = "INSERT INTO jobs (id, status) SELECT n, iif(n > 2000, 'running', 'done') FROM r";
    let mut reading = Vec::new();
    for (preset, tables, rows) in [("lease", lease.as_str(), leased), ("simple", SIMPLE, plain)] {
        let doctor = Doctor::new();
        doctor.sql(&format!("{tables}; {ROWS} {rows}"));
        let before = index(&doctor, preset);
        if before.0 != Severity::Ok {
            assert!(reading_all(&doctor, preset).iter().any(|read| read.starts_with("count:")), "{preset}");
            doctor.sql(&before.1.unwrap());
            assert_eq!(index(&doctor, preset).0, Severity::Ok, "{preset}");
        }
        for analyze in ["", "ANALYZE"] {
            doctor.sql(analyze);
            reading.extend(reading_all(&doctor, preset).into_iter().map(|read| (preset.to_owned(), read)));
        }
    }
    let wrong = differences(&KNOWN, &reading);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn without_its_index_the_listing_reads_the_whole_table() {
    let doctor = Doctor::new();
    doctor.sql(&reference_schema(Engine::Sqlite, &Place::default()).join(";\n"));
    let indexes = doctor.rows("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL");
    for index in indexes {
        doctor.sql(&format!("DROP INDEX \"{index}\""));
    }
    assert_eq!(index(&doctor, "lease").0, Severity::Warning);
    let read = reading_all(&doctor, "lease");
    for statement in ["suspects:", "all:", "count:", "count by owner:"] {
        assert!(read.iter().any(|read| read.starts_with(statement)), "{statement} reads no whole table: {read:#?}");
    }
}

fn snapshot(doctor: &Doctor, preset: &str) -> Snapshot {
    let address = Address::parse(doctor.path("queue.db").to_str().unwrap(), &Surroundings::default()).unwrap();
    let (store, place, limits) = (open(&address), Place::default(), limits());
    let session = Session {
        store: &*store,
        catalog: &CATALOG,
        preset: Some(preset),
        place: &place,
        limits: &limits,
        target: None,
    };
    session.snapshot().unwrap_or_else(|error| panic!("{preset}: {error}"))
}

/// What `check` says of the index, and the statement that would make one.
fn index(doctor: &Doctor, preset: &str) -> (Severity, Option<String>) {
    let checked = ops::check(&mut snapshot(doctor, preset), &[], &[], false).unwrap();
    let finding = checked.document.findings.into_iter().find(|finding| finding.id == "index").unwrap();
    (finding.severity, finding.fix)
}

/// The statements that read all of the jobs' table or of an index on it, each with its plan.
fn reading_all(doctor: &Doctor, preset: &str) -> Vec<String> {
    let snapshot = snapshot(doctor, preset);
    let keys = [Key(vec![Cell::Integer(2001)]), Key(vec![Cell::Integer(2002)])];
    let statements = named(&snapshot.spec, &SqliteDialect, &keys, snapshot.now());
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
