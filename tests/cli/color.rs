//! Colour, where it is wanted.

use super::scene::incident;
use insta::assert_snapshot;

#[test]
fn stale() {
    assert_snapshot!(incident().run(&["stale", "--db", "queue.db", "--color", "always"]).whole());
}

#[test]
fn stale_wide() {
    assert_snapshot!(incident().run(&["stale", "--db", "queue.db", "--color=always", "-o", "wide"]).whole());
}

#[test]
fn owners() {
    assert_snapshot!(incident().run(&["owners", "--db", "queue.db", "--color", "always"]).whole());
}

#[test]
fn show() {
    assert_snapshot!(incident().run(&["show", "2", "6", "7", "--db", "queue.db", "--color", "always"]).whole());
}

#[test]
fn reclaim() {
    assert_snapshot!(incident().run(&["reclaim", "--db", "queue.db", "--color", "always", "--apply"]).whole());
}

#[test]
fn check() {
    assert_snapshot!(incident().run(&["check", "--db", "queue.db", "--color", "always"]).whole());
}

#[test]
fn presets() {
    assert_snapshot!(incident().run(&["presets", "--color", "always"]).whole());
}

#[test]
fn presets_show() {
    assert_snapshot!(incident().run(&["presets", "show", "simple", "--color", "always"]).whole());
}

#[test]
fn errors() {
    assert_snapshot!(incident().run(&["stale", "--db", "none.db", "--color", "always"]).whole());
}

#[test]
fn machine_formats_have_none() {
    let doctor = incident();
    for command in ["stale", "owners", "reclaim"] {
        for format in ["json", "jsonl", "csv", "name", "none"] {
            let ran = doctor.run(&[command, "--db", "queue.db", "--color", "always", "-o", format]).exits(0);
            assert!(!ran.stdout.contains('\x1b'), "{command} -o {format}");
        }
    }
}

#[test]
fn the_environment_is_asked_where_the_flag_is_silent() {
    let colored = |variables: &[(&'static str, &str)], flag: &str| {
        let doctor = variables.iter().fold(incident(), |doctor, (name, value)| doctor.env(name, *value));
        doctor.run(&["stale", "--db", "queue.db", "--color", flag]).stdout.contains('\x1b')
    };
    assert!(!colored(&[], "auto"));
    assert!(colored(&[("CLICOLOR_FORCE", "1")], "auto"));
    assert!(!colored(&[("CLICOLOR_FORCE", "0")], "auto"));
    assert!(!colored(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], "auto"));
    assert!(colored(&[("NO_COLOR", "1")], "always"));
    assert!(!colored(&[("CLICOLOR_FORCE", "1")], "never"));
}
