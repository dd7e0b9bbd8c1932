//! Looking jobs up by the ids that people type.

use crate::support::doctor::{built_in, fit, look, mapping};
use crate::support::edit::Value::{Ago, Int, Text};
use crate::support::edit::insert;
use crate::support::labs::{as_in_memory, for_each_sql_store};
use crate::support::tables::JOBS;
use jobdoctor::spec::QueueSpec;
use jobdoctor::store::Store;

/// What the store says about these ids, sorted.
fn found(store: &dyn Store, spec: &QueueSpec, ids: &[&str]) -> Vec<String> {
    let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    let mut lines: Vec<String> = look(store)
        .find(spec, &ids)
        .unwrap_or_else(|error| panic!("{error}"))
        .iter()
        .map(|found| format!("{} {} {}", found.claim.key, found.claim.state, found.in_flight))
        .collect();
    lines.sort();
    lines
}

#[test]
fn jobs_are_found_in_whatever_state_they_are() {
    as_in_memory(|lab| {
        lab.create(&[JOBS]);
        for (id, status) in [(1, "RUNNING"), (2, "SUCCEEDED"), (3, "QUEUED"), (-4, "CLAIMED")] {
            lab.edit(&[insert("jobs", &[("id", Int(id)), ("status", Text(status)), ("heartbeat_at", Ago(1))])]);
        }
        let store = lab.store();
        let spec = fit(&*store, &built_in("lease"));
        let all = found(&*store, &spec, &["1", "2", "3", "-4"]);
        assert_eq!(all, ["-4 CLAIMED true", "1 RUNNING true", "2 SUCCEEDED false", "3 QUEUED false"], "{}", lab.name());
        (found(&*store, &spec, &["1", "1", "7"]), found(&*store, &spec, &[]))
    });
}

#[test]
fn what_cannot_be_an_id_names_no_job() {
    as_in_memory(|lab| {
        lab.create(&[JOBS]);
        lab.edit(&[insert("jobs", &[("id", Int(1)), ("status", Text("RUNNING"))])]);
        let store = lab.store();
        let spec = fit(&*store, &built_in("lease"));
        let odd = ["", "abc", "1.5", "1/2", "99999999999999999999", "1; DROP TABLE jobs", "'1'", "NULL", "\u{1f4a3}"];
        assert_eq!(found(&*store, &spec, &odd), [""; 0], "{}", lab.name());
        // And in one list with one that can.
        found(&*store, &spec, &["abc", "1", "99999999999999999999"])
    });
}

const NAMED: &str = r#"
time   = { default = { sqlite = "epoch s", postgres = "native" } }
states = { waiting = ["off"], in_flight = ["on"] }
[claim]
table = "named"
key = ["tenant", "id"]
state = "status"
liveness = []
[move.requeue]
to = "off"
"#;

#[test]
fn a_key_of_two_columns_is_typed_with_a_slash() {
    for_each_sql_store(|lab| {
        let id = lab.pick("text", "uuid");
        lab.run(&format!("CREATE TABLE named (tenant text, id {id}, status text, PRIMARY KEY (tenant, id))"));
        let uuid = "01890a5d-ac96-774b-bcce-b302099a8057";
        lab.run(&format!("INSERT INTO named VALUES ('a', '{uuid}', 'on'), ('b', '{uuid}', 'off')"));
        let store = lab.store();
        let spec = fit(&*store, &mapping(NAMED));
        let (a, b) = (format!("a/{uuid}"), format!("b/{uuid}"));
        let lines = found(&*store, &spec, &[&a, &b, "a", uuid, "a/b", "c/", "/", "a/b/c"]);
        assert_eq!(lines, [format!("{a} on true"), format!("{b} off false")], "{}", lab.name());
    });
}

#[test]
fn ids_that_are_text_are_taken_as_they_are() {
    for_each_sql_store(|lab| {
        lab.run("CREATE TABLE named (id text PRIMARY KEY, status text)");
        lab.run("INSERT INTO named VALUES ('1', 'on'), ('a/b', 'on'), ('it''s', 'on'), (' x ', 'on'), ('', 'on')");
        let store = lab.store();
        let spec = fit(&*store, &mapping(&NAMED.replace(r#"["tenant", "id"]"#, r#""id""#)));
        let lines = found(&*store, &spec, &["1", "a/b", "it's", " x ", "", "x"]);
        assert_eq!(lines.len(), 5, "{}: {lines:?}", lab.name());
    });
}

#[test]
fn more_ids_than_fit_on_a_page() {
    for_each_sql_store(|lab| {
        lab.run("CREATE TABLE named (id text PRIMARY KEY, status text)");
        let rows: Vec<String> = (0..2500).map(|n| format!("('job{n}', 'on')")).collect();
        lab.run(&format!("INSERT INTO named VALUES {}", rows.join(", ")));
        let store = lab.store();
        let spec = fit(&*store, &mapping(&NAMED.replace(r#"["tenant", "id"]"#, r#""id""#)));
        let ids: Vec<String> = (0..2600).map(|n| format!("job{n}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        assert_eq!(found(&*store, &spec, &ids).len(), 2500, "{}", lab.name());
    });
}
