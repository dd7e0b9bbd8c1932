//! Looking jobs up by the ids that people type.

use crate::support::doctor::{built_in, fit, fitted, look, mapping};
use crate::support::edit::Value::{Ago, Int, Text};
use crate::support::edit::insert;
use crate::support::labs::{Journal, Lab, PostgresLab, SqlLab, SqliteLab, as_in_memory, for_each_sql_store};
use crate::support::tables::JOBS;
use jobdoctor::preset::Jobs;
use jobdoctor::store::Store;

fn found(store: &dyn Store, spec: &Jobs, ids: &[&str]) -> Vec<String> {
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
        let (store, spec) = fitted(lab, &built_in("lease"));
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
        let (store, spec) = fitted(lab, &built_in("lease"));
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
[action.requeue]
to = "off"
"#;

#[test]
fn a_key_of_two_columns_is_typed_with_a_slash() {
    for_each_sql_store(|lab| {
        let id = lab.pick("text", "uuid");
        lab.run(&format!("CREATE TABLE named (tenant text, id {id}, status text, PRIMARY KEY (tenant, id))"));
        let uuid = "01890a5d-ac96-774b-bcce-b302099a8057";
        lab.run(&format!("INSERT INTO named VALUES ('a', '{uuid}', 'on'), ('b', '{uuid}', 'off')"));
        let (store, spec) = fitted(lab, &mapping(NAMED));
        let (a, b) = (format!("a/{uuid}"), format!("b/{uuid}"));
        let lines = found(&*store, &spec, &[&a, &b, "a", uuid, "a/b", "c/", "/", "a/b/c"]);
        assert_eq!(lines, [format!("{a} on true"), format!("{b} off false")], "{}", lab.name());
    });
}

/// pg-boss allows it in the names of its queues, which stand before the id.
#[test]
fn a_column_of_a_key_that_holds_a_slash_itself() {
    for_each_sql_store(|lab| {
        let id = lab.pick("integer", "uuid");
        lab.run(&format!("CREATE TABLE named (tenant text, id {id}, status text, PRIMARY KEY (tenant, id))"));
        let id = lab.pick("7", "01890a5d-ac96-774b-bcce-b302099a8057");
        lab.run(&format!("INSERT INTO named VALUES ('a/b', '{id}', 'on'), ('/', '{id}', 'on'), ('b', '{id}', 'off')"));
        let store = lab.store();
        let ids = [format!("a/b/{id}"), format!("//{id}"), format!("b/{id}"), format!("a/{id}"), format!("/b/{id}")];
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let lines = found(&*store, &fit(&*store, &mapping(NAMED)), &ids);
        let all = [format!("\"/\"/{id} on true"), format!("\"a/b\"/{id} on true"), format!("b/{id} off false")];
        assert_eq!(lines, all, "{}", lab.name());
        let turned = mapping(&NAMED.replace(r#"["tenant", "id"]"#, r#"["id", "tenant"]"#));
        let lines = found(&*store, &fit(&*store, &turned), &[&format!("{id}/a/b"), &format!("{id}//")]);
        assert_eq!(lines, [format!("{id}/\"/\" on true"), format!("{id}/\"a/b\" on true")], "{}", lab.name());
    });
}

/// Typed without quotes, a/b/c may mean both jobs; each is printed in another way.
#[test]
fn two_jobs_of_one_name() {
    for_each_sql_store(|lab| {
        lab.run("CREATE TABLE named (tenant text, id text, status text, PRIMARY KEY (tenant, id))");
        lab.run("INSERT INTO named VALUES ('a', 'b/c', 'on'), ('a/b', 'c', 'off')");
        let (store, spec) = fitted(lab, &mapping(NAMED));
        let (one, other) = (r#"a/"b/c" on true"#, r#""a/b"/c off false"#);
        assert_eq!(found(&*store, &spec, &["a/b/c", "a/b/c"]), [other, one], "{}", lab.name());
        assert_eq!(found(&*store, &spec, &[r#"a/"b/c""#]), [one], "{}", lab.name());
        assert_eq!(found(&*store, &spec, &[r#""a/b"/c"#, "a/b/c"]), [other, one], "{}", lab.name());
    });
}

/// An id that was printed with quotes means no job but that one, even after that one is gone; a text that is no such id is what
/// it is.
#[test]
fn a_quoted_id_has_no_other_meaning() {
    for_each_sql_store(|lab| {
        let named = NAMED.replace(r#"["tenant", "id"]"#, r#""id""#);
        lab.run("CREATE TABLE named (id text PRIMARY KEY, status text)");
        lab.run(r#"INSERT INTO named VALUES ('42', 'on'), ('"a\nb"', 'on'), ('say "hi"', 'on'), ('"x"', 'on')"#);
        let (store, spec) = fitted(lab, &mapping(&named));
        let lines = found(&*store, &spec, &[r#"" 42 ""#, r#""a\nb""#, r#""42\n""#]);
        assert_eq!(lines, [""; 0], "{}", lab.name());
        let lines = found(&*store, &spec, &[r#"say "hi""#, r#""x""#, " 42 "]);
        assert_eq!(lines, [r#""\"x\"" on true"#, r#""say \"hi\"" on true"#, "42 on true"], "{}", lab.name());
    });
}

#[test]
fn ids_that_are_spelled_otherwise_than_stored() {
    let lab = PostgresLab::new();
    let uuid = "abcdef00-0000-4000-8000-00000000000a";
    lab.run(&format!(
        "CREATE TABLE named (id uuid PRIMARY KEY, status text); INSERT INTO named VALUES ('{uuid}', 'on');
         CREATE TABLE counted (id bigint PRIMARY KEY, status text); INSERT INTO counted VALUES (7, 'on')"
    ));
    let store = lab.store();
    let names = |preset: &str, ids: &[&str]| {
        let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        let found = look(&*store).find(&fit(&*store, &mapping(preset)), &ids).unwrap();
        found.into_iter().map(|found| (found.claim.key.to_string(), found.names)).collect::<Vec<_>>()
    };
    let by_id = NAMED.replace(r#"["tenant", "id"]"#, r#""id""#);
    let (upper, bare) = (uuid.to_uppercase(), uuid.replace('-', ""));
    // What has its hyphens elsewhere is no uuid, and no error of the database either.
    let odd = format!("a-{}", uuid.replace('-', "").split_off(1));
    let spellings =
        [upper.as_str(), uuid, &bare, &format!("{{{upper}}}"), &format!("URN:uuid:{uuid}"), &format!(" {uuid}\t")];
    let found = names(&by_id, &[&spellings[..], &[odd.as_str(), "{}", "urn:uuid:"]].concat());
    assert_eq!(found, [(uuid.to_owned(), spellings.map(str::to_owned).to_vec())]);
    let found = names(&by_id.replace("\"named\"", "\"counted\""), &["007", "7", "8"]);
    assert_eq!(found, [("7".to_owned(), vec!["007".to_owned(), "7".to_owned()])]);
}

#[test]
fn ids_that_are_text_are_taken_as_they_are() {
    for_each_sql_store(|lab| {
        lab.run("CREATE TABLE named (id text PRIMARY KEY, status text)");
        lab.run("INSERT INTO named VALUES ('1', 'on'), ('a/b', 'on'), ('it''s', 'on'), (' x ', 'on'), ('', 'on')");
        let (store, spec) = fitted(lab, &mapping(&NAMED.replace(r#"["tenant", "id"]"#, r#""id""#)));
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
        let (store, spec) = fitted(lab, &mapping(&NAMED.replace(r#"["tenant", "id"]"#, r#""id""#)));
        let ids: Vec<String> = (0..2600).map(|n| format!("job{n}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        assert_eq!(found(&*store, &spec, &ids).len(), 2500, "{}", lab.name());
    });
}

/// A spelling that the column could not hold unchanged means no job, and what is no value of its type is no error.
#[test]
fn ids_of_types_that_the_server_alone_reads() {
    let lab = PostgresLab::new();
    lab.run("CREATE TYPE mood AS ENUM ('good')");
    let cases: [(&str, &str, &[&str], &[&str]); 12] = [
        ("numeric", "1.50", &["1.50", "01.50", " 1.50"], &["1.51", "1.5", "abc", ""]),
        ("numeric(10,2)", "1.50", &["1.50", "1.5"], &["1.501", "99999999999"]),
        ("bytea", "\\x0aff", &["\\x0aff", "\\x0AFF", "\\012\\377"], &["0aff", "\\x0", "\\"]),
        ("timestamptz", "2026-01-02 03:04:05+00", &["2026-01-02 03:04:05+00", "2026-01-02T04:04:05+01:00"], &["soon"]),
        ("timestamptz(0)", "2026-01-02 03:04:05+00", &["2026-01-02 03:04:05Z"], &["2026-01-02 03:04:05.4Z"]),
        ("character(5)", "ab", &["ab", "ab   "], &["abcdefg", "a"]),
        ("character varying(3)", "abc", &["abc", " abc "], &["abcd", "ABC"]),
        ("\"char\"", "a", &["a"], &["ab"]),
        ("bit(3)", "101", &["101"], &["1010", "10", "x"]),
        ("real", "0.1", &["0.1", "1e-1"], &["0.1x"]),
        ("boolean", "true", &["true", "t"], &["maybe"]),
        ("mood", "good", &["good"], &["bad", "NULL"]),
    ];
    let store = lab.store();
    for (n, (type_name, stored, found, not_found)) in cases.into_iter().enumerate() {
        lab.run(&format!("CREATE TABLE named{n} (id {type_name} PRIMARY KEY, status text)"));
        lab.run(&format!("INSERT INTO named{n} VALUES ('{stored}', 'on')"));
        let preset = NAMED.replace(r#"["tenant", "id"]"#, r#""id""#).replace("\"named\"", &format!("\"named{n}\""));
        let ids: Vec<String> = found.iter().chain(not_found).map(|id| (*id).to_owned()).collect();
        let seen = look(&*store).find(&fit(&*store, &mapping(&preset)), &ids).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(seen.len(), 1, "{type_name}");
        assert_eq!(seen[0].names, found, "{type_name}");
    }
}

/// SQLite stores any type in most columns: the job that is printed so is meant, and another spelling only where there is none.
#[test]
fn ids_of_untyped_keys() {
    let lab = SqliteLab::new(Journal::Wal);
    lab.run("CREATE TABLE named (id PRIMARY KEY, status text)");
    lab.run(
        "INSERT INTO named VALUES (42, 'integer'), ('42', 'text'), (x'42', 'blob'), ('007', 'text'), (7, 'integer'), (5.0, 'real'),
         (9007199254740992.0, 'real'), (x'00112233445566778899aabbccddeeff', 'blob'), (CAST(x'ff' AS text), 'broken')",
    );
    let (store, spec) = fitted(&lab, &mapping(&NAMED.replace(r#"["tenant", "id"]"#, r#""id""#)));
    let uuid = "00112233-4455-6677-8899-AABBCCDDEEFF";
    let cases: [(&str, &[&str]); 10] = [
        ("42", &["42 blob false", "42 integer false", "42 text false"]),
        ("007", &["007 text false"]),
        ("7", &["7 integer false"]),
        ("+7", &["7 integer false"]),
        ("5.0", &["5.0 real false"]),
        ("5", &["5.0 real false"]),
        ("9007199254740993", &[]),
        (uuid, &["00112233445566778899aabbccddeeff blob false"]),
        ("ff", &["ff broken false"]),
        ("f", &[]),
    ];
    for (id, expected) in cases {
        assert_eq!(found(&*store, &spec, &[id]), expected, "{id}");
    }
}
