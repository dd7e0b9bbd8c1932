//! Whatever queue says that a run on it can be undone: undone, its jobs are byte for byte what they were.

use super::rights::orphan;
use super::tables::some;
use crate::support::shop::Shop;
use serde_json::Value;

#[test]
fn what_can_be_undone_is_undone_exactly() {
    let (mut undone, mut delayed, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    for tables in some() {
        let shop = Shop::on(tables.made());
        // A scene is written for one version of the tables, and the others may not take it.
        if orphan(&tables, shop.server()).is_err() {
            continue;
        }
        let place = format!("{} {}", tables.queue, tables.version);
        let looked = shop.run(&["reclaim", "--json"]);
        if looked.code != 0 || looked.json()["summary"]["planned"] == 0 {
            continue;
        }
        let table = looked.json()["target"]["table"].as_str().unwrap().replace('.', "\".\"");
        let dump = || shop.rows(&format!("SELECT t::text FROM \"{table}\" AS t ORDER BY 1"));
        let before = dump();
        let undo = |run: &Value| {
            let ran = shop.run(&["undo", run.as_str().unwrap(), "--apply"]);
            assert_eq!(ran.code, 0, "{place}: {}", ran.whole());
            assert_eq!(dump(), before, "{place}: {}", ran.whole());
        };
        let applied = shop.run(&["reclaim", "--apply", "--json"]).exits(0).json();
        assert_ne!(dump(), before, "{place}");
        if applied["undoable"] == false {
            refused.push(tables.queue.clone());
            shop.run(&["undo", applied["run_id"].as_str().unwrap(), "--apply"]).exits(4);
            continue;
        }
        undo(&applied["run_id"]);
        undone.push(tables.queue.clone());
        // A delay may write further columns.
        let later = shop.run(&["reclaim", "--apply", "--delay", "10m", "--json"]);
        if later.code == 0 && later.json()["undoable"] == true && later.json()["run_id"].is_string() {
            undo(&later.json()["run_id"]);
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
