//! `stats -o prometheus`.

use crate::support::cli::fails;
use crate::support::promtool::{Sample, accepts_metrics, samples, sum, value};
use crate::support::shop::{Shop, on_both};

fn printed(shop: &Shop, more: &[&str]) -> (String, Vec<Sample>) {
    let text = shop.run(&[&["stats", "-o", "prometheus"], more].concat()).exits(0).stdout;
    accepts_metrics(&text);
    let samples = samples(&text);
    (text, samples)
}

fn incident(shop: &Shop) {
    shop.in_flight(1, 3, "'web1:1'", 900);
    shop.sql("UPDATE jobs SET deadline_at = {ago 60} WHERE id = 1");
    shop.in_flight(4, 4, "'web2:1'", 1);
    shop.in_flight(5, 5, "'web2:1'", 1);
    shop.sql("UPDATE jobs SET heartbeat_at = {ago -7200} WHERE id = 5");
    shop.sql("UPDATE jobs SET queue = 'media' WHERE id >= 4");
}

#[test]
fn each_claim_is_counted_once_by_queue_state_and_reason() {
    on_both(|shop| {
        incident(shop);
        let (_, found) = printed(shop, &[]);
        let stuck =
            |queue, reason| value(&found, "stuck_jobs", &[("queue", queue), ("state", "RUNNING"), ("reason", reason)]);
        assert_eq!((stuck("mail", "lease_expired"), stuck("mail", "deadline_passed")), (Some(3.0), None));
        assert_eq!(stuck("media", "lease_expired"), Some(0.0), "zero does not vanish");
        let document = shop.run(&["stats", "--json"]).exits(0).json();
        for (gauge, field) in [("stuck_jobs", "stuck"), ("unknown_jobs", "unknown"), ("in_flight_jobs", "in_flight")] {
            assert_eq!(Some(sum(&found, gauge)), document["summary"][field].as_f64(), "{field}");
        }
        let silence = |queue| value(&found, "oldest_silence_seconds", &[("queue", queue)]).unwrap();
        assert!((900.0..1000.0).contains(&silence("mail")) && silence("media") == 0.0, "{found:#?}");
        let one = |name| value(&found, name, &[("target", "default"), ("command", "stats")]);
        assert_eq!((one("up"), one("exit_code")), (Some(1.0), Some(0.0)));
        assert_eq!(one("last_run_timestamp_seconds"), one("last_success_timestamp_seconds"));
        assert!(one("run_duration_seconds") < Some(600.0));
        // What is asked for is what is counted.
        assert_eq!(sum(&printed(shop, &["--queue", "media"]).1, "in_flight_jobs"), 2.0);
        assert_eq!(sum(&printed(shop, &["--older", "30m"]).1, "stuck_jobs"), 1.0, "the deadline alone");
    });
}

#[test]
fn nothing_in_flight() {
    on_both(|shop| {
        let (_, found) = printed(shop, &[]);
        let names: Vec<&str> = found.iter().map(|sample| sample.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "jobdoctor_build_info",
                "jobdoctor_up",
                "jobdoctor_exit_code",
                "jobdoctor_last_run_timestamp_seconds",
                "jobdoctor_last_success_timestamp_seconds",
                "jobdoctor_run_duration_seconds",
                "jobdoctor_owners",
                "jobdoctor_owners",
                "jobdoctor_owners",
                "jobdoctor_owners",
                "jobdoctor_owners",
                "jobdoctor_owners",
            ]
        );
    });
}

const HOSTILE: [&str; 9] = [
    "a\"} 1\njobdoctor_up{target=\"x\"} 0\n# HELP x",
    "back\\slash\\n",
    "\\\"",
    "\u{1b}[2J\r\u{7}",
    "gpj.\u{202e}exe\u{2028}",
    "# TYPE",
    "",
    "漢字 👍",
    "{}=,",
];

#[test]
fn whatever_queues_are_called_it_is_read_back_exactly() {
    on_both(|shop| {
        for (n, name) in HOSTILE.iter().enumerate() {
            let id = u32::try_from(n).unwrap() + 1;
            shop.in_flight(id, id, "'web1:1'", 900);
            shop.sql(&format!("UPDATE jobs SET queue = '{name}' WHERE id = {id}"));
        }
        let (text, found) = printed(shop, &[]);
        let mut expected: Vec<&str> = HOSTILE.to_vec();
        expected.sort_unstable();
        let is_count = |sample: &&Sample| sample.name == "jobdoctor_in_flight_jobs";
        let read: Vec<&str> = found.iter().filter(is_count).map(|sample| sample.labels["queue"].as_str()).collect();
        assert_eq!(read, expected);
        assert_eq!(sum(&found, "up"), 1.0, "nobody can say that it is down");
        // The same again, but for the clock.
        let timeless = |text: &str| -> Vec<String> {
            text.lines().filter(|line| !line.contains("_seconds{")).map(str::to_owned).collect()
        };
        assert_eq!(timeless(&text), timeless(&printed(shop, &[]).0));
    });
}

/// SQLite alone can store it, and to Prometheus it would be the end of the text.
#[test]
fn a_nul_is_seen() {
    let shop = Shop::empty_on_sqlite();
    shop.in_flight(1, 1, "'web1:1'", 900);
    shop.sql("UPDATE jobs SET queue = 'a' || char(0) || 'b'");
    let (_, found) = printed(&shop, &[]);
    assert_eq!(value(&found, "in_flight_jobs", &[("queue", "a\u{fffd}b")]), Some(1.0), "{found:#?}");
}

#[test]
fn other_commands_have_no_metrics() {
    let shop = Shop::empty_on_sqlite();
    for command in
        [&["stale"][..], &["owners"], &["reclaim"], &["sweep"], &["history"], &["check"], &["show", "1"], &["env"]]
    {
        let ran = shop.run(&[command, &["-o", "prometheus"]].concat()).exits(2);
        assert!(ran.stderr.contains("possible values") && ran.stdout.is_empty(), "{ran:#?}");
    }
    let ran = shop.run(&["stats", "--runtimes", "-o", "prometheus"]).exits(2);
    assert!(ran.stderr.contains("--runtimes") && ran.stdout.is_empty(), "{ran:#?}");
    shop.run(&["stats", "--runtimes", "--textfile", "x.prom"]).exits(2);
    assert!(!shop.doctor.path("x.prom").exists());
    fails(&shop.doctor, &["stats", "--db", "gone.db"], 66);
    let ran = shop.doctor.run(&["stats", "--db", "gone.db", "-o", "prometheus"]).exits(66);
    assert_eq!(ran.stdout, "", "an error leaves it empty");
}
