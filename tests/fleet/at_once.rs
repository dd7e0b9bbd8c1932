//! Eight copies over 3,000 dead jobs and 600 living ones, on each engine; over fewer with a rollback journal.

use super::Scene;
use super::check::wrongs;
use super::copies::at_once;
use super::workers::{WORKERS, Workers};
use crate::support::cli::until;
use crate::support::shop::Shop;

const SCENE: Scene = Scene { dead: 3_000, living: 600 };

/// Where readers keep writers out, there is less to do: eight that read it all have the workers wait for long.
const SMALLER: Scene = Scene { dead: 1_000, living: 200 };

fn exactly_one_effect(shop: &Shop, scene: Scene) {
    scene.plant(shop);
    let workers = Workers::start(shop, scene, true);
    until("the workers are at work", || workers.rounds() >= u64::from(WORKERS));
    let ended = at_once(shop, "json");
    let log = workers.stop();
    assert!(!log.finished.is_empty(), "jobs are finished meanwhile");
    let wrongs = wrongs(shop, scene, &log, &ended);
    assert!(wrongs.is_empty(), "{wrongs:#?}");
}

#[test]
fn on_postgres() {
    let shop = Shop::on_postgres();
    shop.run(&["init"]).exits(0);
    exactly_one_effect(&shop, SCENE);
}

#[test]
fn in_a_wal() {
    let shop = Shop::on_sqlite();
    shop.run(&["init"]).exits(0);
    shop.open_to_many();
    exactly_one_effect(&shop, SCENE);
}

#[test]
fn with_a_rollback_journal() {
    let shop = Shop::on_sqlite();
    shop.run(&["init"]).exits(0);
    exactly_one_effect(&shop, SMALLER);
}
