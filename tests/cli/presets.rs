//! What `presets` lists, and what `presets show` says of one.

use super::scene::orders;
use crate::support::cli::Doctor;

#[test]
fn mappings_are_listed_beside_them() {
    let listed = orders().run(&["presets", "--config", "config.toml", "--json"]).exits(0).json();
    let entries = listed["presets"].as_array().unwrap();
    let orders = entries.iter().find(|entry| entry["name"] == "orders").unwrap();
    assert_eq!((&orders["built_in"], &orders["detected"]), (&false.into(), &false.into()));
}

/// Its own part of the config file alone, and no password of a target that stands in a comment above it.
#[test]
fn a_mapping_as_it_is_written() {
    let doctor = Doctor::new();
    let claim = "claim = { table = \"jobs\",\tkey = \"id\", state = \"state\" }";
    let states = "states = { in_flight = [\"busy\"] }";
    let config = format!(
        "# db = \"postgres://u:c4n4ry@h/x\"\n[mapping.one]\n# why\n{states}\n{claim}\n[mapping.other]\n{states}\n{claim}\n"
    );
    std::fs::write(doctor.path("config.toml"), config).unwrap();
    for output in ["table", "json"] {
        let ran = doctor.run(&["presets", "show", "one", "--config", "config.toml", "-o", output]).exits(0);
        assert!(ran.stdout.contains("# why") && !ran.stdout.contains("other"), "{ran:#?}");
        assert!(!ran.stdout.contains("c4n4ry"), "{ran:#?}");
        assert!(output == "json" || ran.stdout.contains(claim), "{ran:#?}");
    }
}

#[test]
fn pages_act_on_no_terminal() {
    let doctor = Doctor::new();
    let hostile = "gone\\u001b[2J\\u202e\\nFAKE  ROW";
    let mapping = format!(
        "[mapping.evil]\ntitle = \"{hostile}\"\nstates = {{ in_flight = [\"held\"], waiting = [\"{hostile}\"] }}\n\
         claim = {{ table = \"jobs\", key = \"id\", state = \"state\" }}\n\
         action.requeue = {{ to = \"{hostile}\", set = {{ note = \"upper('x')\" }} }}\n\
         caution = {{ late = \"{hostile}\" }}\nadvice = {{ text = \"{hostile}\" }}\n"
    );
    std::fs::write(doctor.path("config.toml"), mapping).unwrap();
    for arguments in [&["presets"][..], &["presets", "show", "evil"]] {
        let ran = doctor.run(&[arguments, &["--config", "config.toml"]].concat()).exits(0);
        ran.shows("gone\\x1b[2J\\u{202e}\\n");
        assert!(!ran.stdout.contains(['\u{1b}', '\u{202e}']), "{ran:#?}");
        assert!(!ran.stdout.lines().any(|line| line.starts_with("FAKE")), "{ran:#?}");
    }
}

#[test]
fn one_as_it_is_written() {
    for (name, text) in [
        ("lease", include_str!("../../src/preset/presets/lease.toml")),
        ("simple", include_str!("../../src/preset/presets/simple.toml")),
        ("procrastinate", include_str!("../../src/preset/presets/procrastinate.toml")),
    ] {
        let page = Doctor::new().run(&["presets", "show", name]).exits(0).stdout;
        assert!(page.starts_with(&format!("# {name}: ")) && page.ends_with(text), "{page}");
    }
}
