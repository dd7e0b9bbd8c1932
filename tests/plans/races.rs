//! Between the snapshot and the write, the worker is heard of again. What it wrote stands.

use crate::files::waiting::Waiting;
use crate::readme::statements::{FINISH, HEARTBEAT, filled};
use crate::support::cli::until;
use crate::support::shop::{Shop, on_both};

/// Who holds job 1, in the statements that docs/reference-schema.md gives to workers.
const JOB: [(&str, &str); 3] = [("id", "1"), ("owner", "web1:1"), ("token", "token")];

/// Job 1 of three dead ones is changed so after the program has looked, and before it can write.
fn changed_by(change: impl Fn(&Shop) -> String) {
    on_both(|shop| {
        shop.open_to_many();
        for _ in 0..10 {
            shop.sql("DELETE FROM jobs");
            shop.in_flight(1, 3, "'web1:' || n", 600);
            let mut worker = shop.hold();
            let waiting = Waiting::start(&shop.doctor, &shop.with_db(&["reclaim", "--apply", "--json"]));
            until("it waits to write", || shop.waiting().is_none_or(|waiting| waiting == 1));
            worker(&change(shop));
            worker("COMMIT");
            let after = shop.image()[&1].clone();
            let document = waiting.end().exits(0).json();
            if document["summary"]["planned"] != 3 {
                // It was so slow to look that it saw the change. That is no race.
                continue;
            }
            let outcomes = &document["summary"]["outcomes"];
            assert_eq!((&outcomes["changed"], &outcomes["moved"]), (&1.into(), &2.into()), "{outcomes}");
            assert_eq!(shop.image()[&1], after, "what the worker wrote stands");
            return;
        }
        panic!("it never looks in time");
    });
}

#[test]
fn a_job_finishes_between_the_look_and_the_write() {
    changed_by(|shop| filled(&shop.statements()[FINISH], &JOB));
}

/// By the same worker, which found it given back. Nothing but the token tells, so the times stay as old as they were.
#[test]
fn a_job_is_claimed_again_between_the_look_and_the_write() {
    changed_by(|_| "UPDATE jobs SET lease_token = 'another' WHERE id = 1".to_owned());
}

#[test]
fn a_job_sends_a_heartbeat_between_the_look_and_the_write() {
    changed_by(|shop| filled(&shop.statements()[HEARTBEAT], &JOB));
}
