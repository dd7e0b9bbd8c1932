//! Completions and manual pages. The committed files are compared elsewhere.

use crate::support::cli::{Doctor, fails};
use insta::assert_snapshot;

const COMMANDS: [&str; 12] =
    ["check", "completions", "demo", "init", "man", "owners", "presets", "reclaim", "schema", "show", "stale", "sweep"];

#[test]
fn completions_ask_the_program() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = Doctor::new().run(&["completions", shell]).exits(0);
        assert_eq!(ran.stderr, "");
        assert!(ran.stdout.contains("JOBDOCTOR_COMPLETE") && ran.stdout.contains("jobdoctor"), "{ran:#?}");
    }
}

#[test]
fn completions_of_another_shell() {
    assert_snapshot!(fails_plainly(&["completions", "tcsh"]), @r"
error: invalid value 'tcsh' for '<SHELL>'
  [possible values: bash, elvish, fish, powershell, zsh]

  tip: a similar value exists: 'zsh'

For more information, try '--help'.
");
}

#[test]
fn manual_pages_name_themselves() {
    for name in COMMANDS {
        let page = Doctor::new().run(&["man", name]).exits(0).stdout;
        assert!(page.contains(&format!(".TH jobdoctor-{name} 1")), "{page}");
        for section in [".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS"] {
            assert!(page.contains(section), "jobdoctor-{name} lacks {section}");
        }
        assert!(page.contains(&format!("jobdoctor {name}")), "jobdoctor-{name} says how to call it");
    }
    let page = Doctor::new().run(&["man"]).exits(0).stdout;
    assert!(page.contains(".TH jobdoctor 1"), "{page}");
    assert!(COMMANDS.iter().all(|name| page.contains(&format!("jobdoctor\\-{name}(1)"))), "{page}");
}

#[test]
fn a_page_that_is_not_there() {
    assert_snapshot!(fails_plainly(&["man", "stail"]), @"error: there is no command or topic `stail`, did you mean `stale`?");
}

#[test]
fn a_schema_that_is_not_there() {
    assert_snapshot!(fails_plainly(&["schema", "stail"]), @r"
error: invalid value 'stail' for '<DOCUMENT>'
  [possible values: adopt, check, config-check, env, error, health, history, history-run, init, log, owners, plan, presets, presets-show, reclaim, show, stale, stats, stats-runtimes, sweep, targets, undo]

  tip: a similar value exists: 'stale'

For more information, try '--help'.
");
}

/// For commands that have no `-o`.
fn fails_plainly(arguments: &[&str]) -> String {
    let doctor = Doctor::new();
    fails(&doctor, &[arguments, &["--bogus"]].concat(), 2);
    let ran = doctor.run(arguments).exits(2);
    assert_eq!(ran.stdout, "");
    ran.stderr
}
