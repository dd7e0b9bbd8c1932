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
    let few = claims(2).exits(0);
    assert!(few.stdout.contains("warning:    unknown: claims that cannot be judged: 2;"), "{}", few.whole());
    let every = claims(3).exits(78);
    assert!(
        every.stdout.contains("error:      unknown: claims that cannot be judged: 3, all; job"),
        "{}",
        every.whole()
    );
    assert!(every.stdout.contains("set the clock that wrote"), "{}", every.whole());
    assert!(!every.stdout.contains("time_zone=") && !every.stdout.contains("--option"), "{}", every.whole());
    doctor.sql("UPDATE jobs SET claimed_at = unixepoch() WHERE id = 1");
    doctor.on_queue(&["check"]).exits(0);
}

#[test]
fn the_index_that_it_recommends_can_be_made() {
    let doctor = calm();
    doctor.sql("DROP INDEX jobs_lease");
    let checked = doctor.on_queue(&["check", "--json"]).exits(0).json();
    let finding = checked["findings"].as_array().unwrap().iter().find(|finding| finding["id"] == "index").unwrap();
    assert_eq!(finding["severity"], "warning");
    assert!(finding["count_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{finding}");
    doctor.sql(finding["fix"].as_str().unwrap());
    let checked = doctor.on_queue(&["check"]).exits(0);
    assert!(!checked.stdout.contains("warning"), "{checked:#?}");
}
