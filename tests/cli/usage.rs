//! 2: the command line makes no sense. Nothing is read and nothing is made.

use super::scene::incident;
use crate::support::cli::{Doctor, fails};
use insta::assert_snapshot;

#[test]
fn a_flag_that_is_not_there() {
    assert_snapshot!(fails(&incident(), &["stale", "--db", "queue.db", "--oldre", "5m"], 2).stderr, @r"
error: unexpected argument '--oldre' found

  tip: a similar argument exists: '--older'

Usage: jobdoctor stale --db <URL> --older <DURATION>

For more information, try '--help'.
");
}

#[test]
fn a_command_that_is_not_there() {
    assert_snapshot!(fails(&incident(), &["stail"], 2).stderr, @r"
error: unrecognized subcommand 'stail'

  tip: some similar subcommands exist: 'stats', 'stale'

Usage: jobdoctor [OPTIONS] <COMMAND>

For more information, try '--help'.
");
}

#[test]
fn no_database_is_named() {
    assert_snapshot!(fails(&incident(), &["stale"], 2).stderr);
    assert_eq!(incident().files(), ["queue.db"]);
}

#[test]
fn durations() {
    let said: Vec<String> =
        ["5M", "3mo", "300", "301", "0", "0s", "-5m", "", "10", "99y", "0.2s", "5 parsecs", "1e9s", "soon"]
            .into_iter()
            .map(|text| {
                let ran = fails(&incident(), &["stale", "--db", "queue.db", &format!("--older={text}")], 2);
                format!("{text:10} {}", ran.stderr.lines().next().unwrap().trim_start_matches("error: "))
            })
            .collect();
    assert_snapshot!(said.join("\n"));
}

#[test]
fn durations_of_timeouts() {
    assert_snapshot!(fails(&incident(), &["stale", "--db", "queue.db", "--timeout", "5M"], 2).stderr, @r"
error: invalid value '5M' for '--timeout <DURATION>': 5 minutes is 5m; months are not allowed here

For more information, try '--help'.
");
}

#[test]
fn limits_and_actions_and_rules() {
    let said: Vec<String> = [
        ["--limit", "0"],
        ["--limit", "-1"],
        ["--limit", "many"],
        ["--to", "delete"],
        ["--rule", "lease_expired"],
        ["--rule", "bogus"],
        ["--max-jobs", "-1"],
        ["--color", "blue"],
    ]
    .into_iter()
    .map(|words| {
        let arguments = ["reclaim", "--db", "queue.db", "--apply", words[0], words[1]];
        format!("{}\n", fails(&incident(), &arguments, 2).stderr.lines().next().unwrap())
    })
    .collect();
    assert_snapshot!(said.concat());
}

#[test]
fn a_format_that_is_not_there() {
    let ran = incident().run(&["stale", "--db", "queue.db", "-o", "yaml"]).exits(2);
    assert_snapshot!(ran.whole(), @r"
[stderr]
error: invalid value 'yaml' for '--output <FORMAT>'
  [possible values: table, wide, json, jsonl, csv, name, none]

For more information, try '--help'.
[exit 2]
[EOF]
");
}

#[test]
fn a_format_said_twice() {
    let ran = incident().run(&["stale", "--db", "queue.db", "--json", "-o", "json"]).exits(2);
    assert_eq!(ran.stdout, "");
}

#[test]
fn quiet_and_verbose() {
    fails(&incident(), &["stale", "--db", "queue.db", "-q", "-v"], 2);
}

#[test]
fn sweep_takes_no_ids() {
    fails(&incident(), &["sweep", "--db", "queue.db", "--id", "1"], 2);
}

#[test]
fn show_needs_an_id() {
    fails(&incident(), &["show", "--db", "queue.db"], 2);
}

#[test]
fn an_address_of_another_kind() {
    assert_snapshot!(fails(&Doctor::new(), &["stale", "--db", "mysql://root@db/app"], 2).stderr);
}

#[test]
fn an_address_without_a_path() {
    assert_snapshot!(fails(&Doctor::new(), &["stale", "--db", "sqlite:"], 2).stderr);
    fails(&Doctor::new(), &["stale", "--db", ""], 2);
}

#[test]
fn a_target_that_is_not_there() {
    let doctor = incident();
    std::fs::write(doctor.path("config.toml"), "[target.production]\ndb = \"queue.db\"\n").unwrap();
    let ran = fails(&doctor, &["stale", "--config", "config.toml", "--target", "prodution"], 2);
    assert_snapshot!(ran.stderr);
}

#[test]
fn nothing_is_made() {
    let doctor = Doctor::new();
    for arguments in [&["stale"][..], &["stale", "--db", "x.db", "--older", "5M"], &["init"], &["demo", "--bogus"]] {
        doctor.run(arguments).exits(2);
    }
    assert_eq!(doctor.files(), [""; 0]);
}
