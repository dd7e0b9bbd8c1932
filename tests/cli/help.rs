//! Every help text, whole.

use crate::support::cli::Doctor;
use insta::assert_snapshot;

/// The long form, which says all that the short one does.
fn long_form(command: &str) -> String {
    Doctor::new().run(&[command, "--help"]).whole()
}

#[test]
fn program() {
    assert_snapshot!(Doctor::new().run(&["--help"]).whole());
}

#[test]
fn program_in_short() {
    assert_snapshot!(Doctor::new().run(&["-h"]).whole());
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
    assert!(ran.stderr.contains("Usage: jobdoctor"), "{ran:#?}");
}

#[test]
fn stale_in_short() {
    assert_snapshot!(Doctor::new().run(&["stale", "-h"]).whole());
}

#[test]
fn by_the_help_command() {
    let doctor = Doctor::new();
    assert_eq!(doctor.run(&["help", "stale"]).stdout, doctor.run(&["stale", "--help"]).stdout);
}

#[test]
fn presets_show() {
    assert_snapshot!(Doctor::new().run(&["presets", "show", "--help"]).whole());
}

macro_rules! commands {
    ($($command:ident)*) => {
        $(
            #[test]
            fn $command() {
                assert_snapshot!(long_form(stringify!($command)));
            }
        )*
    };
}

commands! { adopt check completions config demo env generate health help history init man owners presets reclaim schema show stale stats sweep undo }

#[test]
fn examples_fit_their_lines() {
    for command in [
        "", "adopt", "check", "demo", "health", "history", "init", "owners", "presets", "reclaim", "schema", "show",
        "stale", "stats", "sweep", "undo",
    ] {
        let arguments: Vec<&str> = [command, "--help"].into_iter().filter(|word| !word.is_empty()).collect();
        // A plugin's help is no check, so to a monitoring system nothing is known.
        let code = if command == "health" { 3 } else { 0 };
        let said = Doctor::new().run(&arguments).exits(code).stdout;
        let examples = said.split_once("Examples:\n").map_or("", |(_, examples)| examples);
        let examples = examples.split("\n\n").next().unwrap_or_default();
        for line in examples.lines() {
            assert!(line.starts_with("  jobdoctor "), "{command}: an example goes on in the next line: {line}");
        }
    }
}
