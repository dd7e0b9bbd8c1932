//! No false match: beside every other queue, beside products and home-made tables (`fixtures/strangers/`), each queue is recognised as
//! itself, and a stranger as nothing. Two queues are both named, and none is acted on.

use crate::support::dice::one_in;
use crate::support::doctor::{CATALOG, limits};
use crate::support::labs::{Journal, PostgresLab, SqlLab, SqliteLab};
use jobdoctor::model::Engine;
use jobdoctor::ops::Session;
use jobdoctor::preset::{Catalog, Place, Preset};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

#[derive(Clone)]
struct Set {
    name: String,
    /// The preset that must be recognised.
    preset: Option<String>,
    /// What a refusal must say.
    says: String,
    sql: String,
}

struct Made {
    set: Set,
    lab: Box<dyn SqlLab>,
    /// Its tables, with their schema.
    tables: BTreeSet<String>,
}

#[test]
fn each_is_recognised_as_itself_or_as_nothing_on_postgres() {
    is_never_mistaken(Engine::Postgres);
}

#[test]
fn each_is_recognised_as_itself_or_as_nothing_on_sqlite() {
    is_never_mistaken(Engine::Sqlite);
}

fn is_never_mistaken(engine: Engine) {
    let made: Vec<Made> = sets(engine).into_iter().map(|set| made(engine, set)).collect();
    let mut wrong: Vec<String> = made.iter().filter_map(|one| mistaken(&*one.lab, &CATALOG, &[&one.set])).collect();
    let others =
        |(n, one)| made[n + 1..].iter().filter(move |other| matters(engine, one, other)).map(move |other| (one, other));
    for (one, other) in one_in(3, made.iter().enumerate().flat_map(others).collect()) {
        let lab = lab(engine);
        lab.run(&format!("{};\n{}", one.set.sql, other.set.sql));
        wrong.extend(mistaken(&*lab, &CATALOG, &[&one.set, &other.set]));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A preset with a common name for a table has a stranger here that has a table of that name: without its columns it is mistaken
/// for it.
#[test]
fn a_preset_that_asks_for_no_column_is_noticed_on_postgres_and_sqlite() {
    let mut missed = Vec::new();
    for engine in [Engine::Postgres, Engine::Sqlite] {
        let made: Vec<Made> = sets(engine).into_iter().map(|set| made(engine, set)).collect();
        for preset in CATALOG.iter().filter(|preset| preset.engines.contains(&engine) && preset.is_detectable()) {
            let names = preset.table_names(engine, &Default::default());
            // One in a schema of its own is told by that.
            if names.iter().all(|name| name.contains('_')) || preset.text.contains("\nschema ") {
                continue;
            }
            let careless = careless(preset);
            let of_others = made.iter().filter(|one| one.set.preset.as_ref() != Some(&preset.name));
            if !of_others.into_iter().any(|one| is_taken_for(&*one.lab, &careless)) {
                missed.push(format!("{} on {engine}", preset.name));
            }
        }
    }
    assert!(missed.is_empty(), "no stranger in fixtures/strangers/ has the tables of {}", missed.join(", "));
}

/// The columns and the variant that tell a queue from its next of kin.
#[test]
fn a_preset_without_what_tells_it_from_its_kin_is_noticed_on_postgres() {
    let strangers = strangers(Engine::Postgres);
    for (queue, gone, stranger) in [
        ("lease", ", \"heartbeat_at|lease_expires_at\"", "jobs that somebody claims"),
        ("delayed-job", "delayed_jobs.strand", "inst-jobs"),
    ] {
        let set = strangers.iter().find(|set| set.name == stranger).unwrap();
        let lab = lab(Engine::Postgres);
        lab.run(&set.sql);
        let text = CATALOG.find(queue).unwrap().text;
        assert!(text.contains(gone), "{queue}");
        // The other variants that refuse inst-jobs ask for a column too.
        let mut text = text.replace(gone, if gone.contains('.') { "delayed_jobs.x" } else { "" });
        for other in ["failed_jobs.original_job_id", "delayed_jobs.singleton", "delayed_jobs.max_attempts"] {
            let table = other.split('.').next().unwrap();
            text = text.replace(other, &format!("{table}.x"));
        }
        let mut catalog = Catalog::default();
        catalog.add(Preset::parse("mutant", queue, &text).unwrap()).unwrap();
        assert!(mistaken(&*lab, &catalog, &[set]).is_some(), "{queue} without {gone}");
    }
}

/// What is wrong with how the tables of these sets are recognised.
fn mistaken(lab: &dyn SqlLab, catalog: &Catalog, sets: &[&Set]) -> Option<String> {
    let (place, limits, store) = (Place::default(), limits(), lab.store());
    let session = Session::of(&*store, catalog, &place, &limits);
    let recognised = session.snapshot().map(|look| look.jobs.queue.preset.clone()).map_err(|error| error.to_string());
    let presets: Vec<&str> = sets.iter().filter_map(|set| set.preset.as_deref()).collect();
    let is_right = match (&recognised, presets.as_slice()) {
        (Ok(preset), [only]) => preset == only,
        (Ok(_), _) => false,
        (Err(said), [_, ..]) => presets.iter().all(|preset| said.contains(preset)),
        // A stranger is told from all presets, and not by a failure.
        (Err(said), []) => {
            said.contains("recognised") && sets.iter().any(|set| said.contains(&set.says))
                || said.contains("is refused")
        }
    };
    let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
    (!is_right).then(|| format!("{} on {}: {recognised:?}", names.join(" beside "), lab.engine()))
}

/// True if that preset alone would be found in the tables, whatever becomes of it then.
fn is_taken_for(lab: &dyn SqlLab, preset: &Preset) -> bool {
    let mut catalog = Catalog::default();
    catalog.add(preset.clone()).unwrap();
    let names = preset.table_names(lab.engine(), &Default::default());
    let live = lab.store().reader(&limits(), &[]).unwrap().live_schema(&names).unwrap();
    jobdoctor::preset::detect(&catalog, &live, &Place::default()).is_ok()
}

/// The preset without any column in its [detect].
fn careless(preset: &Preset) -> Preset {
    let mut table: Table = preset.text.parse().unwrap();
    let detect = table["detect"].as_table_mut().unwrap();
    for (_, columns) in detect.iter_mut().filter(|(key, _)| *key != "exactly_one") {
        *columns = Value::Array(Vec::new());
    }
    Preset::parse("careless", &preset.name, &toml::to_string(&table).unwrap()).unwrap()
}

/// Whether a preset has tables of its names on both sides, which can stand in one database.
fn matters(engine: Engine, one: &Made, other: &Made) -> bool {
    let bare = |made: &Made| -> BTreeSet<String> {
        made.tables.iter().filter_map(|table| Some(table.split_once('.')?.1.to_owned())).collect()
    };
    let (here, there) = (bare(one), bare(other));
    let on_both = |preset: &Preset| {
        let names = preset.table_names(engine, &Default::default());
        [&here, &there].iter().all(|tables| names.iter().any(|name| tables.contains(name)))
    };
    one.tables.is_disjoint(&other.tables) && CATALOG.iter().any(on_both)
}

fn lab(engine: Engine) -> Box<dyn SqlLab> {
    match engine {
        Engine::Postgres => Box::new(PostgresLab::new()),
        Engine::Sqlite => Box::new(SqliteLab::new(Journal::Rollback)),
    }
}

fn made(engine: Engine, set: Set) -> Made {
    let lab = lab(engine);
    lab.run(&set.sql);
    let tables = match engine {
        Engine::Postgres => {
            "SELECT schemaname || '.' || tablename FROM pg_catalog.pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        }
        Engine::Sqlite => "SELECT 'main.' || name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
    };
    let tables = lab.store().reader(&limits(), &[]).unwrap().texts(tables).unwrap();
    // SQLite does not tell Jobs from jobs.
    let tables = tables.into_iter().flatten().map(|table| table.to_lowercase()).collect();
    Made { set, lab, tables }
}

/// The newest tables of each preset, and the strangers.
fn sets(engine: Engine) -> Vec<Set> {
    let within = if engine == Engine::Sqlite { "sqlite" } else { "." };
    let newest = entries(&fixtures("schemas")).into_iter().filter_map(|queue| {
        let versions = entries(&queue.join(within));
        let newest = versions.into_iter().rfind(|path| path.extension().is_some_and(|extension| extension == "sql"))?;
        let name = queue.file_name()?.to_string_lossy().into_owned();
        let sql = fs::read_to_string(newest).unwrap();
        Some(Set { preset: Some(name.clone()), name, says: String::new(), sql })
    });
    newest.chain(strangers(engine)).collect()
}

fn strangers(engine: Engine) -> Vec<Set> {
    let read = |file: &str| fs::read_to_string(fixtures("strangers").join(file)).unwrap_or_default();
    let text = format!("{}\n{}", read("any.sql"), read(&format!("{engine}.sql")));
    let section = |text: &str| {
        let (head, sql) = text.split_once('\n')?;
        let (name, says) = head.split_once(": ").unwrap_or((head, ""));
        let set = Set { name: name.to_owned(), preset: None, says: says.to_owned(), sql: sql.to_owned() };
        sql.trim_start().starts_with("CREATE").then_some(set)
    };
    text.split("\n-- ").filter_map(section).collect()
}

fn fixtures(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder)
}

/// What is in a folder, by name; nothing where there is none.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}
