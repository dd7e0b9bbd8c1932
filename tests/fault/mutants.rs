//! A checker that sees nothing proves nothing: each state that a fault must not leave is told.

use super::ground::{BATCHES, BEFORE, Ground};
use crate::support::figures;
use crate::support::shop::Shop;

#[test]
fn whatever_must_not_be_is_seen() {
    let mut caught = 0;
    for shop in [Shop::on_sqlite(), Shop::on_postgres()] {
        let ground = Ground::of(shop, BATCHES.len());
        let standing = || ground.standing(&mut ground.shop.connect());
        assert_eq!(standing(), Ok(vec![false; 3]));
        let back = |id: i64| {
            format!("DELETE FROM jobs WHERE id = {id}; INSERT INTO jobs SELECT * FROM {BEFORE} WHERE id = {id}")
        };
        let untold = |id: i64| format!("DELETE FROM jobdoctor_ledger WHERE id = '{id}'");
        let twice = "INSERT INTO jobdoctor_ledger (run_id, moved_at, command, version, preset, job_table, id, key, \
            key_columns, action, state, state_after, attempts, attempts_after, rules, \"row\") \
            SELECT 'twice', moved_at, command, version, preset, job_table, id, key, key_columns, action, \
            state, state_after, attempts, attempts_after, rules, \"row\" FROM jobdoctor_ledger WHERE id = '1'";
        let broken = [
            ("half a batch", format!("{}; {}", back(1), untold(1))),
            ("moved and not told", untold(2)),
            ("told and not moved", back(3)),
            ("all of a batch told and not moved", back(4)),
            ("counted twice", "UPDATE jobs SET attempts = attempts + 1 WHERE id = 1".to_owned()),
            ("told twice", twice.to_owned()),
            ("moved in part", "UPDATE jobs SET owner_id = 'web1:1' WHERE id = 1".to_owned()),
            ("another time", "UPDATE jobs SET run_at = {ago 5000} WHERE id = 1".to_owned()),
            ("another action", "UPDATE jobs SET status = 'FAILED' WHERE id = 6".to_owned()),
            ("a living job", "UPDATE jobs SET status = 'QUEUED' WHERE id = 11".to_owned()),
            ("a living job, a little", "UPDATE jobs SET lease_token = NULL WHERE id = 12".to_owned()),
            ("one that is done", "UPDATE jobs SET finished_at = created_at WHERE id = 14".to_owned()),
            ("one is gone", "DELETE FROM jobs WHERE id = 13".to_owned()),
            ("one more", "INSERT INTO jobs (id) VALUES (99)".to_owned()),
        ];
        for (what, sql) in broken {
            ground.converges();
            ground.shop.sql(&sql);
            assert!(standing().is_err(), "not seen: {what}");
            ground.again();
            caught += 1;
        }
        ground.converges();
        assert_eq!(ground.is_journalled(&[true; 3]), Ok(()));
        std::fs::remove_dir_all(ground.shop.doctor.home(".local")).unwrap();
        assert!(ground.is_journalled(&[true; 3]).is_err(), "not seen: no journal");
        ground.again();
        // What is done of one batch alone is no half state.
        ground.shop.run(&["reclaim", "--id", "6", "--apply"]).exits(0);
        ground.shop.sql("UPDATE jobdoctor_ledger SET command = 'sweep'");
        assert_eq!(standing(), Ok(vec![false, false, true]));
    }
    figures::add(caught, "mutants caught");
}
