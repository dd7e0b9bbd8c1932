//! What `stale` prints, in every format.

use super::scene::{incident, orphans, simple};
use crate::support::cli::{fails, is_valid};
use insta::assert_snapshot;

#[test]
fn a_pipe_gets_every_row() {
    let ran = orphans(60).on_queue(&["stale"]).exits(0);
    // One line above, a blank one and the header.
    assert_eq!(ran.stdout.lines().count(), 63);
    assert_snapshot!(ran.stderr, @r"
columns left out: QUEUE (always mail), KIND (always SendInvoice), STATE (always RUNNING), TRIES (always 0/5), ACTION (always requeue); -o wide shows all
60 jobs stuck, of 60 in flight; 0 jobs due
to see what would be done: jobdoctor reclaim --db queue.db
");
}

#[test]
fn exit_code_counts_claims_that_nobody_can_judge() {
    let doctor = incident();
    doctor.sql("DELETE FROM jobs WHERE id <> 7");
    doctor.on_queue(&["stale", "--exit-code"]).exits(1);
}

/// What was named and is not there is said in every format; the report is printed if another job that was named is there.
#[test]
fn a_job_that_is_not_there() {
    let doctor = incident();
    let run = |arguments: &[&str]| doctor.on_queue(arguments);
    let stale = ["stale", "--exit-code", "--id", "2", "--id", "TYPO", "--id", "-99"];
    for arguments in [&[&stale[..], &["--json"]].concat()[..], &["show", "2", "TYPO", "-99", "--json"]] {
        let ran = run(arguments).exits(66);
        let document = ran.json();
        is_valid(arguments[0], &document);
        assert_eq!(document["jobs"][0]["id"], "2", "{document:#}");
        assert_eq!(document["not_found"], serde_json::json!(["TYPO", "-99"]), "{document:#}");
        assert_eq!(ran.stderr, "");
    }
    for arguments in [&stale[..], &["show", "2", "TYPO", "-99"]] {
        run(arguments).exits(66).says("error: no such job in main.jobs: TYPO, -99").shows("web2");
    }
    let head = run(&[&stale[..], &["-o", "jsonl"]].concat()).exits(66).stdout;
    assert!(head.lines().next().unwrap().contains(r#""not_found":["TYPO","-99"]"#), "{head}");
    for arguments in [["stale", "--id", "TYPO", "--json"], ["stale", "--id", "-99", "--json"]] {
        let ran = run(&arguments).exits(66);
        assert_eq!(ran.stdout, "");
        let error: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
        is_valid("error", &error);
    }
    // It is there, and it is not stuck.
    assert_eq!(
        run(&["stale", "--exit-code", "--id", "6", "--json"]).exits(0).json()["not_found"],
        serde_json::json!([])
    );
}

#[test]
fn by_each_field() {
    let doctor = incident();
    for by in ["host", "owner", "kind", "queue"] {
        let document = doctor.on_queue(&["stale", "--by", by, "--json"]).exits(0).document("stale");
        // Every job is counted once, whatever it is counted by.
        let groups = document["groups"].as_array().unwrap();
        for count in ["stuck", "unknown"] {
            let sum: u64 = groups.iter().map(|group| group[count].as_u64().unwrap()).sum();
            assert_eq!(sum, document["summary"][count], "{by}: {document:#}");
        }
        assert_eq!((&document["by"], &document["jobs"]), (&by.into(), &serde_json::json!([])));
    }
    let csv = doctor.on_queue(&["stale", "--by", "queue", "--limit", "1", "-o", "csv"]).exits(0).stdout;
    let rows: Vec<&str> = csv.lines().collect();
    assert!(
        matches!(rows[..], [head, row] if head.starts_with("name,rest,stuck") && row.starts_with("mail,false,3,0,"))
    );
}

#[test]
fn by_what_the_table_does_not_tell_or_a_list_cannot_say() {
    for by in ["host", "owner"] {
        let ran =
            fails(&simple(), &["stale", "--db", "queue.db", "--preset", "simple", "--older", "5m", "--by", by], 2);
        ran.says(&format!("--by {by}: preset simple has no {by} column"));
    }
    for more in [["--watch", "2s"], ["--summary", "-q"]] {
        fails(&incident(), &[&["stale", "--db", "queue.db", "--by", "host"], &more[..]].concat(), 2);
    }
    // Its hosts may hold healthy jobs too.
    let ran = incident().on_queue(&["stale", "--by", "host", "-o", "name"]).exits(2);
    assert!(ran.stdout.is_empty() && ran.stderr.contains("--by lists groups"), "{ran:#?}");
}

#[test]
fn fifty_groups_and_how_many_more() {
    let doctor = orphans(60);
    doctor.sql("UPDATE jobs SET queue = 'q' || id");
    let ran = doctor.on_queue(&["stale", "--by", "queue"]).exits(0);
    assert_eq!(ran.stdout.lines().filter(|line| line.starts_with('q')).count(), 50, "{ran:#?}");
    ran.says("; the 50 largest of 60 groups are shown, --limit N shows more");
    let groups = doctor.on_queue(&["stale", "--by", "owner", "--json"]).exits(0).json()["groups"].clone();
    assert_eq!((&groups[0]["name"], &groups[0]["stuck"]), (&"web1:1".into(), &9.into()));
    let hosts = doctor.on_queue(&["stale", "--by", "host", "--json"]).exits(0).json()["groups"].clone();
    assert_eq!(hosts[0]["examples"], serde_json::json!(["web1:0", "web1:1", "web1:2"]));
    assert_eq!(hosts[0]["has_more_examples"], true);
}
