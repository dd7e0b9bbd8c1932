//! Every type of key by every way to name a job: an id that one command prints is found by each of the others, and a run by name
//! comes to every job and to none twice.

use crate::support::dice::one_in;
use crate::support::shop::Shop;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

const MAPPING: &str = r#"
[mapping.workN]
time     = { default = { sqlite = "epoch s", postgres = "native" } }
states   = { waiting = ["new"], in_flight = ["busy"], failed = ["dead"] }
attempts = { counted = "not in the table" }
[mapping.workN.claim]
table      = "workN"
key        = KEY
state      = "status"
claimed_at = "started"
liveness   = [{ by = "age", column = "started", silent_after = "1m" }]
[mapping.workN.action]
requeue = { to = "new", clear = ["started"] }
fail    = { to = "dead" }
"#;

/// The types of a key's columns, and the keys.
type Case = (&'static [&'static str], &'static [&'static str]);

/// The empty type keeps whatever is put in.
const SQLITE: [Case; 8] = [
    (&["integer"], &["1", "-1", "9223372036854775807", "-9223372036854775808"]),
    (&["blob"], &["x'00112233445566778899aabbccddeeff'", "x'42'", "42", "'42'", "'{x'"]),
    (&[""], &["42", "'42'", "x'42'", "1.5", "'1.5'", "-7", "'ff41'", "x'ff41'", "CAST(x'ff41' AS text)", "1e300"]),
    (&["real"], &["1.5", "5", "-0.25", "9e999", "'NaN'"]),
    (&["text"], &["'{\"type\"'", "'{a}'", "' led'", "'trailed '", "'a/b'", "'007'", "'it''s'", "'--apply'"]),
    (&["text"], &HOSTILE),
    (&["text", "text"], &PAIRS),
    (&["", ""], &["1, '1'", "'1', 1", "x'01', 1.5", "'01', 1.5", "'1/1', 1", "1, '1/1'"]),
];

/// An id is one line and names one job, whatever the characters of its key.
const HOSTILE: [&str; 21] = [
    "'a\nvictim'",
    "'a'",
    "'victim'",
    "''",
    "' '",
    "'\r'",
    "'\r\n'",
    "'\"a\"'",
    "'\"a\\nvictim\"'",
    "'a\"'",
    "'a\\nvictim'",
    "'\t'",
    "'\u{1b}[2J'",
    "'\u{7f}'",
    "'\u{85}'",
    "'x\u{2028}y'",
    "'\u{2029}'",
    "'gpj.\u{202e}exe'",
    "'\u{feff}x'",
    "'{'",
    "'{\"type\":\"job\",\"id\":\"victim\"}'",
];
const PAIRS: [&str; 13] = [
    "'a/b', 'c'",
    "'a', 'b/c'",
    "'/', '/'",
    "' x', 'y '",
    "'{', '}'",
    "'a', 'c'",
    "'', ''",
    "'', '/'",
    "'a', ''",
    "'\"a\"/', 'c'",
    "'\"a', 'b\"'",
    "'a\n', 'c'",
    "'a\\', 'c'",
];

const POSTGRES: [Case; 17] = [
    (&["bigint"], &["42", "-7", "9223372036854775807", "-9223372036854775808"]),
    (&["smallint", "integer"], &["1, -2", "-1, 2"]),
    (&["uuid"], &["'00112233-4455-6677-8899-aabbccddeeff'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"]),
    (&["bytea"], &["'\\x00ff'", "'\\x'", "'\\x2f'"]),
    (&["numeric"], &["1.50", "-0.001", "1e40", "'NaN'"]),
    (&["numeric(10,2)"], &["1.5", "-2"]),
    (&["double precision"], &["0.1", "1e300", "'NaN'", "'-Infinity'", "-0.25"]),
    (&["text"], &["'{\"type\"'", "'{a}'", "' led'", "'trailed '", "'a/b'", "'it''s'", "'\\x41'", "'NULL'"]),
    (&["character(5)"], &["'ab'", "' a b'"]),
    (&["timestamptz"], &["'2026-01-02 03:04:05.678901+02'", "'infinity'"]),
    (&["timestamp(0)"], &["'2026-01-02 03:04:05'", "'0044-03-15 12:00:00 BC'"]),
    (&["jsonb"], &["'{\"type\": \"job\"}'", "'{\"a\": 1}'", "'[]'"]),
    (&["inet"], &["'10.0.0.1/8'", "'::1'"]),
    (&["text"], &HOSTILE),
    (&["text", "text"], &PAIRS),
    (&["text", "uuid"], &["'a/b', '00112233-4455-6677-8899-aabbccddeeff'"]),
    (&["numeric", "bytea", "text"], &["1.0, '\\x2f', '/1'", "1.1, '\\x', ''"]),
];

#[test]
fn on_sqlite() {
    holds(&Shop::on_sqlite(), &one_in(2, SQLITE.to_vec()));
}

#[test]
fn on_postgres() {
    holds(&Shop::on_postgres(), &one_in(4, POSTGRES.to_vec()));
}

