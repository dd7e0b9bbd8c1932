//! A restart sweep in the middle of a rolling deploy (F34): half of the hosts have new workers, the others are still at work. Only
//! what its scope names is moved, however alive or dead the others look.

use crate::support::figures;
use crate::support::shop::on_both;
use std::collections::BTreeMap;

#[test]
fn only_the_owners_in_its_scope_are_touched() {
    on_both(|shop| {
        // web1 and web2 are down, though their leases still run; web10 and web3 work; web4 has long been dead.
        shop.in_flight(1, 10, "'web1:' || n", 5);
        shop.in_flight(11, 20, "'web2:' || n", 5);
        shop.in_flight(21, 30, "'web10:' || n", 5);
        shop.in_flight(31, 40, "'web3:' || n", 5);
        shop.in_flight(41, 50, "'web4:' || n", 9000);
        let before = shop.image();
        let others = |image: BTreeMap<i64, String>, from: i64| image.into_iter().filter(move |(id, _)| *id >= from);
        for (host, last) in [("web1", 10), ("web2", 20)] {
            let sweep = ["sweep", "--restart", "--host", host, "--apply", "--json"];
            let document = shop.run(&sweep).exits(0).json();
            assert_eq!(document["summary"]["outcomes"]["moved"], 10, "{document:#}");
            let moved = "SELECT id FROM jobs WHERE status = 'QUEUED' AND attempts = 1 AND owner_id IS NULL";
            assert_eq!(shop.rows(moved).len(), last);
            let last = i64::try_from(last).expect("a small number");
            assert!(others(shop.image(), last + 1).eq(others(before.clone(), last + 1)), "{host}: others were touched");
            // The second run has nothing left to do.
            let after = shop.image();
            assert_eq!(shop.run(&sweep).exits(0).json()["summary"]["planned"], 0);
            assert_eq!(shop.image(), after, "{host}");
            figures::add(1, "faults survived");
        }
    });
}
