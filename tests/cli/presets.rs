//! What `presets` lists.

use super::scene::orders;
use crate::support::cli::{Doctor, fails};
use insta::assert_snapshot;

#[test]
fn table() {
    assert_snapshot!(Doctor::new().run(&["presets"]).whole());
}

#[test]
fn json() {
    assert_snapshot!(Doctor::new().run(&["presets", "-o", "json"]).whole());
}

#[test]
fn none() {
    assert_snapshot!(Doctor::new().run(&["presets", "-o", "none"]).whole());
}

#[test]
fn mappings_are_listed_beside_them() {
    let listed = orders().run(&["presets", "--config", "config.toml", "--json"]).exits(0).json();
    let entries = listed["presets"].as_array().unwrap();
    let orders = entries.iter().find(|entry| entry["name"] == "orders").unwrap();
    assert_eq!((&orders["built_in"], &orders["detected"]), (&false.into(), &false.into()));
}

#[test]
fn one_as_it_is_written() {
    for (name, text) in [
        ("lease", include_str!("../../src/spec/presets/lease.toml")),
        ("simple", include_str!("../../src/spec/presets/simple.toml")),
        ("procrastinate", include_str!("../../src/spec/presets/procrastinate.toml")),
    ] {
        assert_eq!(Doctor::new().run(&["presets", name]).exits(0).stdout, text);
    }
}

#[test]
fn one_that_is_not_there() {
    let ran = fails(&Doctor::new(), &["presets", "leaze"], 78);
    assert_snapshot!(ran.stderr);
}

#[test]
fn a_mapping_is_read_in_its_file() {
    let ran = fails(&orders(), &["presets", "orders", "--config", "config.toml"], 2);
    assert_snapshot!(ran.stderr, @"error: `orders` is a mapping of your config file, where it can be read");
}
