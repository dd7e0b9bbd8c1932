//! SQLite files that were damaged, in the ways that disks and copies have: the program never panics, says so or tells what SQLite
//! itself reads in them, changes nothing while it looks, and moves no claim that SQLite reads as alive.

use super::oracle::{self, Read};
use super::pristine::{DEAD, FIRST_LIVE, Files, PAGE, Variety};
use crate::bad_input::TRIED;
use crate::support::dice::{Dice, fresh_seed};
use crate::support::doctor::{CATALOG, limits, unguarded};
use crate::support::figures;
use crate::support::files::Frozen;
use crate::support::shm;
use jobdoctor::ops::{self, OpsError, Selection, Session};
use jobdoctor::output::{Collector, Job};
use jobdoctor::policy::Policy;
use jobdoctor::preset::Place;
use jobdoctor::store::{Address, Store, open};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A hundred times what the files are made with.
const MOST_BYTES: u64 = 10 << 20;

struct Trial<'n> {
    name: &'n str,
    variety: Variety,
    files: Files,
    directory: TempDir,
}

/// How many claims are in flight, the ids that are stuck, and those of which nobody can tell.
type Told = (u64, BTreeSet<String>, BTreeSet<String>);

impl<'n> Trial<'n> {
    fn of(name: &'n str, variety: Variety, files: Files) -> Trial<'n> {
        let trial = Trial { name, variety, files, directory: shm::directory("jobdoctor-damage-") };
        trial.files.put(&trial.path());
        trial
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("queue.db")
    }

    /// Gives what was found stuck, as far as anything was said.
    fn holds(&self) -> Option<usize> {
        let before = Frozen::of(self.directory.path());
        let store = open(&Address::file(self.path()));
        let told = self.planned(&*store).map(|(told, _)| told);
        // A log without its index gets a new one, which stays.
        match self.files.wal {
            Some(_) => before.must_be_unchanged_but_for("queue.db-shm"),
            None => before.must_be_unchanged(),
        }
        if let Ok(told) = &told {
            self.compare(told);
        }
        self.apply();
        told.ok().map(|(_, stuck, _)| stuck.len())
    }

    fn planned(&self, store: &dyn Store) -> Result<(Told, ops::ReadyPlan), OpsError> {
        let (limits, place) = (limits(), Place::default());
        let session = Session { preset: Some("lease"), ..Session::of(store, &CATALOG, &place, &limits) };
        let mut look = session.snapshot()?;
        let all = Collector::first(usize::MAX);
        let stale = ops::stale(&mut look, &Selection::default(), &Policy::default(), all, &mut |_, _| false)?;
        let plan = ops::plan(&mut look, &Selection::default(), &Policy::default())?;
        let ids = |list: &[Job]| list.iter().map(|job| job.id.clone()).collect::<BTreeSet<_>>();
        Ok(((stale.summary.in_flight, ids(stale.jobs.items()), ids(&stale.unknown)), plan.ready(look)))
    }

    fn compare(&self, (in_flight, stuck, unknown): &Told) {
        // An index that tells another story than its table is believed by SQLite too; the write asks the table again.
        if self.variety == Variety::Index {
            return;
        }
        let rows = match oracle::read(&self.files) {
            Read::Whole(rows) => rows,
            Read::Damaged(why) => panic!("{}: SQLite says {why}, and the program {stuck:?}", self.name),
            Read::Another => return,
        };
        assert!(stuck.is_disjoint(&rows.live), "{}: alive, and called stuck", self.name);
        assert_eq!(*in_flight, rows.counted, "{}", self.name);
        let found: BTreeSet<String> = stuck.union(unknown).cloned().collect();
        assert!(rows.dead.is_subset(&found), "{}: dead, and not found", self.name);
        assert!(found.is_subset(&rows.in_flight), "{}: found, and not in flight", self.name);
    }

    /// Has the plan carried out; what was alive stays as it was.
    fn apply(&self) -> Option<()> {
        let store = open(&Address::file(self.path()));
        // As the program does ahead of a write: a hot journal is taken back first.
        store.recover(&limits()).ok()?;
        // A journal says how long the file was, and SQLite believes it: what has become a hole of gigabytes is not copied.
        if fs::metadata(self.path()).unwrap().len() > MOST_BYTES {
            return None;
        }
        let (_, plan) = self.planned(&*store).ok()?;
        let before = oracle::read(&Files::of(&self.path()));
        let done = ops::reclaim(&*store, &limits(), plan, &unguarded()).ok()?;
        let document = serde_json::to_value(&done.document).unwrap();
        let moved = document["steps"].as_array().unwrap().iter().filter(|step| step["outcome"] == "moved");
        let moved: BTreeSet<String> = moved.map(|step| step["id"].as_str().unwrap().to_owned()).collect();
        if let Read::Whole(before) = before {
            assert!(moved.is_disjoint(&before.live), "{}: alive, and moved", self.name);
        }
        Some(())
    }
}

/// One to three bits: half of them anywhere, the others where they count most, in the file's header and the heads of pages.
fn flipped(whole: &Files, dice: &mut Dice) -> Files {
    let mut files = whole.clone();
    for _ in 0..1 + dice.below(3) {
        let Files { main, wal, journal } = &mut files;
        let mut parts: Vec<_> = [Some(main), wal.as_mut(), journal.as_mut()].into_iter().flatten().collect();
        let which = dice.below(parts.len());
        let part = &mut parts[which];
        let at = match dice.below(4) {
            0 => dice.below(100),
            1 => PAGE * dice.below(part.len().div_ceil(PAGE)) + dice.below(64),
            _ => dice.below(part.len()),
        };
        if let Some(byte) = part.get_mut(at) {
            *byte ^= 1 << dice.below(8);
        }
    }
    files
}

/// Cut off at pages and elsewhere; each field of the header and each page filled with what makes no sense; logs and journals that are cut
/// off, or noise, or begin like one.
fn damaged(whole: &Files, dice: &mut Dice) -> Vec<(String, Files)> {
    let (mut all, length) = (Vec::new(), whole.main.len());
    let odd = [0, 1, 15, 16, 31, 32, 99, 100, 101, PAGE - 1, PAGE + 1, length - 100, length - 1];
    for to in (1..length / PAGE).map(|page| page * PAGE).chain(odd) {
        all.push((format!("cut to {to}"), Files { main: whole.main[..to].to_vec(), ..whole.clone() }));
    }
    let header = (0..100).step_by(4).map(|at| at..at + 4);
    let pages = (0..length / PAGE).map(|page| page * PAGE..(page + 1) * PAGE);
    for place in header.chain(pages) {
        for filler in [0x00, 0x01, 0x7f, 0xff] {
            let mut files = whole.clone();
            files.main[place.clone()].fill(filler);
            all.push((format!("{filler:#x} in {place:?}"), files));
        }
    }
    let mut noise = |length: usize| -> Vec<u8> { (0..length).map(|_| dice.throw() as u8).collect() };
    let begins: [(&str, &[u8]); 4] = [
        ("noise", &[]),
        ("noughts", &[0; 4096]),
        ("a journal's magic", &[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]),
        ("a log's magic", &[0x37, 0x7f, 0x06, 0x82]),
    ];
    let mut beside: Vec<(String, Vec<u8>)> = Vec::new();
    for (name, begin) in begins {
        for more in [0, 28, 512, 4096] {
            beside.push((format!("{name} and {more} bytes of noise"), [begin, &noise(more)].concat()));
        }
    }
    for part in [&whole.wal, &whole.journal].into_iter().flatten() {
        for cut in [part.len() / 4, part.len() / 2, part.len() - 1] {
            beside.push((format!("its own, cut to {cut}"), part[..cut].to_vec()));
            beside.push((format!("its own, noise behind {cut}"), [&part[..cut], &noise(part.len() - cut)].concat()));
        }
    }
    for (name, bytes) in beside {
        all.push((format!("log: {name}"), Files { wal: Some(bytes.clone()), ..whole.clone() }));
        all.push((format!("journal: {name}"), Files { journal: Some(bytes), ..whole.clone() }));
    }
    all
}

/// Other bits and other noise every night.
#[test]
fn whatever_the_damage() {
    let seed = fresh_seed();
    for variety in Variety::ALL {
        println!("seed {seed} in {variety:?}");
        let (whole, mut dice) = (variety.files(), Dice::of(seed));
        let mut trials = damaged(&whole, &mut dice);
        trials.extend((0..2_500).map(|n| (format!("flip {n}"), flipped(&whole, &mut dice))));
        figures::add(trials.len() as u64, TRIED);
        for (name, files) in trials {
            let name = format!("{variety:?}, seed {seed}, {name}");
            let ended = std::panic::catch_unwind(|| Trial::of(&name, variety, files).holds());
            assert!(ended.is_ok(), "that was {name}");
        }
    }
}

/// Of the whole file the oracle and the program say the same. A program that takes what it cannot read for nothing, or that judges by
/// a lease of yesterday, is caught.
#[test]
fn what_is_whole_is_told_and_mutants_are_caught() {
    for variety in Variety::ALL {
        let found = Trial::of("whole", variety, variety.files()).holds();
        // A hot journal is not for looking past.
        assert_eq!(found, (variety != Variety::Hot).then_some(DEAD), "{variety:?}");
    }
    let trial = Trial::of("mutant", Variety::Table, Variety::Table.files());
    let store = open(&Address::file(trial.path()));
    let (told, _) = trial.planned(&*store).expect("it is whole");
    let sees_nothing = (told.0, BTreeSet::new(), BTreeSet::new());
    let mut moves_the_living = told.clone();
    moves_the_living.1.insert(FIRST_LIVE.to_string());
    for (mutant, is_caught) in [(&sees_nothing, true), (&moves_the_living, true), (&told, false)] {
        assert_eq!(std::panic::catch_unwind(|| trial.compare(mutant)).is_err(), is_caught);
    }
}
