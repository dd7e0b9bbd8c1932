//! What `check` says.

use super::scene::calm;

#[test]
fn a_queue_of_which_no_claim_can_be_judged() {
    let doctor = calm();
    let claims = |count: u32| {
        let row = |id| {
            format!(
                "INSERT INTO jobs (id, queue, kind, status, owner_id, claimed_at) VALUES ({id}, 'q', 'k', 'RUNNING', 'a', unixepoch() + 7200);"
            )
        };
        doctor.sql(&format!("DELETE FROM jobs; {}", (1..=count).map(row).collect::<String>()));
        doctor.on_queue(&["check"])
    };
    claims(2).exits(0).shows("warning:    unknown: claims that cannot be judged: 2;");
    let every = claims(3).exits(78);
    every.shows("error:      unknown: claims that cannot be judged: 3, all; job").shows("set the clock that wrote");
    assert!(!every.stdout.contains("time_zone=") && !every.stdout.contains("--option"), "{}", every.whole());
    doctor.sql("UPDATE jobs SET claimed_at = unixepoch() WHERE id = 1");
    doctor.on_queue(&["check"]).exits(0);
}
