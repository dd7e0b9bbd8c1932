//! What the states stand for, and the numbers behind them.

use super::line::{Data, said};
use crate::support::shop::on_both;

#[test]
fn ok_warning_critical() {
    on_both(|shop| {
        let empty = said(shop.run(&["health"]));
        assert_eq!((empty.state.as_str(), empty.text.as_str()), ("OK", "0 stuck, of 0 in flight; 0 jobs due"));
        assert_eq!(empty.data["share"].value, Some(0.0));
        shop.in_flight(1, 4, "'web2:1'", 1);
        assert_eq!(said(shop.run(&["health"])).text, "0 stuck, of 4 in flight; 0 jobs due");
        shop.in_flight(5, 6, "'web1:1'", 900);
        let jobs = shop.jobs();
        let found = said(shop.run(&["health", "-c", "10"]));
        assert_eq!(found.state, "WARNING", "any stuck claim is one, unless told");
        assert!(found.text.starts_with("2 stuck, of 6 in flight, longest silent 15m"), "{found:?}");
        let data = |value, unit: &str, warning: &str, critical: &str, max: &str| {
            let own = |text: &str| text.to_owned();
            let (unit, warning, critical) = (own(unit), own(warning), own(critical));
            Data { value: Some(value), unit, warning, critical, min: own("0"), max: own(max) }
        };
        let silence = found.data["silence"].value.unwrap();
        assert!((900.0..1000.0).contains(&silence), "{silence}");
        let labels: Vec<&str> = found.data.keys().map(String::as_str).collect();
        assert_eq!(labels, ["due", "in_flight", "oldest_due", "share", "silence", "stuck", "unknown"]);
        assert_eq!(found.data["stuck"], data(2.0, "", "0", "10", ""));
        assert_eq!(found.data["share"], data(33.33, "%", "", "", "100"));
        assert_eq!(found.data["silence"], data(silence, "s", "", "", ""));
        assert_eq!(
            (&found.data["unknown"], &found.data["in_flight"]),
            (&data(0.0, "", "0", "", ""), &data(6.0, "", "", "", ""))
        );
        assert_eq!(found.more[0], "lease_expired: 2 jobs, which proves death");
        assert!(
            found.more[1].starts_with("queue mail: 2 stuck, 0 unknown, of 6 in flight, longest silent 15m"),
            "{found:?}"
        );
        assert_eq!(said(shop.run(&["health", "-c", "1"])).state, "CRITICAL");
        assert_eq!(said(shop.run(&["health", "--older", "30m"])).state, "OK");
        assert_eq!(said(shop.run(&["health", "--host", "web2"])).text, "0 stuck, of 4 in flight");
        assert_eq!(shop.jobs(), jobs, "it only looks");
    });
}

#[test]
fn what_nobody_can_judge_is_a_warning() {
    on_both(|shop| {
        shop.in_flight(1, 1, "'web1:1'", 1);
        shop.sql("UPDATE jobs SET heartbeat_at = {ago -7200}");
        let found = said(shop.run(&["health", "-w", "100"]));
        assert_eq!(
            (found.state.as_str(), found.text.as_str()),
            ("WARNING", "0 stuck, 1 unknown, of 1 in flight; 0 jobs due: unknown 1 above 0")
        );
        // Who knows of it may say so; that is no leave for stuck ones.
        for (more, state) in [("unknown=1", "OK"), ("unknown=0", "WARNING"), ("unknown=@1", "WARNING")] {
            assert_eq!(said(shop.run(&["health", "-w", more])).state, state, "{more}");
        }
        assert_eq!(said(shop.run(&["health", "-w", "unknown=1", "-c", "unknown=0"])).state, "CRITICAL");
        // It is no more than that, and no less where something is worse.
        shop.in_flight(2, 2, "'web1:1'", 900);
        assert_eq!(said(shop.run(&["health", "-w", "100"])).state, "WARNING");
        assert_eq!(said(shop.run(&["health", "-w", "unknown=1"])).state, "WARNING");
        assert_eq!(said(shop.run(&["health", "-c", "0"])).state, "CRITICAL");
    });
}

/// Leases alone: nobody knows how long such a claim has been silent.
#[test]
fn a_silence_that_nobody_knows_is_not_taken_for_none() {
    on_both(|shop| {
        shop.in_flight(1, 1, "'web1:1'", 900);
        shop.sql("UPDATE jobs SET claimed_at = NULL, heartbeat_at = NULL");
        let found = said(shop.run(&["health", "-w", "silence=1h"]));
        assert_eq!((found.state.as_str(), found.data["silence"].value), ("WARNING", None), "{found:?}");
        assert!(found.text.ends_with(": silence not known"), "{found:?}");
        assert_eq!(said(shop.run(&["health", "-w", "100"])).state, "OK");
    });
}

#[test]
fn as_a_document() {
    on_both(|shop| {
        shop.in_flight(1, 2, "'web1:1'", 900);
        for (more, code, state) in [
            (&["-w", "5"][..], 0, "ok"),
            (&[], 1, "warning"),
            (&["-c", "0"], 2, "critical"),
            (&["-w", "x"], 3, "unknown"),
        ] {
            let ran = shop.run(&[&["health", "-o", "json"], more].concat()).exits(code);
            let document = ran.document("health");
            assert_eq!((&document["state"], ran.stderr.as_str()), (&state.into(), ""));
            assert_eq!(document["error"].is_null(), code < 3, "{document:#}");
        }
        let document = shop.run(&["health", "--json", "--target", "gone"]).exits(3).document("health");
        assert_eq!((&document["error"]["code"], &document["summary"]), (&2.into(), &serde_json::Value::Null));
    });
}

/// Many queues, with names that would be another state, other data, or another line.
#[test]
fn whatever_queues_are_called() {
    on_both(|shop| {
        shop.in_flight(1, 40, "'web1:1'", 900);
        shop.sql("UPDATE jobs SET queue = 'x|''stuck''=0;;;0; \u{1b}[2J\nJOBDOCTOR OK - 0 stuck | ''stuck''=0 ' || id");
        shop.sql(&format!("UPDATE jobs SET queue = '{}' WHERE id = 2", "ü|".repeat(500)));
        let found = said(shop.run(&["health"]));
        assert_eq!((found.state.as_str(), found.data["stuck"].value), ("WARNING", Some(40.0)));
        assert_eq!(found.more.len(), 12, "a reason, ten queues, and how many more: {found:#?}");
        assert_eq!(found.more[11], "and 30 more queues with findings");
        assert!(found.more.iter().any(|line| line.contains("\\x1b[2J\\nJOBDOCTOR OK")), "{found:#?}");
    });
}
