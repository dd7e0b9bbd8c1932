//! Whatever finds a server for `psql` finds the same one here: the same inputs go to real psql, to libpq itself and to
//! the program, and an impostor of a server compares how they introduce themselves.

mod case;
mod compared;
mod deliberate;
mod oracle;
mod random;
mod runs;
mod tricky;

use case::Case;
use compared::{Tally, compare, compare_settings};
use runs::Lab;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Where the random ones begin; any other would do as well, but then a failure would come and go.
const SEED: u64 = 20_261_121;

#[test]
fn psql_and_this_program_go_the_same_way() {
    println!("{}", go_the_same_way(120));
}

mod nightly {
    #[test]
    fn in_more_cases_too() {
        println!("{}", super::go_the_same_way(1_000));
    }
}

/// In all tricky cases, and in so many random ones.
fn go_the_same_way(random: u64) -> Tally {
    let cases: Vec<Case> = tricky::cases().into_iter().chain((0..random).map(|n| random::case(SEED + n))).collect();
    let tally = in_labs(&cases, compare);
    assert!(tally.failures.is_empty(), "{} differ:\n\n{}", tally.failures.len(), tally.failures.join("\n\n"));
    assert!(tally.compared >= 200, "too few were led anywhere: {tally}");
    assert!(tally.both_refused >= 30, "too few were refused by both: {tally}");
    assert!(tally.refused_early <= tally.compared / 50, "too many were refused by us alone: {tally}");
    tally
}

#[test]
fn libpq_and_this_library_read_the_same_settings() {
    let cases: Vec<Case> = tricky::cases().into_iter().chain((0..4000).map(|n| random::case(!SEED - n))).collect();
    let tally = in_labs(&cases, compare_settings);
    println!("{tally}");
    assert!(tally.failures.is_empty(), "{} differ:\n\n{}", tally.failures.len(), tally.failures.join("\n\n"));
    assert!(tally.compared >= 2000, "too few could be read: {tally}");
    assert!(tally.refused_early <= tally.compared / 50, "too many were refused by us alone: {tally}");
}

/// What is done otherwise on purpose is done, by both sides, as the reasons say.
#[test]
fn the_differences_are_those_that_are_meant() {
    let (mut lab, mut others) = (Lab::new(), Vec::new());
    for (case, psql, ours, reason) in deliberate::cases() {
        let (theirs, mine) = (lab.psql(&case), lab.jobdoctor(&case));
        if !psql.fits(&theirs) || !ours.fits(&mine) {
            others.push(format!("{case} ({reason}): not {psql:?} and {ours:?} but\n{theirs:#?}\n{mine:#?}"));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n\n"));
}

/// Works through all cases, on as many labs as there are processors.
fn in_labs(cases: &[Case], work: impl Fn(&mut Lab, &Case, &mut Tally) + Sync) -> Tally {
    let (next, whole) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 4) {
            scope.spawn(|| {
                let (mut lab, mut tally) = (Lab::new(), Tally::default());
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::SeqCst)) {
                    work(&mut lab, case, &mut tally);
                }
                whole.lock().unwrap().add(tally);
            });
        }
    });
    whole.into_inner().unwrap()
}
