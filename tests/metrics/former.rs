//! What the file keeps of runs before: the last success, and nothing else.

use crate::support::cli::{Doctor, until};
use crate::support::promtool::{Sample, accepts_metrics, samples, value};
use crate::support::shop;
use std::fs;

const KEPT: &str = "last_success_timestamp_seconds";

/// A target on either engine whose database can be put out of reach.
struct Place<'s> {
    doctor: &'s Doctor,
    db: &'s str,
    away: &'static str,
    code: i32,
}

impl Place<'_> {
    fn target(&self, db: &str) {
        let text = format!("[target.shop]\ndb = \"{db}\"\npreset = \"lease\"\n[target.other]\ndb = \"{}\"\n", self.db);
        fs::write(self.doctor.path("c.toml"), text).unwrap();
    }

    fn run(&self, command: &str, target: &str, code: i32) -> Vec<Sample> {
        let words = [command, "-o", "none", "--config", "c.toml", "--target", target, "--textfile", "q.prom"];
        self.doctor.run(&words).exits(code);
        let text = fs::read_to_string(self.doctor.path("q.prom")).unwrap();
        accepts_metrics(&text);
        samples(&text)
    }
}

fn on_both(test: impl Fn(&Place<'_>)) {
    shop::on_both(|shop| {
        let (away, code) =
            if shop.is_postgres() { ("host=/nonexistent user=app dbname=app", 69) } else { ("gone.db", 66) };
        test(&Place { doctor: &shop.doctor, db: &shop.url, away, code });
    });
}

#[test]
fn the_last_success_outlives_a_failure() {
    on_both(|place| {
        for command in ["stats", "sweep"] {
            let _ = fs::remove_file(place.doctor.path("q.prom"));
            let one = |samples: &[Sample], name| value(samples, name, &[("target", "shop"), ("command", command)]);
            place.target(place.away);
            let never = place.run(command, "shop", place.code);
            assert_eq!((one(&never, "up"), one(&never, KEPT)), (Some(0.0), None), "there was none yet");
            place.target(place.db);
            let good = place.run(command, "shop", 0);
            assert_eq!((one(&good, "up"), one(&good, "exit_code")), (Some(1.0), Some(0.0)));
            place.target(place.away);
            for _ in 0..2 {
                let bad = place.run(command, "shop", place.code);
                assert_eq!((one(&bad, "up"), one(&bad, "exit_code")), (Some(0.0), Some(f64::from(place.code))));
                assert_eq!(one(&bad, KEPT), one(&good, KEPT));
                let last = "last_run_timestamp_seconds";
                assert!(one(&bad, last) >= one(&good, last) && one(&bad, "run_duration_seconds").is_some());
                assert!(bad.iter().all(|sample| !sample.name.ends_with("_jobs") || sample.name.contains("moved")));
            }
            place.target(place.db);
            until("a later success", || one(&place.run(command, "shop", 0), KEPT) > one(&good, KEPT));
        }
    });
}

/// The mutant writes it under the target that was mistyped, and the counter begins anew.
#[test]
fn a_mistake_leaves_the_file_as_it_is() {
    on_both(|place| {
        place.target(place.db);
        place.run("sweep", "shop", 0);
        let before = fs::read(place.doctor.path("q.prom")).unwrap();
        place.run("sweep", "nope", 2);
        assert_eq!(fs::read(place.doctor.path("q.prom")).unwrap(), before);
    });
}

#[test]
fn what_is_not_this_runs_own_is_not_kept() {
    on_both(|place| {
        place.target(place.db);
        let good = place.run("stats", "other", 0);
        let file = place.doctor.path("q.prom");
        let text = fs::read_to_string(&file).unwrap();
        let at = value(&good, KEPT, &[]).unwrap().to_string();
        place.target(place.away);
        for (text, why) in [
            (text.clone(), "another target's"),
            (text.replace("\"other\"", "\"shop\"").replace("\"stats\"", "\"sweep\""), "another command's"),
            (text.replace("\"other\"", "\"shop\"").replace(&at, "NaN"), "no number"),
            (text.replace("\"other\"", "\"shop\"").replace(&at, "17e300"), "no instant"),
            (text.replace("\"other\"", "\"shop\"").replace(&at, &format!("{at} 1")), "with a time"),
            ("# HELP jobdoctor_up 1\n\u{0}\u{1}{{{".to_owned(), "rubbish"),
        ] {
            fs::write(&file, text).unwrap();
            assert_eq!(value(&place.run("stats", "shop", place.code), KEPT, &[]), None, "{why}");
        }
        // The counterpart: the same file, and only its own name in it.
        fs::write(&file, text.replace("\"other\"", "\"shop\"")).unwrap();
        let kept = value(&place.run("stats", "shop", place.code), KEPT, &[]);
        assert_eq!(kept.map(|kept| kept.to_string()), Some(at));
    });
}
