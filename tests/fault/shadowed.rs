//! A session in which a temporary table goes by the queue's name (F18), as a pooler's may that was lent to somebody else before.

use super::ground::{BATCHES, Ground, SWEEP};
use super::through::Through;
use crate::support::figures;
use crate::support::gate::Order;
use crate::support::shop::Shop;

/// With one of the dead jobs in it, so that it would do for a queue.
const SHADOW: &str = "CREATE TEMPORARY TABLE IF NOT EXISTS jobs AS SELECT * FROM public.jobs WHERE id = 1";

#[test]
fn by_a_temporary_table() {
    let ground = Ground::of(Shop::on_postgres(), BATCHES.len());
    let through =
        Through::of(
            &ground,
            |flight, _| {
                if flight.statement().starts_with("BEGIN") { Order::Behind(SHADOW) } else { Order::Pass }
            },
        );
    let document = through.run(&SWEEP).exits(0).json();
    let standing = ground.standing(&mut ground.shop.connect());
    assert_eq!(standing, Ok(vec![true; BATCHES.len()]), "{document:#}");
    ground.is_honest(&document, &[true; BATCHES.len()]);
    assert!(through.flights().iter().filter(|flight| flight.starts_with("BEGIN")).count() > 1, "it was in the way");
    ground.converges();
    figures::add(1, "faults survived");
}
