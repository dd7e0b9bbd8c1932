//! Scenes of orphans on the tables of real queues: each schema in `fixtures/schemas/QUEUE/VERSION.sql` plays every scene in
//! `fixtures/schemas/QUEUE/scenes/` in a Postgres database of its own. A scene says beforehand what is to be found and done;
//! every column of every row that changed is then compared with `VERSION.outcome`. The same three kinds of files in
//! `fixtures/schemas/QUEUE/sqlite/` are for SQLite.
//!
//! A change plays the newest version of each and some of the older ones. With JOBDOCTOR_SCENES=QUEUE only those of one queue are
//! played, with JOBDOCTOR_SAMPLE=all all of them, with JOBDOCTOR_BLESS=1 the outcomes are written anew.

mod actions;
mod changes;
mod conflict_clauses;
mod database;
mod decided;
mod missing_rows;
mod mutants;
mod outcome;
pub(crate) mod play;
mod preconditions;
mod refused;
mod scene;
mod times;
mod waiting;

use crate::support::dice::one_in;
use crate::support::figures::add;
use crate::support::labs::on_a_server_only;
pub(crate) use database::{Databases, nothing_is_wrong};
use jobdoctor::model::Engine;
use scene::Scene;
use std::fmt::{self, Write};
use std::fs;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// One version of one queue's tables, with the scenes that are played on it.
pub(crate) struct Stage {
    pub(crate) queue: String,
    pub(crate) engine: Engine,
    version: String,
    pub(crate) schema: String,
    pub(crate) scenes: Vec<Scene>,
    outcome: PathBuf,
}

impl Stage {
    fn with_schema(&self, schema: String) -> Stage {
        let (queue, version, scenes) = (self.queue.clone(), self.version.clone(), self.scenes.clone());
        Stage { queue, engine: self.engine, version, schema, scenes, outcome: self.outcome.clone() }
    }

    /// Python, Go and Rust's chrono leave out a fraction of nothing: of a thousand times that are written as texts, one is spelled
    /// otherwise than told.
    fn may_leave_out_a_fraction(&self) -> bool {
        self.engine == Engine::Sqlite && ["django-q", "django-tasks", "fang", "river"].contains(&self.queue.as_str())
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} on {}", self.queue, self.version, self.engine)
    }
}

#[test]
fn every_scene_ends_as_it_says() {
    let (newest, older) = by_age();
    let stages: Vec<Stage> = newest.into_iter().chain(one_in(6, older)).collect();
    nothing_is_wrong(&stages, |databases, stage| {
        let mut said = play_stage(databases, stage);
        if !said.is_empty() && stage.may_leave_out_a_fraction() {
            said = play_stage(databases, stage);
        }
        Some(said).filter(|said| !said.is_empty())
    });
    assert!(!stages.is_empty());
    let [found, alone] = [0, 1].map(|n| play::FINDINGS[n].load(Ordering::Relaxed));
    add(found, "findings of scenes");
    add(alone, "findings of scenes that no cause explains");
    assert!(alone * 4 <= found, "{alone} of {found} findings have no cause");
}

/// Plays all scenes of a stage; what went otherwise than written.
fn play_stage(databases: &mut Databases, stage: &Stage) -> String {
    let (mut wrong, mut played) = (String::new(), String::new());
    for scene in &stage.scenes {
        let place = format!("{stage}, scene {}", scene.name);
        let playing = || play::play(databases, play::catalog(&stage.queue), stage, scene);
        match std::panic::catch_unwind(AssertUnwindSafe(playing)) {
            Ok(end) => {
                for line in end.differences {
                    writeln!(wrong, "{place}: {line}").unwrap();
                }
                write!(played, "== {}\n{}\n", scene.name, end.told).unwrap();
            }
            Err(panic) => {
                let said = panic.downcast_ref::<String>().map_or("it panicked", String::as_str);
                writeln!(wrong, "{place}: {said}").unwrap();
            }
        }
    }
    let difference = outcome::compare(&stage.outcome, &played);
    if !difference.is_empty() {
        writeln!(wrong, "{stage}: {difference}").unwrap();
    }
    wrong
}

pub(crate) fn stages() -> Vec<Stage> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/schemas");
    #[expect(clippy::disallowed_methods, reason = "whoever writes scenes plays those of one queue")]
    let only = std::env::var("JOBDOCTOR_SCENES").ok();
    let mut stages = Vec::new();
    for folder in entries(&root).into_iter().filter(|path| path.is_dir()) {
        let queue = name(&folder);
        if only.as_ref().is_some_and(|only| *only != queue) {
            continue;
        }
        stages.extend(of_engine(&queue, Engine::Postgres, &folder));
        if !on_a_server_only() {
            stages.extend(of_engine(&queue, Engine::Sqlite, &folder.join("sqlite")));
        }
    }
    stages
}

/// The last version of each queue's tables on each engine, and the others.
fn by_age() -> (Vec<Stage>, Vec<Stage>) {
    let (mut newest, mut older) = (Vec::<Stage>::new(), Vec::new());
    for stage in stages() {
        older.extend(newest.pop_if(|last| (&last.queue, last.engine) == (&stage.queue, stage.engine)));
        newest.push(stage);
    }
    (newest, older)
}

pub(crate) fn newest() -> Vec<Stage> {
    by_age().0
}

fn of_engine(queue: &str, engine: Engine, folder: &Path) -> Vec<Stage> {
    let texts = |folder: &Path| entries(folder).into_iter().filter(|path| has(path, "sql")).collect::<Vec<_>>();
    let read = |path: &PathBuf| Scene::parse(&name(path), &fs::read_to_string(path).unwrap());
    let scenes: Vec<Scene> = texts(&folder.join("scenes")).iter().map(read).collect();
    let stage = |path: &PathBuf| {
        let version = name(path);
        Stage {
            queue: queue.to_owned(),
            engine,
            schema: fs::read_to_string(path).unwrap(),
            scenes: scenes.iter().filter(|scene| scene.is_played_on(&version)).cloned().collect(),
            outcome: folder.join(format!("{version}.outcome")),
            version,
        }
    };
    texts(folder).iter().map(stage).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    paths.sort();
    paths
}

fn has(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
