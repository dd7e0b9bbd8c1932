//! What keeps an undo from being done at all.

use super::queue::{Queue, on_both};
use crate::support::cli::{Doctor, fails, is_valid};
use crate::support::postgres::{TestDatabase, fresh};
use std::fs;
use std::path::Path;

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
    let (here, there) = (Queue::sqlite(), Queue::sqlite());
    let run = there.reclaimed();
    fs::create_dir_all(here.journals().parent().unwrap()).unwrap();
    fs::rename(there.journals(), here.journals()).unwrap();
    here.reclaimed();
    let before = here.dump("jobs");
    let ran = fails(&here.doctor, &["undo", &run, "--apply", "--db", "queue.db"], 78);
    assert!(ran.stderr.contains("it was on database"), "{ran:#?}");
    assert_eq!(here.dump("jobs"), before);
    // A copy is another database too, and nothing is compared with it.
    let told = here.json(&["history", &run], 0);
    assert!(told["steps"].as_array().unwrap().iter().all(|step| step["compared"].is_null()), "{told:#}");

    let (here, there) = (Queue::postgres(), Queue::postgres());
    let run = there.reclaimed();
    let arguments = ["undo", run.as_str(), "--apply", "--db", &here.url];
    let before = here.dump("jobs");
    let ran = fails(&there.doctor, &arguments, 78);
    let name = |queue: &Queue| queue.server().name().to_owned();
    assert!(ran.stderr.contains(&name(&here)) && ran.stderr.contains(&name(&there)), "both are named: {ran:#?}");
    assert_eq!(here.dump("jobs"), before);
}

/// A file that was renamed: both paths are named, and its old name makes it work again.
#[test]
fn a_file_that_was_renamed() {
    let queue = Queue::sqlite();
    let run = queue.reclaimed();
    let [old, new] = ["queue.db", "renamed.db"].map(|name| queue.doctor.path(name));
    let old_path = fs::canonicalize(&old).unwrap();
    fs::rename(&old, &new).unwrap();
    let ran = fails(&queue.doctor, &["undo", &run, "--apply", "--db", "renamed.db"], 78);
    for word in [old_path.display().to_string(), fs::canonicalize(&new).unwrap().display().to_string()] {
        assert!(ran.stderr.contains(&word), "{word}: {ran:#?}");
    }
    assert!(ran.stderr.contains("move it to its old path"), "{ran:#?}");
    fs::rename(&new, &old).unwrap();
    queue.run(&["undo", &run, "--apply"]).exits(0);
}

#[test]
fn another_table_or_preset() {
    on_both(|queue| {
        let run = queue.reclaimed();
        queue.run(&["init", "--table", "tasks"]).exits(0);
        let before = queue.dump("jobs");
        let ran = fails(
            &queue.doctor,
            &["undo", &run, "--apply", "--db", &queue.url, "--preset", "lease", "--table", "tasks"],
            78,
        );
        assert!(ran.stderr.contains("tasks"), "{ran:#?}");
        let mapping = "[mapping.mine]\ntime = { default = { sqlite = \"epoch s\", postgres = \"native\" } }\n\
             states = { waiting = [\"QUEUED\"], in_flight = [\"RUNNING\"] }\nattempts = { counted = \"not in the table\" }\n\
             [mapping.mine.claim]\ntable = \"jobs\"\nkey = \"id\"\nstate = \"status\"\n\
             liveness = [{ by = \"lease\", column = \"lease_expires_at\" }]\n[mapping.mine.action.requeue]\nto = \"QUEUED\"\n";
        fs::write(queue.doctor.path("m.toml"), mapping).unwrap();
        let ran = fails(
            &queue.doctor,
            &["undo", &run, "--apply", "--db", &queue.url, "--config", "m.toml", "--preset", "mine"],
            78,
        );
        assert!(ran.stderr.contains("preset lease") && ran.stderr.contains("mine"), "{ran:#?}");
        assert_eq!(queue.dump("jobs"), before);
    });
}

/// Another role on the same database is on the same database.
#[test]
fn another_role() {
    let queue = Queue::postgres();
    let role = format!("{}_other", queue.server().name());
    queue.sql(&format!("CREATE ROLE {role} LOGIN SUPERUSER"));
    let run = queue.reclaimed();
    queue
        .doctor
        .run(&["undo", &run, "--apply", "--db", &queue.url.replace("user=doctor", &format!("user={role}"))])
        .exits(0);
    queue.sql(&format!("DROP ROLE {role}"));
}

fn solid_queue() -> (Doctor, TestDatabase) {
    let database = fresh();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/schemas/solid-queue");
    let schema = fs::read_to_string(folder.join("1.5.0.sql")).unwrap();
    let scene = fs::read_to_string(folder.join("scenes/plain-orphan.sql")).unwrap();
    let setup = scene.split("\n-- then: ").next().unwrap();
    database.client().batch_execute(&format!("{schema}; SET TimeZone = 'UTC'; {setup}")).unwrap();
    (Doctor::new(), database)
}

/// Moves of several statements are recorded by what they did to the job, and said to be final before they are applied.
#[test]
fn actions_of_several_statements() {
    let (doctor, database) = solid_queue();
    let url = database.url();
    let planned = doctor.run(&["reclaim", "--db", &url]).exits(0);
    assert!(planned.stderr.contains("warning: a requeue of preset solid-queue cannot be undone"), "{planned:#?}");
    let document = doctor.run(&["reclaim", "--db", &url, "--json"]).exits(0).json();
    assert_eq!(document["undoable"], false);
    let applied = doctor.run(&["reclaim", "--db", &url, "--apply", "--json"]).exits(0).json();
    assert_eq!((&applied["undoable"], &applied["summary"]["outcomes"]["moved"]), (&false.into(), &2.into()));
    let run = applied["run_id"].as_str().unwrap();
    let told = doctor.run(&["history", run, "--json"]).exits(0).json();
    assert_eq!((&told["run"]["moved"], &told["run"]["undoable"]), (&2.into(), &0.into()));
    let planned = doctor.run(&["undo", run, "--db", &url, "--json"]).exits(0).json();
    is_valid("undo", &planned);
    assert_eq!((&planned["summary"]["planned"], &planned["summary"]["skipped"]), (&0.into(), &2.into()));
    let ran = doctor.run(&["undo", run, "--db", &url, "--apply"]).exits(4);
    assert!(ran.stderr.contains("cannot be reverted"), "{ran:#?}");
    let ready = database.client().query_one("SELECT count(*) FROM solid_queue_ready_executions", &[]).unwrap();
    assert_eq!(ready.get::<_, i64>(0), 3);
}