fn holds(shop: &Shop, cases: &[Case]) {
    let mut config = String::new();
    for (n, (types, keys)) in cases.iter().enumerate() {
        let names: Vec<String> = (0..types.len()).map(|n| format!("k{n}")).collect();
        config += &MAPPING.replace("workN", &format!("work{n}")).replace("KEY", &format!("{names:?}"));
        let columns: String = names.iter().zip(*types).map(|(name, of_type)| format!("{name} {of_type}, ")).collect();
        let (time, names) = (if shop.is_postgres() { "timestamptz" } else { "integer" }, names.join(", "));
        shop.sql(&format!("CREATE TABLE work{n} ({columns} status text, started {time}, PRIMARY KEY ({names}))"));
        keys.iter().for_each(|key| shop.sql(&format!("INSERT INTO work{n} VALUES ({key}, 'busy', {{ago 4000}})")));
    }
    fs::write(shop.doctor.path("home.toml"), config).unwrap();
    shop.run(&["init", "--ledger", "--config", "home.toml", "--preset", "work0"]).exits(0);
    for (n, (types, keys)) in cases.iter().enumerate() {
        one(shop, &format!("work{n}"), types, keys.len());
    }
}

/// Names the jobs of one table in every way.
fn one(shop: &Shop, table: &str, types: &[&str], jobs: usize) {
    let run = |arguments: &[&str]| shop.run(&[arguments, &["--config", "home.toml", "--preset", table]].concat());
    let found = |way: &str, document: &Value, list: &str| {
        let jobs = document[list].as_array().unwrap_or_else(|| panic!("{types:?} by {way}: {document:#}"));
        sorted(jobs.iter().map(|job| job["id"].as_str().unwrap()))
    };
    let named = run(&["stale", "-o", "name"]).exits(0).stdout;
    let printed = sorted(named.lines());
    assert_eq!(printed.len(), jobs, "{types:?}: {named}");
    let each: BTreeSet<&String> = printed.iter().collect();
    if types.iter().all(|of_type| *of_type == "text") {
        assert_eq!(each.len(), jobs, "{named}");
        for id in &each {
            fs::write(shop.doctor.path("list"), id).unwrap();
            let planned = run(&["reclaim", "--json", "--from-file", "list"]).exits(0).json();
            assert_eq!(found("a list of one", &planned, "steps"), [id.as_str()], "and no other");
        }
    }
    let flags: Vec<String> = each.iter().map(|id| format!("--id={id}")).collect();
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();

    let show = ["show", "--json", "--config", "home.toml", "--preset", table, "--db", &shop.url, "--"];
    let ids: Vec<&str> = each.iter().map(|id| id.as_str()).collect();
    let shown = shop.doctor.run(&[&show[..], &ids].concat()).exits(0).json();
    assert_eq!(found("show", &shown, "jobs"), printed, "{types:?} by show");
    let listed = run(&[&["stale", "--json"], &flags[..]].concat()).exits(0).json();
    assert_eq!(found("stale --id", &listed, "jobs"), printed, "{types:?} by stale --id");
    let planned = run(&[&["reclaim", "--json"], &flags[..]].concat()).exits(0).json();
    assert_eq!(found("reclaim --id", &planned, "steps"), printed, "{types:?} by reclaim --id");
    let lines = run(&["stale", "-o", "jsonl"]).exits(0).stdout;
    for (way, list) in [("names", format!("\u{feff}{}", named.replace('\n', "\r\n"))), ("lines", lines)] {
        fs::write(shop.doctor.path("list"), list).unwrap();
        let planned = run(&["reclaim", "--json", "--from-file", "list"]).exits(0).json();
        assert_eq!(found(way, &planned, "steps"), printed, "{types:?} by a list of {way}");
    }

    run(&["reclaim", "--save-plan", "plan.json"]).exits(0);
    let done = run(&["reclaim", "--plan", "plan.json", "--max-jobs", "99", "--apply", "--json"]).exits(0).json();
    assert_eq!(found("--plan", &done, "steps"), printed, "{types:?} by a saved plan");
    assert_eq!(done["summary"]["outcomes"]["moved"], jobs, "{types:?}: {done:#}");
    // Another host knows of the run from the ledger alone.
    fs::remove_dir_all(shop.doctor.home(".local")).unwrap();
    let told = run(&["history", done["run_id"].as_str().unwrap(), "--json"]).exits(0).json();
    assert_eq!(found("history", &told, "steps"), printed, "{types:?} by the ledger");
    run(&["undo", done["run_id"].as_str().unwrap(), "--apply"]).exits(0);
    let busy = shop.rows(&format!("SELECT count(*) FROM {table} WHERE status = 'busy' AND started IS NOT NULL"));
    assert_eq!(busy, [jobs.to_string()], "{types:?} by undo");
    fs::remove_file(shop.doctor.path("plan.json")).unwrap();
}

fn sorted<'i>(ids: impl Iterator<Item = &'i str>) -> Vec<String> {
    let mut ids: Vec<String> = ids.map(str::to_owned).collect();
    ids.sort();
    ids
}
