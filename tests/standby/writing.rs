//! A standby takes no writes: a plan can be made there, and nobody is told that it was carried out.

use super::{SOME, banner, queue, states};
use crate::support::cli::is_valid;

#[test]
fn a_plan_can_be_made() {
    let (pair, doctor, database) = queue(SOME);
    let standby = database.url(&[pair.standby()]);
    banner(&doctor.run(&["reclaim", "--db", &standby]).exits(0));
    let plan = doctor.run(&["reclaim", "--db", &standby, "--json"]).exits(0);
    banner(&plan);
    let plan = plan.document("reclaim");
    assert_eq!((&plan["summary"]["planned"], &plan["applied"]), (&2.into(), &false.into()));
    let primary = doctor.run(&["reclaim", "--db", &database.url(&[pair.primary()]), "--json"]).exits(0).json();
    assert_eq!(plan["digest"], primary["digest"], "the same plan");
}

#[test]
fn nothing_is_applied() {
    let (pair, doctor, database) = queue(SOME);
    let standby = database.url(&[pair.standby()]);
    let mut client = pair.client(&database);
    let before = states(&mut client);
    for words in [&["reclaim"][..], &["sweep"], &["sweep", "--restart", "--host", "web1"]] {
        let arguments = [words, &["--apply", "--db", &standby]].concat();
        doctor.run(&arguments).exits(4).says("standby");
        let machine = doctor.run(&[&arguments[..], &["--json"]].concat()).exits(4);
        machine.says("standby");
        let document = machine.json();
        is_valid(words[0], &document);
        assert_eq!(document["applied"], false, "{document:#}");
        assert!(document["refused"].as_str().is_some_and(|why| why.contains("standby")), "{document:#}");
        assert_eq!(states(&mut client), before, "{words:?}");
    }
}

/// That a standby takes no writes comes before whose turn it is: 75 would be success to a timer.
#[test]
fn a_sweep_that_is_to_hold_is_refused_all_the_same() {
    let (pair, doctor, database) = queue(SOME);
    let primary = database.url(&[pair.primary()]);
    doctor.run(&["init", "--ledger", "--db", &primary]).exits(0);
    doctor.run(&["sweep", "--apply", "--db", &primary]).exits(0);
    doctor.run(&["sweep", "--apply", "--min-interval", "1h", "--db", &primary]).exits(75);
    pair.catch_up();
    let ran =
        doctor.run(&["sweep", "--apply", "--min-interval", "1h", "--db", &database.url(&[pair.standby()])]).exits(4);
    ran.says("this is a standby");
}

/// A run on the primary is looked at from the standby, and not taken back there.
#[test]
fn nothing_is_taken_back() {
    let (pair, doctor, database) = queue(SOME);
    let primary = database.url(&[pair.primary()]);
    let applied = doctor.run(&["reclaim", "--apply", "--json", "--db", &primary]).exits(0).json();
    let run = applied["run_id"].as_str().unwrap();
    pair.catch_up();
    let standby = database.url(&[pair.standby()]);
    // The same cluster, whatever host answers.
    let planned = doctor.run(&["undo", run, "--json", "--db", &standby]).exits(0).json();
    assert_eq!(planned["summary"]["planned"], 2, "{planned:#}");
    doctor.run(&["undo", run, "--apply", "--db", &standby]).exits(4).says("standby");
    doctor.run(&["undo", run, "--apply", "--db", &primary]).exits(0);
    let after = states(&mut pair.client(&database));
    assert_eq!(after, ["1 RUNNING 0", "2 RUNNING 0", "3 RUNNING 0", "4 RUNNING 0"]);
}
