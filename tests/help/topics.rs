//! `jobdoctor help TOPIC`.

use super::pages::{TOPICS, code_of_help, commands};
use crate::support::cli::Doctor;
use jobdoctor::cli::VARIABLES;
use jobdoctor::output::schema_names;
use std::collections::BTreeSet;
use std::fs;

/// The exit codes, which are a contract.
pub const EXIT_CODES: [u8; 14] = [0, 1, 2, 3, 4, 5, 66, 69, 70, 75, 77, 78, 130, 143];

fn topic(name: &str) -> String {
    let ran = Doctor::new().run(&["help", name]).exits(0);
    assert_eq!(ran.stderr, "");
    ran.stdout
}

/// The terms of the list on a page: what is indented by two, up to two blanks.
fn terms(page: &str) -> Vec<String> {
    let lines = page.lines().filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    lines.map(|line| line.split("  ").next().unwrap().to_owned()).collect()
}

#[test]
fn each_is_listed_and_fits_a_terminal() {
    let listed = Doctor::new().run(&["--help"]).exits(0).stdout;
    let listed = listed.split_once("Topics (jobdoctor help TOPIC):\n").unwrap().1.split("\n\n").next().unwrap();
    assert_eq!(terms(listed), TOPICS);
    for name in TOPICS.iter().filter(|name| !["config", "presets"].contains(name)) {
        let page = topic(name);
        let long: Vec<&str> = page.lines().filter(|line| line.chars().count() > 86).collect();
        assert!(long.is_empty(), "{name}: {long:?}");
        assert!(!page.contains('{') || ["json", "mapping"].contains(name), "a table is missing in {name}:\n{page}");
        assert!(!page.contains("\n\n\n") && !page.starts_with('\n'), "{page}");
    }
}

#[test]
fn exit_codes_are_those_of_the_contract() {
    let listed: Vec<u8> = terms(&topic("exit-codes")).iter().filter_map(|term| term.parse().ok()).collect();
    assert_eq!(listed, EXIT_CODES);
}

#[test]
fn variables_are_those_that_are_read() {
    let read: BTreeSet<String> = VARIABLES.iter().map(|(name, _)| (*name).to_owned()).collect();
    let page = topic("environment");
    let listed: Vec<String> = terms(&page).into_iter().filter(|term| *term != "jobdoctor env").collect();
    assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), read);
    assert_eq!(listed.len(), read.len(), "each once");
}

/// The keys that the program says it knows there.
pub fn known_keys(doctor: &Doctor, table: &str) -> Vec<String> {
    fs::write(doctor.path("c.toml"), format!("{table}\nzzzzzzzz = 1\n")).unwrap();
    let said = doctor.run(&["env", "--config", "c.toml"]).exits(78).stderr;
    said.split_once("known here: ").unwrap().1.trim().split(", ").map(str::to_owned).collect()
}

#[test]
fn keys_are_those_that_the_config_file_may_have() {
    let doctor = Doctor::new();
    let mut keys: BTreeSet<String> = known_keys(&doctor, "").into_iter().collect();
    for table in ["[target.a]", "[[target.a.threshold]]", "[[target.a.too_long]]"] {
        keys.extend(known_keys(&doctor, table));
    }
    keys.extend(known_keys(&doctor, "[[target.a.rules]]"));
    for (tables, shown) in [
        ("target", "[target.NAME]"),
        ("mapping", "[mapping.NAME]"),
        ("threshold", "[[target.NAME.threshold]]"),
        ("too_long", "[[target.NAME.too_long]]"),
    ] {
        assert!(keys.remove(tables), "{tables}");
        keys.insert(shown.to_owned());
    }
    let page = topic("config");
    let list = page.split_once("KEYS\n").unwrap().1.split("AN EXAMPLE").next().unwrap();
    let listed: Vec<String> = terms(list).iter().flat_map(|term| term.split(", ")).map(str::to_owned).collect();
    assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), keys);
    assert_eq!(listed.len(), keys.len(), "each once");
}

