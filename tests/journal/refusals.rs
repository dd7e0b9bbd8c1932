//! What keeps an undo from being done at all.

use super::queue::{on_both, on_postgres, on_sqlite};
use crate::queues::rights::orphan;
use crate::queues::tables::tables;
use crate::support::cli::{fails, is_valid};
use crate::support::shop::Shop;
use std::fs;

#[test]
fn more_jobs_than_allowed() {
    on_both(|queue| {
        let run = queue.reclaimed();
        let before = queue.dump("jobs");
        let refused = queue.json(&["undo", &run, "--apply", "--max-jobs", "3"], 4);
        is_valid("undo", &refused);
        assert!(refused["refused"].as_str().unwrap().contains("--max-jobs"), "{refused:#}");
        assert_eq!(queue.dump("jobs"), before);
        queue.run(&["undo", &run, "--apply", "--max-jobs", "4"]).exits(0);
    });
}

/// A run belongs to the database that it was on.
#[test]
fn another_database() {
    let (here, there) = (on_sqlite(), on_sqlite());
    let run = there.reclaimed();
    fs::create_dir_all(here.journals().parent().unwrap()).unwrap();
    fs::rename(there.journals(), here.journals()).unwrap();
    here.reclaimed();
    let before = here.dump("jobs");
    fails(&here.doctor, &["undo", &run, "--apply", "--db", "queue.db"], 78).says("it was made on database");
    assert_eq!(here.dump("jobs"), before);
    // A copy is another database too, and nothing is compared with it.
    let told = here.json(&["history", &run], 0);
    assert!(told["steps"].as_array().unwrap().iter().all(|step| step["compared"].is_null()), "{told:#}");

    let (here, there) = (on_postgres(), on_postgres());
    let run = there.reclaimed();
    let arguments = ["undo", run.as_str(), "--apply", "--db", &here.url];
    let before = here.dump("jobs");
    let ran = fails(&there.doctor, &arguments, 78);
    let name = |queue: &Shop| queue.server().name().to_owned();
    assert!(ran.stderr.contains(&name(&here)) && ran.stderr.contains(&name(&there)), "both are named: {ran:#?}");
    assert_eq!(here.dump("jobs"), before);
}

#[test]
fn a_file_that_was_renamed() {
    let queue = on_sqlite();
    let run = queue.reclaimed();
    let [old, new] = ["queue.db", "renamed.db"].map(|name| queue.doctor.path(name));
    let old_path = fs::canonicalize(&old).unwrap();
    fs::rename(&old, &new).unwrap();
    let ran = fails(&queue.doctor, &["undo", &run, "--apply", "--db", "renamed.db"], 78);
    ran.says(&old_path.display().to_string()).says(&fs::canonicalize(&new).unwrap().display().to_string());
    ran.says("move it to its old path");
    fs::rename(&new, &old).unwrap();
    queue.run(&["undo", &run, "--apply"]).exits(0);
}

#[test]
fn another_table_or_preset() {
    on_both(|queue| {
        let run = queue.reclaimed();
        queue.run(&["init", "--table", "tasks"]).exits(0);
        let before = queue.dump("jobs");
        let undo =
            |more: &[&str]| fails(&queue.doctor, &queue.with_db(&[&["undo", &run, "--apply"], more].concat()), 78);
        undo(&["--preset", "lease", "--table", "tasks"]).says("tasks");
        let mapping = "[mapping.mine]\ntime = { default = { sqlite = \"epoch s\", postgres = \"native\" } }\n\
             states = { waiting = [\"QUEUED\"], in_flight = [\"RUNNING\"] }\nattempts = { counted = \"not in the table\" }\n\
             [mapping.mine.claim]\ntable = \"jobs\"\nkey = \"id\"\nstate = \"status\"\n\
             liveness = [{ by = \"lease\", column = \"lease_expires_at\" }]\n[mapping.mine.action.requeue]\nto = \"QUEUED\"\n";
        fs::write(queue.doctor.path("m.toml"), mapping).unwrap();
        undo(&["--config", "m.toml", "--preset", "mine"]).says("preset lease").says("mine");
        assert_eq!(queue.dump("jobs"), before);
    });
}

#[test]
fn another_role() {
    let queue = on_postgres();
    let role = format!("{}_other", queue.server().name());
    queue.sql(&format!("CREATE ROLE {role} LOGIN SUPERUSER"));
    let run = queue.reclaimed();
    let url = queue.url.replace("user=doctor", &format!("user={role}"));
    queue.doctor.run(&["undo", &run, "--apply", "--db", &url]).exits(0);
    queue.sql(&format!("DROP ROLE {role}"));
}

/// Moves of several statements are recorded by what they did to the job, and said to be final before they are applied.
#[test]
fn actions_of_several_statements() {
    let tables = tables("solid-queue", "1.5.0");
    let shop = Shop::on(tables.made());
    orphan(&tables, shop.server()).unwrap();
    shop.run(&["reclaim"]).exits(0).says("warning: a requeue of preset solid-queue cannot be undone");
    let document = shop.run(&["reclaim", "--json"]).exits(0).json();
    assert_eq!(document["undoable"], false);
    let applied = shop.run(&["reclaim", "--apply", "--json"]).exits(0).json();
    assert_eq!((&applied["undoable"], &applied["summary"]["outcomes"]["moved"]), (&false.into(), &2.into()));
    let run = applied["run_id"].as_str().unwrap();
    let told = shop.doctor.run(&["history", run, "--json"]).exits(0).json();
    assert_eq!((&told["run"]["moved"], &told["run"]["undoable"]), (&2.into(), &0.into()));
    let planned = shop.run(&["undo", run, "--json"]).exits(0).document("undo");
    assert_eq!((&planned["summary"]["planned"], &planned["summary"]["skipped"]), (&0.into(), &2.into()));
    shop.run(&["undo", run, "--apply"]).exits(4).says("cannot be reverted");
    assert_eq!(shop.rows("SELECT count(*) FROM solid_queue_ready_executions"), ["3"]);
}
