//! `--expect`: the plan must still be the one that was looked at.

use crate::support::cli::fails;
use crate::support::shop::{Shop, on_both};

fn digest(shop: &Shop) -> String {
    let document = shop.run(&["reclaim", "--json"]).exits(0).document("reclaim");
    document["digest"].as_str().unwrap().to_owned()
}

fn queue(shop: &Shop) {
    shop.in_flight(1, 3, "'web1:1'", 4000);
    shop.in_flight(7, 7, "'web2:1'", 1);
}

#[test]
fn the_command_that_is_printed_does_exactly_that() {
    on_both(|shop| {
        queue(shop);
        let said = shop.run(&["reclaim"]).exits(0).stderr;
        let line = said.lines().find_map(|line| line.strip_prefix("to do exactly this: jobdoctor ")).unwrap();
        let words: Vec<String> = line.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect();
        assert!(words.contains(&digest(shop)[..16].to_owned()), "{line}");
        // The address of a server has blanks in it.
        let digest = words.iter().position(|word| word == "--expect").map(|at| words[at + 1].as_str()).unwrap();
        shop.run(&["reclaim", "--expect", digest, "--apply"]).exits(0);
        assert_eq!(shop.states(), ["1 QUEUED 1", "2 QUEUED 1", "3 QUEUED 1", "7 RUNNING 0"]);
    });
}

/// Anything that makes it another plan: one more, one less, another precondition, another action.
#[test]
fn a_world_that_has_moved_is_refused() {
    let actions = [
        "UPDATE jobs SET status = 'SUCCEEDED' WHERE id = 2",
        "UPDATE jobs SET heartbeat_at = {ago 1}, lease_expires_at = {ago -60} WHERE id = 2",
        "UPDATE jobs SET lease_token = 'another' WHERE id = 2",
        "UPDATE jobs SET attempts = 4 WHERE id = 2",
        "UPDATE jobs SET heartbeat_at = {ago 4000}, claimed_at = {ago 4000}, lease_expires_at = {ago 3940} WHERE id = 7",
        "DELETE FROM jobs WHERE id = 2",
    ];
    for change in actions {
        on_both(|shop| {
            queue(shop);
            let digest = digest(shop);
            shop.sql(change);
            let before = shop.jobs();
            let ran = shop.run(&["reclaim", "--expect", &digest, "--apply", "--json"]).exits(4);
            assert_eq!(ran.json()["applied"], false, "{change}");
            ran.says("no longer the expected one");
            assert_eq!(shop.jobs(), before, "{change}");
        });
    }
}

/// Time alone changes nothing: no clock goes into a digest.
#[test]
fn a_plan_is_the_same_a_moment_later() {
    on_both(|shop| {
        queue(shop);
        let digest = digest(shop);
        std::thread::sleep(std::time::Duration::from_millis(1100));
        shop.run(&["reclaim", "--expect", &digest[..8], "--apply"]).exits(0);
    });
}

#[test]
fn digests_that_are_none() {
    let shop = Shop::empty_on_sqlite();
    for digest in ["1234567", "x2345678", "", &"1".repeat(65)] {
        let ran = fails(&shop.doctor, &["reclaim", "--db", "queue.db", "--apply", "--expect", digest], 2);
        assert!(ran.stderr.contains("8 to 64 hexadecimal digits") || digest.is_empty(), "{ran:#?}");
    }
    fails(&shop.doctor, &["reclaim", "--db", "queue.db", "--expect", "12345678"], 2);
}
