//! Help as it looks, in both forms. The manual pages have all of it.

use crate::support::cli::Doctor;
use insta::assert_snapshot;

#[test]
fn in_both_forms() {
    for (name, line) in
        [("program", "--help"), ("program_in_short", "-h"), ("stale", "stale --help"), ("stale_in_short", "stale -h")]
    {
        assert_snapshot!(name, Doctor::new().run(&line.split(' ').collect::<Vec<_>>()).whole());
    }
}

#[test]
fn version() {
    let long = concat!("jobdoctor ", env!("JOBDOCTOR_VERSION"), "\n");
    assert_eq!(Doctor::new().run(&["--version"]).stdout, long);
    assert!(long.contains(std::env::consts::ARCH), "it names the target: {long}");
    assert_eq!(Doctor::new().run(&["-V"]).stdout, format!("jobdoctor {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn nothing_said() {
    let ran = Doctor::new().run(&[]).exits(2);
    assert_eq!(ran.stdout, "");
    ran.says("Usage: jobdoctor");
}
