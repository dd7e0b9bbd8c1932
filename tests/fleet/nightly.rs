//! Eight copies over a table of a million rows.

use super::Scene;
use super::check::of_the_database;
use super::copies::at_once;
use super::workers::{WORKERS, Workers};
use crate::support::cli::{Ran, until};
use crate::support::shop::Shop;

const SCENE: Scene = Scene { dead: 998_000, living: 2_000 };

/// What one of them says that it has moved. Documents of a million steps would measure the pipe.
fn requeued(ran: &Ran) -> u64 {
    let number = ran.stderr.split("requeued ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or("0");
    number.replace(',', "").parse().unwrap_or_else(|_| panic!("{ran:#?}"))
}

fn exactly_one_effect(shop: &Shop) {
    SCENE.plant(shop);
    let workers = Workers::start(shop, SCENE, true);
    until("the workers are at work", || workers.rounds() >= u64::from(WORKERS));
    let ended = at_once(shop, "none");
    let log = workers.stop();
    let wrongs = of_the_database(shop, SCENE, &log);
    assert!(wrongs.is_empty(), "{wrongs:#?}");
    assert!(ended.iter().all(|ran| [0, 3, 75].contains(&ran.code)), "{ended:#?}");
    assert_eq!(ended.iter().map(requeued).sum::<u64>(), u64::from(SCENE.dead), "{ended:#?}");
}

#[test]
fn a_million_rows_on_postgres() {
    let shop = Shop::on_postgres();
    shop.run(&["init"]).exits(0);
    exactly_one_effect(&shop);
}

#[test]
fn a_million_rows_in_a_wal() {
    let shop = Shop::on_sqlite();
    shop.run(&["init"]).exits(0);
    shop.open_to_many();
    exactly_one_effect(&shop);
}
