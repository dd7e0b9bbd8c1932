//! A demonstration that was made an hour ago still shows what the README says.

use super::block::blocks_of;
use crate::support::ages::Aged;
use crate::support::cli::Doctor;

/// Every command that the README shows on the demonstration says the same an hour later, but for ages. The mutant is a lease of a
/// minute, as a worker would have it.
#[test]
fn an_hour_later_it_shows_the_same() {
    let commands: Vec<String> = blocks_of("README.md")
        .into_iter()
        .filter(|block| block.words.first().is_some_and(|word| word == "demo"))
        .flat_map(|block| block.text.lines().map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|line| line.trim_start_matches("$ ").strip_prefix("jobdoctor ").map(str::to_owned))
        .map(|line| line.split(" #").next().unwrap().trim().to_owned())
        .collect();
    assert!(commands.len() >= 5, "{commands:?}");
    let [now, later] = [0, 3600].map(|ago| {
        let doctor = Doctor::new().env("COLUMNS", "200");
        doctor.run(&["demo"]).exits(0);
        let times = ["claimed_at", "heartbeat_at", "lease_expires_at", "cancel_requested_at", "created_at"];
        let shifted = times.map(|time| format!("{time} = {time} - {ago}")).join(", ");
        doctor.sql_in("demo.db", &format!("UPDATE jobs SET {shifted}"));
        commands.iter().map(|line| doctor.run(&line.split(' ').collect::<Vec<_>>()).whole()).collect::<Vec<_>>()
    });
    for ((command, now), later) in commands.iter().zip(now).zip(later) {
        assert!(Aged::of(&now).is_like(&Aged::of(&later), 3600 + 600), "{command}\n{now}\n{later}");
    }
}
