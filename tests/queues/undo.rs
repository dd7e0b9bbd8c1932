//! Whatever queue says that a run on it can be undone: undone, its jobs are byte for byte what they were.

use super::rights::orphan;
use super::tables::all;
use crate::support::cli::Doctor;

#[test]
fn what_can_be_undone_is_undone_exactly() {
    let (mut undone, mut delayed, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    for tables in all() {
        let database = tables.made();
        // A scene is written for one version of the tables, and the others may not take it.
        if orphan(&tables, &database).is_err() {
            continue;
        }
        let (doctor, url) = (Doctor::new(), database.url());
        let place = format!("{} {}", tables.queue, tables.version);
        let looked = doctor.run(&["reclaim", "--json", "--db", &url]);
        if looked.code != 0 || looked.json()["summary"]["planned"] == 0 {
            continue;
        }
        let table = looked.json()["target"]["table"].as_str().unwrap().to_owned();
        let (schema, table) = table.split_once('.').unwrap();
        let dump = || {
            let sql = format!("SELECT t::text FROM \"{schema}\".\"{table}\" AS t ORDER BY 1");
            let rows = database.client().query(&sql, &[]).unwrap();
            rows.iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>()
        };
        let before = dump();
        let applied = doctor.run(&["reclaim", "--apply", "--json", "--db", &url]).exits(0).json();
        let run = applied["run_id"].as_str().unwrap();
        assert_ne!(dump(), before, "{place}");
        if applied["undoable"] == false {
            refused.push(tables.queue.clone());
            doctor.run(&["undo", run, "--apply", "--db", &url]).exits(4);
            continue;
        }
        let ran = doctor.run(&["undo", run, "--apply", "--db", &url]);
        assert_eq!(ran.code, 0, "{place}: {}", ran.whole());
        assert_eq!(dump(), before, "{place}: {}", ran.whole());
        undone.push(tables.queue.clone());
        // A delay may write further columns.
        let later = doctor.run(&["reclaim", "--apply", "--delay", "10m", "--json", "--db", &url]);
        if later.code == 0
            && later.json()["undoable"] == true
            && let Some(run) = later.json()["run_id"].as_str()
        {
            let ran = doctor.run(&["undo", run, "--apply", "--db", &url]);
            assert_eq!(ran.code, 0, "{place}, delayed: {}", ran.whole());
            assert_eq!(dump(), before, "{place}, delayed: {}", ran.whole());
            delayed.push(tables.queue.clone());
        }
    }
    delayed.dedup();
    undone.dedup();
    refused.dedup();
    assert!(
        undone.len() >= 5 && delayed.len() >= 5 && !refused.is_empty(),
        "undone {undone:?}, delayed {delayed:?}, refused {refused:?}"
    );
}
