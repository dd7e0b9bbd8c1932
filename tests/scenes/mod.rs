//! Scenes of orphans on the tables of real queues: each schema in `fixtures/schemas/QUEUE/VERSION.sql` plays every scene in
//! `fixtures/schemas/QUEUE/scenes/` in a database of its own. A scene says beforehand what is to be found and done; every
//! column of every row that changed is then compared with `VERSION.outcome`.
//!
//! With JOBDOCTOR_BLESS=1 the outcomes are written anew; with JOBDOCTOR_SCENES=QUEUE only those of one queue are played.

mod as_new;
mod by_hand;
mod changes;
mod mutants;
mod outcome;
mod play;
mod scene;
mod times;

use as_new::AsNew;
use scene::Scene;
use std::fmt::Write;
use std::fs;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One version of one queue's tables, with the scenes that are played on it.
struct Stage {
    queue: String,
    version: String,
    schema: String,
    scenes: Vec<Scene>,
    outcome: PathBuf,
}

#[test]
fn every_scene_ends_as_it_says() {
    let stages = stages();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        let mut tables = AsNew::new();
        while let Some(stage) = stages.get(next.fetch_add(1, Ordering::SeqCst)) {
            let said = play(&mut tables, stage);
            if !said.is_empty() {
                wrong.lock().unwrap().push(said);
            }
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(!stages.is_empty());
}

/// Plays all scenes of a stage; what went otherwise than written.
fn play(tables: &mut AsNew, stage: &Stage) -> String {
    let (mut wrong, mut played) = (String::new(), String::new());
    for scene in &stage.scenes {
        let place = format!("{} {}, scene {}", stage.queue, stage.version, scene.name);
        let playing = || play::play(tables, play::catalog(&stage.queue), &stage.schema, scene);
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
        writeln!(wrong, "{} {}: {difference}", stage.queue, stage.version).unwrap();
    }
    wrong
}

fn stages() -> Vec<Stage> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/schemas");
    #[expect(clippy::disallowed_methods, reason = "whoever writes scenes plays those of one queue")]
    let only = std::env::var("JOBDOCTOR_SCENES").ok();
    let mut stages = Vec::new();
    for folder in entries(&root).into_iter().filter(|path| path.is_dir()) {
        let queue = name(&folder);
        if only.as_ref().is_some_and(|only| *only != queue) {
            continue;
        }
        let scenes: Vec<Scene> = entries(&folder.join("scenes"))
            .into_iter()
            .filter(|path| has(path, "sql"))
            .map(|path| Scene::parse(&name(&path), &fs::read_to_string(&path).unwrap()))
            .collect();
        for path in entries(&folder).into_iter().filter(|path| has(path, "sql")) {
            let version = name(&path);
            stages.push(Stage {
                queue: queue.clone(),
                schema: fs::read_to_string(&path).unwrap(),
                scenes: scenes.iter().filter(|scene| scene.is_played_on(&version)).cloned().collect(),
                outcome: folder.join(format!("{version}.outcome")),
                version,
            });
        }
    }
    stages
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
