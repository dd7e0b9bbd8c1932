//! A worker that was only paused: nothing of its is retried while it shows life.

use super::{lost, reclaim};
use crate::support::cli::each;
use crate::support::shop::{Shop, on_both};

/// The owner of the lost jobs holds another one, and beats.
fn comes_back(queue: &Shop) {
    queue.sql(
        "INSERT INTO jobs (id, queue, kind, status, owner_id, lease_token, claimed_at, heartbeat_at, lease_expires_at)
         VALUES (99, 'mail', 'SendInvoice', 'RUNNING', 'web2:1', 't', {ago 30}, {ago 2}, {ago -60})",
    );
}

#[test]
fn the_jobs_of_an_owner_that_lives_are_skipped() {
    on_both(|queue| {
        lost(queue, (1, 2), "web2", 840);
        lost(queue, (3, 3), "web3", 840);
        comes_back(queue);
        let done = reclaim(queue, &["--apply"], 0);
        assert_eq!((each(&done, "steps", "id"), each(&done, "skipped", "id")), (vec!["3"], vec!["1", "2"]));
        assert_eq!(done["skipped"][0]["detail"], "its owner has shown life since: it may still run the job");
        // One that ended since says nothing.
        queue.sql("UPDATE jobs SET status = 'SUCCEEDED' WHERE id = 99");
        assert_eq!(reclaim(queue, &["--apply"], 0)["summary"]["outcomes"]["moved"], 2);
    });
}

#[test]
fn so_is_one_that_comes_back_between_plan_and_write() {
    on_both(|queue| {
        lost(queue, (1, 2), "web2", 840);
        let plan = queue.doctor.path("plan.json").display().to_string();
        reclaim(queue, &["--save-plan", &plan], 0);
        comes_back(queue);
        let done = queue.run(&["reclaim", "--plan", &plan, "--apply", "--json"]).exits(3).json();
        assert_eq!(done["summary"]["planned"], 0);
        assert_eq!(queue.states()[..2], ["1 FAILED 5", "2 FAILED 5"]);
    });
}

/// The worker of the lost job was paused, and its lease ran out. Its write is fenced by then, before a retry and after.
#[test]
fn a_late_write_of_a_paused_worker_misses() {
    on_both(|queue| {
        queue.in_flight(1, 1, "'web2:1'", 600);
        queue.sql("UPDATE jobs SET attempts = 4, max_attempts = 5");
        let finish = "UPDATE jobs SET status = 'SUCCEEDED', finished_at = {ago 0} WHERE id = 1 AND owner_id = 'web2:1' \
                      AND lease_token = 'token' AND status IN ('CLAIMED', 'RUNNING')";
        queue.run(&["reclaim", "--apply"]).exits(0).says("failed 1 job");
        queue.sql(finish);
        assert_eq!(queue.states(), ["1 FAILED 5"]);
        assert_eq!(reclaim(queue, &["--apply"], 0)["summary"]["outcomes"]["moved"], 1);
        queue.sql(finish);
        assert_eq!(queue.states(), ["1 QUEUED 0"]);
    });
}

#[test]
fn a_list_of_living_owners_counts() {
    on_both(|queue| {
        lost(queue, (1, 1), "web2", 840);
        lost(queue, (2, 2), "web3", 840);
        std::fs::write(queue.doctor.path("alive.txt"), "web2:1\n").unwrap();
        let alive = queue.doctor.path("alive.txt").display().to_string();
        let plan = reclaim(queue, &["--alive-from", &alive], 0);
        assert_eq!((each(&plan, "steps", "id"), each(&plan, "skipped", "id")), (vec!["2"], vec!["1"]));
    });
}
