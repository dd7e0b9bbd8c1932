//! How a mapping names its tables, and what an error in one mapping is to the others.

use crate::support::cli::{Doctor, Ran};
use crate::support::shop::{Shop, on_both};
use std::fs;

/// The age of a claim is the time since `claimed_at`, which is named once.
const MAPPING: &str = r#"
[mapping.m]
time = { default = { sqlite = "epoch s", postgres = "native" } }
states = { waiting = ["new"], in_flight = ["working"] }
claim = { table = "JOBS", key = "id", state = "status", claimed_at = "started", liveness = [{ by = "age", silent_after = "5m" }] }
action.requeue = { to = "new", clear = ["started"] }
"#;

fn run(shop: &Shop, mapping: &str, words: &[&str]) -> Ran {
    fs::write(shop.doctor.path("m.toml"), mapping).expect("the config file");
    shop.run(&[words, &["--config", "m.toml", "--preset", "m"]].concat())
}

fn set_up(shop: &Shop, table: &str) {
    shop.sql(&format!(
        "CREATE TABLE {table} (id integer PRIMARY KEY, status text, started {{time}});
         INSERT INTO {table} VALUES (1, 'working', {{ago 900}}), (2, 'working', {{ago 1}})"
    ));
}

fn finds_the_dead_job(shop: &Shop, spelled: &str) {
    let ran = run(shop, &MAPPING.replace("\"JOBS\"", &format!("'{spelled}'")), &["stale", "-o", "name"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "1\n"), "{spelled}: {ran:#?}");
}

#[test]
fn a_table_by_its_schema_in_quotes_and_in_another_case() {
    on_both(|shop| {
        set_up(shop, "tasks");
        let schema = if shop.is_postgres() { "public" } else { "main" };
        for spelled in ["tasks", "Tasks", "\"tasks\"", "{}.tasks", "{}.\"tasks\"", "\"{}\".TASKS"] {
            finds_the_dead_job(shop, &spelled.replace("{}", schema));
        }
        let mapping = MAPPING.replace("\"JOBS\"", "'nowhere'");
        let spelled = format!("{schema}.tasks");
        assert_eq!(run(shop, &mapping, &["stale", "-o", "name", "--table", &spelled]).exits(0).stdout, "1\n");
        // Both say where the table is, and differ.
        let both = MAPPING.replace("\"JOBS\"", &format!("'{spelled}'"));
        run(shop, &both, &["stale", "--schema", "elsewhere"]).exits(78).says("another schema is named: elsewhere");
        // A name that is nowhere is told with the one that is there.
        for (spelled, meant) in [("taks", "tasks"), ("{}.taskz", "tasks")] {
            let ran = run(shop, &MAPPING.replace("JOBS", &spelled.replace("{}", schema)), &["check"]).exits(78);
            assert!(ran.whole().contains(&format!("did you mean `{meant}`?")), "{ran:#?}");
        }
        shop.sql("ALTER TABLE tasks RENAME TO \"OrderQueue\"");
        finds_the_dead_job(shop, "\"OrderQueue\"");
        let bare = run(shop, &MAPPING.replace("JOBS", "orderqueue"), &["stale", "-o", "name"]);
        match shop.is_postgres() {
            true => assert!(bare.exits(78).stderr.contains("did you mean `OrderQueue`?")),
            false => assert_eq!(bare.exits(0).stdout, "1\n"),
        }
    });
}

#[test]
fn a_name_with_a_dot() {
    on_both(|shop| {
        set_up(shop, "\"my.tasks\"");
        finds_the_dead_job(shop, "my.tasks");
        finds_the_dead_job(shop, "\"my.tasks\"");
    });
}

#[test]
fn owners_in_another_schema_than_the_jobs_on_postgres() {
    let shop = Shop::on_postgres();
    shop.sql("CREATE SCHEMA app; CREATE SCHEMA ops");
    set_up(&shop, "app.tasks");
    shop.sql(
        "ALTER TABLE app.tasks ADD worker text; UPDATE app.tasks SET worker = 'w' || id, started = {ago 2000};
         CREATE TABLE ops.workers (name text PRIMARY KEY, seen timestamptz);
         INSERT INTO ops.workers VALUES ('w1', now()), ('w2', {ago 900})",
    );
    let owner =
        "owner = { id = \"worker\", table = \"ops.workers\", match = { name = \"worker\" }, heartbeat = \"seen\" }\n";
    let mapping = MAPPING.replace("JOBS", "app.tasks").replace("claim =", &format!("{owner}claim ="));
    let mapping = mapping.replace("by = \"age\"", "by = \"owner\"");
    assert_eq!(run(&shop, &mapping, &["stale", "-o", "name"]).exits(0).stdout, "2\n");
    run(&shop, &mapping, &["check"]).exits(0);
    run(&shop, &mapping, &["reclaim", "--apply"]).exits(0);
    assert_eq!(shop.rows("SELECT id, status FROM app.tasks ORDER BY id"), ["1 working", "2 new"]);
    let ran = run(&shop, &mapping.replace("ops.workers", "ops.worker"), &["stale"]).exits(78);
    ran.says("no table `worker` in schema `ops`, did you mean `workers`?");
}

/// The others keep working; what lists the mappings says it.
#[test]
fn an_error_in_one_mapping() {
    let doctor = Doctor::new();
    doctor.sql("CREATE TABLE jobs (id integer PRIMARY KEY, status text, started integer)");
    let target = |name: &str| format!("[target.{name}]\ndb = \"queue.db\"\npreset = \"{name}\"\n");
    let broken = MAPPING.replace("mapping.m", "mapping.broken").replace("key = \"id\", ", "");
    // A mapping may not take the name of a preset, and then nobody gets either by that name.
    let taken = MAPPING.replace("mapping.m", "mapping.river");
    let config = [target("m"), target("broken"), target("river"), MAPPING.to_owned(), broken, taken].concat();
    fs::write(doctor.path("c.toml"), config).expect("the config file");
    let on = |words: &[&str]| doctor.run(&[words, &["--config", "c.toml"]].concat());
    on(&["stale", "--target", "m"]).exits(0);
    on(&["stale", "--target", "broken"]).exits(78).says("mapping broken").says("`key` is missing");
    on(&["stale", "--target", "river"]).exits(78).says("the name `river` is taken");
    let all = on(&["stale", "--all-targets"]).exits(78);
    assert!(all.whole().contains("`key` is missing"), "{all:#?}");
    // Also one that no target uses.
    on(&["stale", "--target", "m", "--target", "m", "-v"]).exits(0).says("mapping broken");
    for words in [&["presets"][..], &["env", "--target", "m"]] {
        on(words).exits(0).says("`key` is missing").says("`river` is taken");
    }
}
