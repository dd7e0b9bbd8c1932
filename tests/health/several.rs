//! One plugin of several targets.

use super::line::said;
use crate::cli::scene::incident;
use crate::support::cli::Doctor;

const NASTY: &str = "a 'b'=c|d\\u001b[2J\\ne";

/// A target that is well, one with findings, one whose name is hostile, and one that cannot be reached where asked for.
fn targets(with_gone: bool) -> Doctor {
    let doctor = incident();
    doctor.run(&["init", "--db", "well.db"]).exits(0);
    let mut config = format!(
        "[target.well]\ndb = \"well.db\"\n[target.shop]\ndb = \"queue.db\"\n[target.\"{NASTY}\"]\ndb = \"queue.db\"\n"
    );
    if with_gone {
        config.push_str("[target.gone]\ndb = \"gone.db\"\n");
    }
    std::fs::write(doctor.path("c.toml"), config).unwrap();
    doctor
}

#[test]
fn the_first_line_is_about_the_worst() {
    let health = ["health", "--all-targets", "--config", "c.toml"];
    let found = said(targets(false).run(&health));
    assert_eq!(found.state, "WARNING");
    assert!(found.text.starts_with("3 targets: 1 ok, 2 warning ("), "{}", found.text);
    let gone = said(targets(true).run(&health));
    assert_eq!(gone.state, "CRITICAL");
    assert!(gone.text.contains("1 critical (gone)"), "{}", gone.text);
    assert!(gone.more.iter().any(|line| line.starts_with("gone: JOBDOCTOR CRITICAL - there is no file gone.db")));
    // What is not known is less bad than what is wrong.
    let unknown = said(targets(true).run(&[&health as &[&str], &["--unreachable", "unknown"]].concat()));
    assert_eq!(unknown.state, "WARNING");
}

#[test]
fn each_has_its_own_performance_data() {
    let found = said(targets(true).run(&["health", "--all-targets", "--config", "c.toml"]));
    let stuck = |target: &str| found.data[&format!("{target}.stuck")].value;
    assert_eq!((stuck("well"), stuck("shop")), (Some(0.0), Some(6.0)));
    assert_eq!(found.data.keys().filter(|label| label.ends_with(".stuck")).count(), 3, "{:?}", found.data.keys());
}

#[test]
fn as_json_and_with_a_mistake() {
    let doctor = targets(true);
    let document =
        doctor.run(&["health", "--all-targets", "--config", "c.toml", "--json"]).exits(2).document("targets");
    let codes: Vec<_> =
        document["targets"].as_array().unwrap().iter().map(|target| target["exit_code"].clone()).collect();
    assert_eq!(codes.len(), 4);
    assert!(codes.contains(&0.into()) && codes.contains(&1.into()) && codes.contains(&2.into()), "{codes:?}");
    for wrong in [&["--db", "queue.db"] as &[&str], &["--target", "none"]] {
        let found = said(doctor.run(&[&["health", "--all-targets", "--config", "c.toml"], wrong].concat()));
        assert_eq!(found.state, "UNKNOWN", "{found:?}");
    }
}
