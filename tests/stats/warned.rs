//! `reclaim` and `sweep` warn where finished jobs say that a threshold is too short.

use crate::support::cli::is_valid;
use crate::support::shop::{Shop, on_both};

fn warnings(place: &Shop, arguments: &[&str]) -> Vec<String> {
    let document = place.on_target(&[arguments, &["--json"]].concat()).exits(0).json();
    is_valid(arguments[0], &document);
    let warnings = document["warnings"].as_array().unwrap();
    warnings.iter().map(|w| w.as_str().unwrap().to_owned()).filter(|w| w.contains("p99")).collect()
}

#[test]
fn a_threshold_below_the_p99_of_a_kind_that_it_touches() {
    on_both(|place| {
        // 37 of 1,000 ran for longer than five minutes: 12 minutes. Of the other kind none.
        place.finished("media", "ResizeVideo", 963, "60");
        place.finished("media", "ResizeVideo", 37, "720");
        place.finished("mail", "SendInvoice", 1000, "2");
        place.finished("mail", "Untouched", 1000, "7200");
        place.claim("media", "ResizeVideo", 3000);
        place.claim("mail", "SendInvoice", 3000);
        place.config("");
        let expected =
            "--older 5m is shorter than the p99 (12m) of kind ResizeVideo: it would have hit 37 of 1000 finished jobs";
        assert_eq!(warnings(place, &["reclaim", "--older", "5m"]), [expected]);
        assert_eq!(warnings(place, &["sweep", "--older", "5m"]), [expected]);
        place.on_target(&["reclaim", "--older", "5m"]).exits(0).says(&format!("warning: {expected}\n"));
        // Long enough; nothing to do with that kind; a restart sweep does not ask for ages.
        assert_eq!(warnings(place, &["reclaim", "--older", "15m"]), [""; 0]);
        assert_eq!(warnings(place, &["reclaim", "--older", "5m", "--kind", "Send*"]), [""; 0]);
        assert_eq!(warnings(place, &["sweep", "--restart", "--all-owners"]), [""; 0]);
        // By name of what set it.
        place.config("older = \"6m\"\n[[target.shop.threshold]]\nqueue = \"media\"\nolder = \"10m\"");
        let of_entry = "older 10m of threshold 1 of target shop is shorter than the p99 (12m) of kind ResizeVideo: \
                        it would have hit 37 of 1000 finished jobs";
        assert_eq!(warnings(place, &["reclaim"]), [of_entry]);
        place.config("older = \"6m\"");
        assert!(warnings(place, &["reclaim"])[0].starts_with("older 6m of target shop is shorter"));
        // And it is a warning only.
        place.on_target(&["reclaim", "--apply", "-q", "-o", "none"]).exits(0);
    });
}

/// One in a hundred is what a p99 leaves out.
#[test]
fn one_in_a_hundred_is_no_news() {
    on_both(|place| {
        place.finished("media", "A", 990, "60");
        place.finished("media", "A", 10, "720");
        place.claim("media", "A", 3000);
        place.config("");
        assert_eq!(warnings(place, &["reclaim", "--older", "5m"]), [""; 0]);
        place.finished("media", "A", 1, "720");
        let said = warnings(place, &["reclaim", "--older", "5m"]);
        assert!(said[0].ends_with("it would have hit 11 of 1001 finished jobs"), "{said:?}");
    });
}

/// A heartbeat does not care how long a job runs.
#[test]
fn only_where_a_step_rests_on_how_long_a_job_runs() {
    on_both(|place| {
        place.finished("media", "A", 100, "7200");
        place.sql(
            "INSERT INTO jobs (queue, kind, status, owner_id, claimed_at, heartbeat_at) VALUES
            ('media', 'A', 'RUNNING', 'web1:1', {ago 9000}, {ago 3000})",
        );
        place.config("");
        assert_eq!(warnings(place, &["reclaim", "--older", "5m"]), [""; 0]);
        // The preset's own threshold is one too.
        place.claim("media", "A", 9000);
        let said = warnings(place, &["reclaim"]);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("the 1h of preset lease is shorter than the p99 (2h) of kind A"), "{said:?}");
    });
}

#[test]
fn a_maximum_run_time_of_the_config_file() {
    on_both(|place| {
        place.finished("media", "A", 100, "7200");
        place.sql(
            "INSERT INTO jobs (queue, kind, status, owner_id, claimed_at, lease_expires_at) VALUES
            ('media', 'A', 'RUNNING', 'web1:1', {ago 9000}, {ago -3000})",
        );
        place.config("max_runtime = \"1h\"");
        assert_eq!(warnings(place, &["reclaim"]), [""; 0], "it is held, so nothing is touched");
        let said = warnings(place, &["reclaim", "--rule", "max_runtime"]);
        assert!(
            said[0].starts_with("max_runtime 1h of target shop is shorter than the p99 (2h) of kind A"),
            "{said:?}"
        );
        // What the row says of itself is its author's own word.
        place.sql("UPDATE jobs SET max_runtime_seconds = 3600 WHERE status = 'RUNNING'");
        assert_eq!(warnings(place, &["reclaim", "--rule", "max_runtime"]), [""; 0]);
    });
}

/// Whoever may not read what finished jobs left is not kept from reclaiming: without a warning.
#[test]
fn what_cannot_be_read_is_no_error() {
    on_both(|place| {
        if !place.is_postgres() {
            // A view stands for a table whose end of runs fails to be read.
            return;
        }
        place.finished("media", "A", 100, "7200");
        place.claim("media", "A", 9000);
        place.sql(
            "ALTER TABLE jobs RENAME TO kept;
            CREATE FUNCTION broken(x timestamptz) RETURNS timestamptz LANGUAGE plpgsql AS $$
                BEGIN IF x IS NULL THEN RETURN NULL; END IF; RAISE EXCEPTION 'no'; END $$;
            CREATE VIEW jobs AS SELECT id, queue, kind, payload, priority, status, run_at, owner_id, lease_token, claimed_at,
                heartbeat_at, lease_expires_at, attempts, max_attempts, stalls, max_runtime_seconds, deadline_at,
                cancel_requested_at, error_code, error_detail, created_at, broken(finished_at) AS finished_at FROM kept",
        );
        place.config("preset = \"lease\"");
        let planned = place.on_target(&["reclaim", "--older", "5m", "--json"]).exits(0).json();
        assert_eq!(
            (&planned["summary"]["planned"], planned["warnings"].to_string().contains("p99")),
            (&1.into(), false)
        );
    });
}
