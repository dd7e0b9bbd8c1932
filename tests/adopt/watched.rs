//! A heartbeat that was seen on every row in flight is shown; one that stood still on a single row is asked about.

use super::draft::{Draft, words};
use crate::support::shop::on_both;
use std::thread;
use std::time::Duration;

#[test]
fn every_row_in_flight_must_beat_to_show_a_silence() {
    on_both(|shop| {
        let numbers = shop.numbers(1, 10);
        shop.sql(&format!(
            "CREATE TABLE belts (id integer PRIMARY KEY, status text NOT NULL DEFAULT 'queued', worker text, pulse {{time}});
             INSERT INTO belts SELECT n, 'queued', NULL, NULL FROM {numbers};
             UPDATE belts SET status = 'moving', worker = 'b' || id, pulse = {{ago 9}} WHERE id <= 5"
        ));
        for (beats, asked) in [(5, false), (4, true)] {
            let mut running = shop.doctor.start(&shop.with_db(&words("belts", &[], &["--watch", "3s"])));
            while !running.has_ended() {
                shop.sql(&format!("UPDATE belts SET pulse = {{ago 0}} WHERE id <= {beats}"));
                thread::sleep(Duration::from_millis(700));
            }
            let draft = Draft::told(running.wait());
            assert_eq!(draft.asked().contains("claim.liveness"), asked, "{:#?}", draft.ran);
            let shown = if asked { None } else { Some("shown") };
            assert_eq!(draft.grade("claim.liveness"), shown, "{}", draft.ran.stdout);
            assert_eq!(draft.grade("states.in_flight"), shown, "{}", draft.ran.stdout);
        }
    });
}
