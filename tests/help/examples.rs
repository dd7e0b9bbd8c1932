//! Every example of every help is run where it makes sense; those of a topic and of a manual page, too.

use super::pages::{TOPICS, commands, examples, help, literal, shown};
use super::sandbox::Sandbox;
use std::collections::BTreeSet;

/// How an example ends that does not end with 0, and why.
const ENDS: [(&str, i32, &str); 9] = [
    ("jobdoctor adopt order_queue --db queue.db", 78, "it asks"),
    ("jobdoctor adopt order_queue --db queue.db --answer states.in_flight=working", 78, "it asks on"),
    ("jobdoctor health --db queue.db", 1, "some are stuck, and that is a warning"),
    ("jobdoctor health --db queue.db -w 5 -c 50", 1, "more than 5 are stuck"),
    ("jobdoctor health --target shop -w stuck=5,silence=10m -c share=20", 2, "most are stuck"),
    ("jobdoctor health --target shop --queue mail -c '~:0' -o json", 2, "some are stuck"),
    ("jobdoctor health --target shop -w oldest_due=5m,due=1000", 1, "some are stuck"),
    ("jobdoctor status --target shop --exit-code", 1, "there are causes"),
    ("jobdoctor health --all-targets", 1, "some are stuck"),
];

/// What cannot be run here, and why. It is read by the program's own parser all the same.
const NOT_RUN: [(&str, &str); 3] = [
    ("jobdoctor adopt order_queue --db queue.db --watch 10s", "it looks on for ten seconds"),
    ("jobdoctor status --target shop --watch 5s", "it draws on a terminal, and has no end"),
    ("jobdoctor stale --db queue.db --watch 2s", "it draws on a terminal, and has no end"),
];

/// The command alone: what it does stands behind it, two blanks away or more.
fn command(line: &str) -> &str {
    line.split("  ").next().unwrap().trim()
}

fn wrong(line: &str) -> Option<String> {
    let line = command(line);
    let sandbox = Sandbox::for_line(line);
    if NOT_RUN.iter().any(|(known, _)| *known == line) {
        let read = jobdoctor::cli::command().try_get_matches_from(sandbox.words(line));
        return read.err().map(|error| format!("{line}\n{error}"));
    }
    let expected = ENDS.iter().find(|(known, ..)| *known == line).map_or(0, |(_, end, _)| *end);
    let output = sandbox.run(line);
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let is_well = output.status.code() == Some(expected)
        && (expected == 78 || !said.lines().any(|line| line.starts_with("error: ")))
        && (line.contains(" health ") || ![2, 70].contains(&expected));
    (!is_well).then(|| format!("{line}\nended with {}:\n{said}", output.status))
}

fn all_of_help() -> Vec<String> {
    commands().iter().flat_map(|words| examples(&help(words, "--help"))).collect()
}

fn all_of_topics() -> Vec<String> {
    let is_command = |line: &String| line.contains("jobdoctor ") || line.starts_with("kubectl ");
    TOPICS.iter().flat_map(|topic| shown(topic)).filter(is_command).collect()
}

#[test]
fn those_of_help_do_what_they_say() {
    let lines = all_of_help();
    assert!(lines.len() > 40, "{lines:?}");
    let wrong: Vec<String> = lines.iter().filter_map(|line| wrong(line)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn those_of_topics_do_what_they_say() {
    let lines = all_of_topics();
    assert!(lines.len() > 25, "{lines:?}");
    let wrong: Vec<String> = lines.iter().filter_map(|line| wrong(line)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// So that the list stays short: what is in it is an example.
#[test]
fn every_exception_is_an_example() {
    let lines: BTreeSet<String> =
        all_of_help().iter().chain(&all_of_topics()).map(|line| command(line).to_owned()).collect();
    for (line, why) in NOT_RUN.iter().copied().chain(ENDS.iter().map(|(line, _, why)| (*line, *why))) {
        assert!(lines.contains(line) && !why.is_empty(), "`{line}` is no example any more");
    }
}

/// In both forms of help, between how a command is called and its options.
#[test]
fn every_command_has_some_on_top() {
    for words in commands() {
        for flag in ["--help", "-h"] {
            let said = help(&words, flag);
            let at = |what: &str| said.find(what).unwrap_or_else(|| panic!("{words:?} {flag} lacks `{what}`:\n{said}"));
            let (usage, examples, options) = (at("\nUsage: "), at("\n\nExamples:\n  "), at("\nOptions:\n"));
            assert!(usage < examples && examples < options, "{words:?} {flag}:\n{said}");
            let between = &said[usage + 1..examples];
            let is_usage = |line: &str| line.starts_with("Usage: ") || line.starts_with("       jobdoctor ");
            assert!(between.lines().all(is_usage), "{words:?} {flag}: nothing stands between:\n{said}");
            assert_eq!(said.matches("Examples:\n").count(), 1, "{words:?} {flag}:\n{said}");
            if words.first().is_none_or(|word| word != "presets") {
                assert!(super::pages::examples(&said).iter().all(|line| line.contains("jobdoctor ")), "{said}");
            }
        }
    }
}

/// A manual page has the same examples as the help, and so they are run.
#[test]
fn manual_pages_have_the_same() {
    let pages = jobdoctor::cli::man_pages().unwrap();
    for words in commands() {
        let name = [&["jobdoctor".to_owned()], &words[..]].concat().join("-") + ".1";
        let (_, page) = pages.iter().find(|(file, _)| *file == name).unwrap_or_else(|| panic!("no page {name}"));
        let page = String::from_utf8(page.clone()).unwrap();
        assert_eq!(literal(&page), examples(&help(&words, "--help")), "{name}");
        let at = |what: &str| page.find(what).unwrap_or_else(|| panic!("{name} lacks {what}"));
        assert!(at(".SH DESCRIPTION") < at(".SH EXAMPLES") && at(".SH EXAMPLES") < at(".SH OPTIONS"), "{name}");
        assert_eq!(page.matches(".ie ").count(), 1, "{name}");
    }
    for topic in TOPICS {
        assert!(pages.iter().any(|(file, _)| *file == format!("jobdoctor-{topic}.7")), "{topic}");
    }
}
