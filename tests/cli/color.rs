//! Colour, where it is wanted.

use super::scene::incident;

#[test]
fn machine_formats_have_none() {
    let doctor = incident();
    for command in ["stale", "owners", "reclaim"] {
        for format in ["json", "jsonl", "csv", "name", "none"] {
            let ran = doctor.on_queue(&[command, "--color", "always", "-o", format]).exits(0);
            assert!(!ran.stdout.contains('\x1b'), "{command} -o {format}");
        }
    }
}

#[test]
fn the_environment_is_asked_where_the_flag_is_silent() {
    let colored = |variables: &[(&'static str, &str)], flag: &str| {
        let doctor = variables.iter().fold(incident(), |doctor, (name, value)| doctor.env(name, *value));
        doctor.on_queue(&["stale", "--color", flag]).stdout.contains('\x1b')
    };
    assert!(!colored(&[], "auto"));
    assert!(colored(&[("CLICOLOR_FORCE", "1")], "auto"));
    assert!(!colored(&[("CLICOLOR_FORCE", "0")], "auto"));
    assert!(!colored(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], "auto"));
    assert!(colored(&[("NO_COLOR", "1")], "always"));
    assert!(!colored(&[("CLICOLOR_FORCE", "1")], "never"));
}
