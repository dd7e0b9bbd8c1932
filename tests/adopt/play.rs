//! Plays one fixture from the first question to the worker that claims the jobs again.

use super::draft::{Draft, words};
use super::fixture::Fixture;
use crate::support::shop::Shop;
use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

/// What a person answers at three in the morning.
const MOST_QUESTIONS: usize = 6;

pub fn all(engine: &str) {
    thread::scope(|scope| {
        for fixture in Fixture::all(engine) {
            let name = fixture.name.clone();
            thread::Builder::new().name(name).spawn_scoped(scope, move || play(&fixture)).unwrap();
        }
    });
}

fn set(ids: &[String]) -> BTreeSet<String> {
    ids.iter().cloned().collect()
}

fn play(fixture: &Fixture) {
    let shop = fixture.shop();
    let draft = |answers: &[String], more: &[&str]| Draft::of(&shop, &fixture.table, answers, more);
    let asking = draft(&[], &[]);
    assert_eq!((asking.ran.code, asking.asked()), (78, set(&fixture.asked)), "{:#?}", asking.ran);
    assert!(fixture.asked.len() <= MOST_QUESTIONS && fixture.answers.len() <= MOST_QUESTIONS, "{}", fixture.name);
    for key in &fixture.asked {
        assert_eq!(asking.value(key), None, "{key} is guessed: {}", asking.ran.stdout);
    }

    let before = fixture.rows(&shop);
    let complete = draft(&fixture.answers, &["--dry-run=server"]);
    assert_eq!((complete.ran.code, complete.asked()), (0, BTreeSet::new()), "{:#?}", complete.ran);
    for (grade, keys) in [("shown", &fixture.shown), ("likely", &fixture.likely)] {
        for (key, value) in keys {
            let drafted = (complete.value(key), complete.grade(key));
            assert_eq!(drafted, (Some(value.clone()), Some(grade)), "{key} in {}", complete.ran.stdout);
        }
    }
    assert_eq!(fixture.rows(&shop), before, "the dry run left something behind");

    let mapping = complete.saved(&shop);
    mapping.run(&["check"]).exits(0);
    assert_eq!(mapping.stuck(), set(&fixture.stuck), "{}", complete.ran.stdout);
    let in_flight = fixture.alive.len() + fixture.stuck.len();
    assert_eq!(mapping.run(&["stale", "--json"]).json()["summary"]["in_flight"], in_flight);
    let proof = [format!("{in_flight} in flight"), format!("{} stuck", fixture.stuck.len())];
    assert!(proof.iter().all(|part| complete.ran.stderr.contains(part)), "{proof:?} in {}", complete.ran.stderr);

    if !fixture.wrong.is_empty() {
        let kills = draft(&wrongly(fixture), &[]).saved(&shop).stuck();
        assert!(!kills.is_subset(&set(&fixture.stuck)), "this trap harms nobody: {kills:?}");
    }
    if let Some(noise) = &fixture.noise {
        let draft = watch(fixture, &shop, noise);
        assert_eq!((draft.asked(), draft.value("claim.liveness")), (set(&fixture.asked), None), "{:#?}", draft.ran);
    }
    if let (Some(beats), Some(watched)) = (&fixture.beats, &fixture.watched) {
        let draft = watch(fixture, &shop, beats);
        assert_eq!(draft.asked(), set(&watched.asked), "{:#?}", draft.ran);
        let seen = format!("{} advanced on ", watched.heartbeat);
        assert!(
            draft.ran.stderr.contains(&seen) && draft.ran.stderr.contains("or their step is longer"),
            "{:#?}",
            draft.ran
        );
    }

    let before = fixture.rows(&shop);
    let applied = complete.saved(&shop).run(&["reclaim", "--apply", "--max-jobs", "100", "--json"]).exits(0).json();
    assert_eq!(applied["summary"]["outcomes"]["moved"], fixture.stuck.len(), "{applied:#}");
    fixture.assert_after(&before, &fixture.rows(&shop));
    let claimable: BTreeSet<String> = shop.rows(&fixture.claim).into_iter().collect();
    assert_eq!(claimable, set(&fixture.claimable), "what the worker would claim");
}

/// The draft after a look at rows to which this is written all the while.
fn watch(fixture: &Fixture, shop: &Shop, writes: &str) -> Draft {
    let mut running = shop.doctor.start(&shop.with_db(&words(&fixture.table, &[], &["--watch", "2s"])));
    while !running.has_ended() {
        shop.sql(writes);
        thread::sleep(Duration::from_millis(500));
    }
    Draft::told(running.wait())
}

fn wrongly(fixture: &Fixture) -> Vec<String> {
    let key = |answer: &String| answer.split('=').next().map(str::to_owned);
    let replaced: BTreeSet<_> = fixture.wrong.iter().map(key).collect();
    let kept = fixture.answers.iter().filter(|answer| !replaced.contains(&key(answer)));
    kept.chain(&fixture.wrong).cloned().collect()
}
