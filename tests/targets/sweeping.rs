use super::fleet::{mixed, two};
use crate::support::cli::is_valid;

const SWEPT: [&str; 3] = ["1 QUEUED 1", "2 QUEUED 1", "3 QUEUED 1"];

#[test]
fn those_that_answer_are_swept_by_their_own_settings() {
    let fleet = mixed();
    let ran = fleet.all(&["sweep", "--apply"]).exits(69);
    let (web, app) = fleet.states();
    assert_eq!(app, SWEPT);
    assert!(web.contains(&"1 QUEUED - 2".to_owned()), "{web:?}");
    ran.shows("\nmoved 3 of 3 stuck jobs").shows("\nmoved 5 of 5 stuck jobs");
    assert!(ran.stderr.ends_with("4 targets: 2 done, 1 misconfigured (old), 1 unreachable (staging)\n"), "{ran:#?}");
}

#[test]
fn a_guard_of_one_target_stops_that_one_alone() {
    let fleet = two();
    fleet.configure(&fleet.both().replace("max_jobs = 100", "max_jobs = 2"));
    let ran = fleet.all(&["sweep", "--apply", "--json"]).exits(4);
    let document = ran.document("targets");
    let (web, app) = (&document["targets"][0], &document["targets"][1]);
    is_valid("sweep", &web["document"]);
    assert_eq!((&web["exit_code"], &web["document"]["applied"]), (&4.into(), &false.into()));
    assert_eq!((&app["exit_code"], &app["document"]["summary"]["outcomes"]["moved"]), (&0.into(), &3.into()));
    assert_eq!(fleet.states().1, SWEPT);
    assert!(!fleet.states().0.iter().any(|row| row.starts_with("1 QUEUED")));
}

#[test]
fn from_cron_only_targets_with_something_to_do_speak() {
    let fleet = two();
    fleet.doctor.sql("DELETE FROM jobs WHERE id NOT IN (6, 9, 10)");
    let ran = fleet.all(&["sweep", "--apply"]).exits(0);
    assert!(!format!("{ran:?}").contains("target web"), "web has nothing to do: {ran:#?}");
    assert!(ran.stdout.starts_with("target app\n"), "{ran:#?}");
    ran.shows("moved 3 of 3 stuck jobs");
    assert_eq!(ran.stderr, "2 targets: 2 done\n");
    fleet.all(&["sweep", "--apply"]).exits(0).is_silent();
}

#[test]
fn a_restart_sweep_of_this_host_in_every_queue() {
    let fleet = two();
    let ran = fleet.all(&["sweep", "--restart", "--host", "web1", "--apply", "--json"]).exits(0).json();
    let moved: Vec<_> = (0..2).map(|n| &ran["targets"][n]["document"]["summary"]["outcomes"]["moved"]).collect();
    assert_eq!(moved, [2, 3], "6 and 7 are web1's too, whatever their leases say");
}

#[test]
fn the_journal_has_a_run_of_each() {
    let fleet = two();
    fleet.all(&["sweep", "--apply"]).exits(0);
    let history = fleet.doctor.run(&["history", "--json"]).exits(0).json();
    let mut targets: Vec<_> =
        history["runs"].as_array().unwrap().iter().map(|run| run["target"]["name"].to_string()).collect();
    targets.sort();
    assert_eq!(targets, ["\"app\"", "\"web\""], "{history:#}");
}

#[test]
fn each_compares_with_a_look_of_its_own() {
    let fleet = two();
    let arguments = ["stale", "--snapshot-file", "look-{target}.json"];
    let ran = fleet.all(&arguments).exits(0);
    assert_eq!(fleet.doctor.files(), ["look-app.json", "look-web.json", "queue.db"]);
    let hint = "jobdoctor reclaim --target web --snapshot-file look-web.json";
    assert!(ran.stderr.contains(hint), "what is proposed can be typed: {ran:#?}");
    fleet.all(&arguments).exits(0);
}
