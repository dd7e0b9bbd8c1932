//! A role that has nothing but a connection, and then what `check` asks for: that is enough to look and to move.

use super::tables::{Tables, by_age};
use crate::support::cli::Doctor;
use crate::support::dice::one_in;
use crate::support::postgres::TestDatabase;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Its triggers write to a table of their own, which nothing tells; `check` warns, and docs/rights.md has the GRANTs.
const WITH_TRIGGERS: &str = "procrastinate";
/// Nothing is ever moved there.
const ADVICE_ONLY: &str = "que";

#[test]
fn what_check_asks_for_is_enough() {
    let (newest, _) = by_age();
    let newest = newest.into_iter().filter(|tables| ![WITH_TRIGGERS, ADVICE_ONLY].contains(&tables.queue.as_str()));
    for tables in &one_in(3, newest.collect()) {
        let database = tables.made();
        orphan(tables, &database).unwrap();
        let (role, mut client) = (format!("role_{}", database.name()), database.client());
        let schemas = "SELECT string_agg(quote_ident(nspname), ', ') FROM pg_namespace \
                       WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'";
        let schemas: String = client.query_one(schemas, &[]).unwrap().get(0);
        // A hint to a refusal of the server's has its words, which name no schema.
        client.batch_execute(&format!("SET search_path = {schemas}")).unwrap();
        client.batch_execute(&format!("CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA {schemas} TO {role}")).unwrap();
        let url = database.url().replace("user=doctor", &format!("user={role}"));
        let doctor = Doctor::new();
        let mut given = Vec::new();
        // Row-level security and questions about versions come first, and hide the rest.
        let (options, act) = (words(tables, &["option"]), words(tables, &["older", "to", "option"]));
        let check = |more: &[&str]| doctor.run(&[&["check", "--db", &url], more, &of(&options)].concat());
        for _ in 0..3 {
            let checked = check(&["--json"]);
            if checked.code == 0 {
                break;
            }
            assert_eq!(checked.code, 77, "{}: {}", tables.queue, checked.whole());
            let error: Value = serde_json::from_str(&checked.stderr).unwrap();
            for hint in error["hints"].as_array().unwrap().iter().map(|hint| hint.as_str().unwrap()) {
                if hint.starts_with("GRANT ") || hint.starts_with("ALTER ROLE ") {
                    client.batch_execute(hint).unwrap_or_else(|error| panic!("{}: {error:?} in {hint}", tables.queue));
                    given.push(hint.to_owned());
                }
            }
        }
        let place = format!("{} {} after {given:#?}", tables.queue, tables.version);
        let checked = check(&[]);
        assert_eq!(checked.code, 0, "{place}: {}", checked.whole());
        let applied = doctor.run(&[&["reclaim", "--apply", "--json", "--db", &url], &of(&act)[..]].concat());
        assert_eq!(applied.code, 0, "{place}: {}", applied.whole());
        let summary = &applied.json()["summary"];
        assert!(summary["planned"].as_u64() > Some(0), "{place}: {summary}");
        assert_eq!(summary["outcomes"]["moved"], summary["planned"], "{place}");
        client.batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).unwrap();
    }
}

/// The flags of these names that an operator of that queue needs, as the scene of a plain orphan says them.
pub fn words(tables: &Tables, flags: &[&str]) -> Vec<String> {
    let scene = plain_orphan(tables);
    let header = |line: &str| {
        let (key, value) = line.strip_prefix("-- ")?.split_once(": ")?;
        flags.contains(&key).then(|| [format!("--{key}"), value.to_owned()])
    };
    scene.lines().filter_map(header).flatten().collect()
}

pub fn of(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

fn plain_orphan(tables: &Tables) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/schemas").join(&tables.queue);
    let scenes = ["scenes", "sqlite/scenes"].map(|scenes| folder.join(scenes).join("plain-orphan.sql"));
    scenes.iter().find_map(|scene| fs::read_to_string(scene).ok()).unwrap()
}

/// The setup of the scene of a plain orphan, which not every version of the tables takes.
pub fn orphan(tables: &Tables, database: &TestDatabase) -> Result<(), postgres::Error> {
    let scene = plain_orphan(tables);
    let sections = ["\n-- then: ", "\n-- another session:", "\n-- before applying:"];
    let end = sections.iter().filter_map(|section| scene.find(section)).min().unwrap_or(scene.len());
    let mut client = database.client();
    client.batch_execute("SET TimeZone = 'UTC'")?;
    client.batch_execute(&scene[..end])
}
