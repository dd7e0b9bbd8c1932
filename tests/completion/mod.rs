//! Completions: what the program offers by the protocol of the shells' scripts, and what real shells make of it.

mod protocol;
mod shells;

use crate::support::cli::Doctor;
use std::fs;

/// A demonstration, a target `shop` that names it, and a run on another one.
fn scene() -> (Doctor, String) {
    let doctor = Doctor::new();
    doctor.run(&["demo"]).exits(0);
    doctor.run(&["demo", "done.db"]).exits(0);
    let run = doctor.run(&["reclaim", "--db", "done.db", "--apply", "--json"]).exits(0).json();
    fs::create_dir_all(doctor.home(".config/jobdoctor")).unwrap();
    let config = format!(
        "[target.shop]\ndb = \"{}\"\n[target.away]\ndb = \"gone.db\"\n[mapping.orders]\n{}",
        doctor.path("demo.db").display(),
        "states = { waiting = ['new'], in_flight = ['working'], done = ['done'] }\n\
         claim = { table = 'orders', key = 'id', state = 'status', liveness = [] }\n"
    );
    fs::write(doctor.home(".config/jobdoctor/config.toml"), config).unwrap();
    (doctor, run["run_id"].as_str().unwrap().to_owned())
}
