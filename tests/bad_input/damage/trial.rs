//! One damaged file, looked at and acted on.

use super::oracle::{self, Read};
use super::pristine::{Files, Variety};
use crate::support::cli::Doctor;
use crate::support::doctor::{CATALOG, limits};
use crate::support::files::Frozen;
use crate::support::shm;
use jobdoctor::ops::{self, ApplyOptions, Guard, Mode, OpsError, Selection, Session};
use jobdoctor::policy::{Override, Policy};
use jobdoctor::preset::Place;
use jobdoctor::store::{Address, Store, open};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use tempfile::TempDir;

/// A hundred times what the files are made with.
const MOST_BYTES: u64 = 10 << 20;

/// See the module.
pub struct Trial<'n> {
    name: &'n str,
    variety: Variety,
    files: Files,
    directory: TempDir,
}

/// What the program told of it.
#[derive(Debug, Clone, Default)]
pub struct Told {
    /// How many are in flight.
    pub in_flight: u64,
    /// The ids that are stuck.
    pub stuck: BTreeSet<String>,
    /// The ids of which nobody can tell.
    pub unknown: BTreeSet<String>,
}

impl<'n> Trial<'n> {
    /// The files in a directory of their own.
    pub fn of(name: &'n str, variety: Variety, files: Files) -> Trial<'n> {
        let trial = Trial { name, variety, files, directory: shm::directory("jobdoctor-damage-") };
        trial.files.put(&trial.path());
        trial
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("queue.db")
    }

    /// Everything that must hold. Gives back how many stuck claims were found and moved, as far as anything was said.
    pub fn holds(&self) -> (Option<usize>, Option<usize>) {
        // Whatever panics, it is known where.
        std::panic::catch_unwind(AssertUnwindSafe(|| self.is_gone_through()))
            .unwrap_or_else(|_| panic!("that was {}", self.name))
    }

    fn is_gone_through(&self) -> (Option<usize>, Option<usize>) {
        let before = Frozen::of(self.directory.path());
        let told = self.look();
        unchanged(&before, &self.files);
        if let Ok(told) = &told {
            self.compare(told);
        }
        (told.ok().map(|told| told.stuck.len()), self.apply())
    }

    /// What `stale` and the dry run tell.
    pub fn look(&self) -> Result<Told, OpsError> {
        let store = open(&Address::file(self.path()));
        let (told, steps, _) = self.planned(&*store)?;
        assert!(steps.is_subset(&told.stuck), "{}: steps {steps:?} of {told:?}", self.name);
        Ok(told)
    }

    fn planned(&self, store: &dyn Store) -> Result<(Told, BTreeSet<String>, ops::ReadyPlan), OpsError> {
        let (limits, place) = (limits(), Place::default());
        let session =
            Session { store, catalog: &CATALOG, preset: Some("lease"), place: &place, limits: &limits, target: None };
        let mut look = session.snapshot()?;
        let stale = ops::stale(&mut look, &Selection::default(), &Policy::default(), None)?;
        let plan = ops::plan(&mut look, &Selection::default(), &Policy::default())?;
        let ids = |list: &jobdoctor::output::Spool<jobdoctor::output::Job>| {
            list.iter().map(|job| job.unwrap().id).collect::<BTreeSet<_>>()
        };
        let steps = plan.to_save()?.steps.into_iter().map(|step| step.id).collect();
        let (stuck, unknown) = (ids(&stale.jobs), ids(&stale.unknown));
        Ok((Told { in_flight: stale.summary.in_flight, stuck, unknown }, steps, plan.ready(look)))
    }

    /// What was told is what SQLite reads.
    pub fn compare(&self, told: &Told) {
        // An index that tells another story than its table is believed by SQLite too; the write asks the table again.
        if self.variety == Variety::Index {
            return;
        }
        let rows = match oracle::read(&self.files) {
            Read::Whole(rows) => rows,
            Read::Damaged(why) => panic!("{}: SQLite says {why}, and the program {told:?}", self.name),
            Read::Another => return,
        };
        let alive: Vec<_> = told.stuck.intersection(&rows.live).collect();
        assert!(alive.is_empty(), "{}: alive, and called stuck: {alive:?}", self.name);
        assert_eq!(told.in_flight, rows.counted, "{}", self.name);
        let found: BTreeSet<_> = told.stuck.union(&told.unknown).cloned().collect();
        let missed: Vec<_> = rows.dead.difference(&found).collect();
        assert!(missed.is_empty(), "{}: dead, and not found: {missed:?}", self.name);
        let invented: Vec<_> = found.difference(&rows.in_flight).collect();
        assert!(invented.is_empty(), "{}: found, and not in flight: {invented:?}", self.name);
    }

    /// Has the plan carried out; what was alive stays as it was, and nothing changes but what is said to have been moved.
    fn apply(&self) -> Option<usize> {
        let store = open(&Address::file(self.path()));
        // As the program does ahead of a write: a hot journal is taken back first.
        store.recover(&limits()).ok()?;
        // A journal says how long the file was, and SQLite believes it: what has become a hole of gigabytes is not copied.
        if fs::metadata(self.path()).unwrap().len() > MOST_BYTES {
            return None;
        }
        let (_, _, plan) = self.planned(&*store).ok()?;
        let before = oracle::read(&Files::of(&self.path()));
        let order = ApplyOptions {
            schema: "jobdoctor.reclaim/v1",
            mode: Mode::Apply,
            guard: Guard { overridden: Some(Override::Target), ..Guard::default() },
            run_id: "RUN".to_owned(),
            later: Default::default(),
            fast: false,
            sweep_lock: None,
            record: Default::default(),
        };
        let done = ops::reclaim(&*store, &limits(), plan, &order).ok()?;
        let document = serde_json::to_value(&done.document).unwrap();
        let ended = |outcome: &str| -> BTreeSet<String> {
            let steps = document["steps"].as_array().unwrap().iter().filter(|step| step["outcome"] == outcome);
            steps.map(|step| step["id"].as_str().unwrap().to_owned()).collect()
        };
        let (moved, unsure) = (ended("moved"), ended("unknown"));
        if let (Read::Whole(before), Read::Whole(after)) = (before, oracle::read(&Files::of(&self.path()))) {
            let alive: Vec<_> = moved.intersection(&before.live).collect();
            assert!(alive.is_empty(), "{}: alive, and moved: {alive:?}", self.name);
            if !before.all.is_empty() && !after.all.is_empty() && self.variety != Variety::Index {
                let is_same = |id: &String| before.all.get(id) == after.all.get(id);
                let changed: BTreeSet<_> =
                    before.all.keys().chain(after.all.keys()).filter(|id| !is_same(id)).collect();
                let beside: Vec<_> =
                    changed.into_iter().filter(|id| !moved.contains(*id) && !unsure.contains(*id)).collect();
                assert!(
                    beside.is_empty(),
                    "{}: changed, and not said to be: {:?}",
                    self.name,
                    beside.iter().map(|id| (id, before.all.get(*id), after.all.get(*id))).collect::<Vec<_>>()
                );
            }
        }
        Some(moved.len())
    }
}

/// Panics unless the directory is as it was. A log without its index gets a new one, which stays.
#[track_caller]
fn unchanged(before: &Frozen, files: &Files) {
    match files.wal {
        Some(_) => before.must_be_unchanged_but_for("queue.db-shm"),
        None => before.must_be_unchanged(),
    }
}

/// By the program, looking, planning and acting: it ends in a code of its table and prints whole documents.
pub fn through_the_program(name: &str, variety: Variety, files: &Files) {
    const CODES: [i32; 9] = [0, 3, 4, 5, 66, 69, 75, 77, 78];
    let doctor = Doctor::new();
    files.put(&doctor.path("queue.db"));
    let before = Frozen::of(&doctor.path(""));
    for arguments in [&["stale"][..], &["reclaim"], &["reclaim", "--apply"]] {
        let is_dry = !arguments.contains(&"--apply");
        let ran = doctor.run(&[arguments, &["--db", "queue.db", "--preset", "lease", "-o", "json"]].concat());
        assert!(ran.signal.is_none() && CODES.contains(&ran.code), "{name}: {arguments:?}: {ran:#?}");
        if [0, 3, 4, 5].contains(&ran.code) {
            let document: Value = ran.json();
            let lists = if arguments[0] == "stale" { ["jobs", "unknown"] } else { ["steps", "skipped"] };
            if is_dry && variety != Variety::Index {
                let found = lists.iter().flat_map(|list| document[*list].as_array().unwrap());
                let found: BTreeSet<String> = found.map(|job| job["id"].as_str().unwrap().to_owned()).collect();
                match oracle::read(files) {
                    Read::Whole(rows) => assert!(rows.dead.is_subset(&found), "{name}: {arguments:?} misses some"),
                    Read::Damaged(why) => panic!("{name}: SQLite says {why}, and {arguments:?} ends in {}", ran.code),
                    Read::Another => {}
                }
            }
        } else {
            assert_eq!(ran.stdout, "", "{name}: {arguments:?}: {ran:#?}");
            assert!(ran.stderr.contains("jobdoctor.error/v1"), "{name}: {arguments:?}: {ran:#?}");
        }
        if is_dry {
            unchanged(&before, files);
        }
    }
}