/// A value is accepted as a key where it is accepted by the option.
#[test]
fn keys_have_the_bounds_of_their_options() {
    let doctor = Doctor::new();
    for key in ["older", "confirm_after", "delay", "jitter", "min_interval", "lock_wait", "timeout"] {
        for span in ["0s", "1s", "2s", "3s", "1h", "61m", "1d", "7d", "8d", "5M"] {
            fs::write(doctor.path("c.toml"), format!("[target.a]\ndb = \"none.db\"\n{key} = \"{span}\"\n")).unwrap();
            let flag = format!("--{}={span}", key.replace('_', "-"));
            let by_key = doctor.run(&["env", "--config", "c.toml"]).code == 0;
            let by_option = doctor.run(&["sweep", "--apply", "--db", "none.db", &flag]).code == 66;
            assert_eq!(by_key, by_option, "{key} = {span}");
        }
    }
}

#[test]
fn the_example_is_understood() {
    let page = topic("config");
    let example = page.split_once("default_target = ").unwrap().1.split("\n\nONE TARGET").next().unwrap();
    let doctor = Doctor::new();
    let text: String = format!("default_target = {example}").lines().map(|line| format!("{}\n", line.trim())).collect();
    fs::write(doctor.path("c.toml"), text).unwrap();
    let said = doctor.run(&["env", "--config", "c.toml", "-o", "json"]).exits(0).json();
    let settings = said["settings"].as_array().unwrap();
    let value = |name: &str| settings.iter().find(|setting| setting["name"] == name).unwrap()["value"].clone();
    assert_eq!((value("target"), value("older"), value("max_jobs")), ("shop".into(), "5m".into(), "1000".into()));
}

#[test]
fn documents_are_those_that_have_a_schema() {
    let expected: Vec<String> = schema_names().iter().map(|name| format!("jobdoctor.{name}/v1")).collect();
    let listed: Vec<String> = terms(&topic("json")).into_iter().filter(|term| term.ends_with("/v1")).collect();
    assert_eq!(listed, expected);
}

/// `help` says of a command exactly what the command says of itself.
#[test]
fn commands_are_told_of_in_their_own_words() {
    let doctor = Doctor::new();
    for words in commands() {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let by_help = doctor.run(&[&["help"], &words[..]].concat()).exits(0);
        let by_itself = doctor.run(&[&words[..], &["--help"]].concat()).exits(code_of_help(&words));
        assert_eq!((by_help.stdout, by_help.stderr), (by_itself.stdout, by_itself.stderr), "{words:?}");
    }
    // A command and a topic: its help ends with the page.
    assert!(topic("presets").contains("\nYOUR OWN TABLE\n"));
    assert!(!doctor.run(&["presets", "-h"]).exits(0).stdout.contains("YOUR OWN TABLE"));
}

#[test]
fn what_is_neither_is_an_error_with_what_is_near() {
    let doctor = Doctor::new();
    for (words, message) in [
        (vec!["exit-code"], "there is no command or topic `exit-code`, did you mean `exit-codes`?"),
        (vec!["stail"], "there is no command or topic `stail`, did you mean `stale`?"),
        (vec!["presets", "shw"], "there is no command `shw`, did you mean `show`?"),
        (vec!["exit-codes", "more"], "there is no command or topic `exit-codes`"),
        (vec!["stale", "more"], "there is no command `more`"),
        (vec!["\x1b[2J"], "there is no command or topic `"),
    ] {
        let ran = doctor.run(&[&["help"], &words[..]].concat()).exits(2);
        assert_eq!(ran.stdout, "");
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(message), "{words:?}: {ran:#?}");
        assert!(!ran.stderr.contains('\x1b'));
    }
    let ran = doctor.run(&["help", "nothing-like-it"]).exits(2);
    ran.says("hint: topics: config, environment, exit-codes, json, mapping, presets, recipes");
}
